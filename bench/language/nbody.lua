local function body(x, y, z, vx, vy, vz, mass)
  return {x = x, y = y, z = z, vx = vx, vy = vy, vz = vz, mass = mass}
end

local function advance(bodies, dt)
  local n = #bodies
  for i = 1, n do
    local a = bodies[i]
    for j = i + 1, n do
      local b = bodies[j]
      local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
      local square = dx * dx + dy * dy + dz * dz
      local pull = dt / (square * square ^ 0.5)
      a.vx = a.vx - dx * b.mass * pull
      a.vy = a.vy - dy * b.mass * pull
      a.vz = a.vz - dz * b.mass * pull
      b.vx = b.vx + dx * a.mass * pull
      b.vy = b.vy + dy * a.mass * pull
      b.vz = b.vz + dz * a.mass * pull
    end
  end
  for i = 1, n do
    local b = bodies[i]
    b.x = b.x + dt * b.vx
    b.y = b.y + dt * b.vy
    b.z = b.z + dt * b.vz
  end
end

local function energy(bodies)
  local total = 0.0
  for i = 1, #bodies do
    local a = bodies[i]
    total = total + 0.5 * a.mass * (a.vx * a.vx + a.vy * a.vy + a.vz * a.vz)
    for j = i + 1, #bodies do
      local b = bodies[j]
      local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
      total = total - a.mass * b.mass / (dx * dx + dy * dy + dz * dz) ^ 0.5
    end
  end
  return total
end

local bodies = {
  body(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 40.0),
  body(5.0, 0.1, -0.2, 0.3, 2.8, 0.1, 0.04),
  body(8.0, 4.0, -0.3, -1.0, 1.8, 0.1, 0.01),
  body(12.0, -15.0, -0.2, 1.1, 0.9, -0.1, 0.002),
  body(15.0, -26.0, 0.2, 1.0, 0.6, -0.1, 0.002),
}
for _ = 1, 120000 do advance(bodies, 0.01) end
print(string.format("%.9f", energy(bodies)))
