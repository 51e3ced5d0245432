local function make(n, seed)
  local values = {}
  for i = 1, n do
    seed = (seed * 16807) % 2147483647
    values[#values + 1] = seed % 1000000
  end
  return values
end

-- Indices count from 0 as in the other languages; slot i + 1 holds element i.
local function sift(values, root, last)
  while true do
    local child = root * 2 + 1
    if child >= last then return end
    if child + 1 < last and values[child + 1] < values[child + 2] then child = child + 1 end
    if values[root + 1] >= values[child + 1] then return end
    values[root + 1], values[child + 1] = values[child + 1], values[root + 1]
    root = child
  end
end

local function heap_sort(values)
  local n = #values
  for root = math.floor(n / 2) - 1, 0, -1 do sift(values, root, n) end
  for last = n - 1, 1, -1 do
    values[1], values[last + 1] = values[last + 1], values[1]
    sift(values, 0, last)
  end
end

local function reverse(values)
  local i, j = 1, #values
  while i < j do
    values[i], values[j] = values[j], values[i]
    i = i + 1
    j = j - 1
  end
end

local function checksum(values)
  local total = 0
  for i = 1, #values do total = (total * 31 + values[i]) % 1000000007 end
  return total
end

local values = make(200000, 42)
heap_sort(values)
reverse(values)
print(string.format("%d", checksum(values)))
