local function sieve(limit)
  local prime = {}
  for i = 1, limit + 1 do prime[i] = true end
  prime[1], prime[2] = false, false
  local i = 2
  while i * i <= limit do
    if prime[i + 1] then
      for j = i * i, limit, i do prime[j + 1] = false end
    end
    i = i + 1
  end
  local count, last = 0, 0
  for n = 0, limit do
    if prime[n + 1] then
      count = count + 1
      last = n
    end
  end
  return count, last
end

local count, last = sieve(6000000)
print(count .. " " .. last)
