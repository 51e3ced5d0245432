-- Lua has no fast s = s .. x in a loop; a buffer table is what its programs use.
local function digits(n)
  local out = {}
  for i = 0, n - 1 do out[#out + 1] = tostring(i) .. "," end
  return table.concat(out)
end

local function shout(text)
  local parts = {}
  for word in text:gmatch("([^,]*),") do
    parts[#parts + 1] = "<" .. word:gsub("1", "one") .. ">"
  end
  parts[#parts + 1] = "<>"  -- what follows the last comma
  return table.concat(parts, "-"):upper()
end

local function checksum(text)
  local total = 0
  local byte = string.byte
  for i = 1, #text do total = (total * 33 + byte(text, i)) % 1000003 end
  return total
end

local total = 0
for _ = 1, 16 do
  local text = shout(digits(40000))
  total = total + #text + checksum(text)
end
print(string.format("%d", total))
