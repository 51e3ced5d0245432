local function sum(list)
  local total = 0
  for i = 1, #list do total = total + list[i] end
  return total
end

local function run(n)
  local total = 0
  for k = 0, n - 1 do
    local squares, odd, grid, names, rests = {}, {}, {}, {}, {}
    for i = 0, 199 do squares[#squares + 1] = i * i end
    for i = 1, #squares do
      local s = squares[i]
      if s % 2 == 1 then odd[#odd + 1] = s end
    end
    for a = 0, 9 do
      local row = {}
      for b = 0, 9 do row[#row + 1] = a * b end
      grid[#grid + 1] = row
    end
    for i = 0, 49 do names[i] = i * k end
    for i = 1, #squares do rests[squares[i] % 17] = true end
    total = total + sum(odd)
    for i = 1, #grid do total = total + sum(grid[i]) end
    for _, v in pairs(names) do total = total + v end
    for _ in pairs(rests) do total = total + 1 end
  end
  return total
end

print(string.format("%d", run(15000)))
