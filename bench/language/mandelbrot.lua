local function escape(cx, cy, limit)
  local x, y = 0.0, 0.0
  for n = 0, limit - 1 do
    local xx, yy = x * x, y * y
    if xx + yy > 4.0 then return n end
    y = 2.0 * x * y + cy
    x = xx - yy + cx
  end
  return limit
end

local function run(width, height, limit)
  local total = 0
  for row = 0, height - 1 do
    local cy = row * 2.0 / height - 1.0
    for column = 0, width - 1 do
      total = total + escape(column * 3.0 / width - 2.0, cy, limit)
    end
  end
  return total
end

print(run(360, 240, 250))
