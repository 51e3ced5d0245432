local function counter(step)
  local total = 0
  return function(times)
    total = (total + step * times) % 1000003
    return total
  end
end

local function compose(f, g)
  return function(x) return f(g(x)) end
end

local function apply_all(functions, x)
  for i = 1, #functions do x = functions[i](x) end
  return x
end

local function run(n)
  local advance = {}
  for i = 1, 8 do advance[i] = counter(i) end
  local double = function(x) return x * 2 % 1000003 end
  local plus = function(x) return x + 7 end
  local chain = {compose(double, plus), compose(plus, double), plus}
  local total = 0
  for i = 0, n - 1 do
    total = (total + advance[i % 8 + 1](i)) % 1000003
    total = apply_all(chain, total)
  end
  return total
end

print(string.format("%d", run(900000)))
