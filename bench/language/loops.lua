local function run(n)
  local total = 0.0
  for i = 0, n - 1 do
    local x = i * 0.5
    for j = 0, n - 1 do
      local y = j * 0.25
      total = total + x * y - (x + y) * 0.125
      if total > 1e9 then total = total - 1e9 end
    end
  end
  return total
end

print(string.format("%.6f", run(3200)))
