local function make_text(count)
  local syllables = {"ta", "ko", "mi", "ru", "se", "no", "va", "li"}
  local seed, words = 7, {}
  local floor = math.floor
  for i = 1, count do
    seed = (seed * 16807) % 2147483647
    local a, b, c = floor(seed / 65536) % 8, floor(seed / 524288) % 8, floor(seed / 4194304) % 8
    words[#words + 1] = syllables[a + 1] .. syllables[b + 1] .. syllables[c + 1]
  end
  return table.concat(words, " ")
end

local function count_words(text)
  local counts = {}
  for word in text:gmatch("%S+") do
    if counts[word] then
      counts[word] = counts[word] + 1
    else
      counts[word] = 1
    end
  end
  return counts
end

local function run()
  local text = make_text(300000)
  local total = 0
  local ranked
  for _ = 1, 8 do
    ranked = {}
    for word, n in pairs(count_words(text)) do ranked[#ranked + 1] = {word, n} end
    table.sort(ranked, function(a, b)
      if a[2] ~= b[2] then return a[2] > b[2] end
      return a[1] < b[1]
    end)
    total = total + ranked[1][2] + #ranked
  end
  return total, ranked[1][1], ranked[#ranked][1]
end

local total, first, last = run()
print(total .. " " .. first .. " " .. last)
