# Five bodies under gravity: objects with float attributes.
class Body:
    def __init__(self, x, y, z, vx, vy, vz, mass):
        self.x, self.y, self.z = x, y, z
        self.vx, self.vy, self.vz = vx, vy, vz
        self.mass = mass


def advance(bodies, dt):
    n = len(bodies)
    for i in range(n):
        a = bodies[i]
        for j in range(i + 1, n):
            b = bodies[j]
            dx = a.x - b.x
            dy = a.y - b.y
            dz = a.z - b.z
            square = dx * dx + dy * dy + dz * dz
            pull = dt / (square * square ** 0.5)
            a.vx -= dx * b.mass * pull
            a.vy -= dy * b.mass * pull
            a.vz -= dz * b.mass * pull
            b.vx += dx * a.mass * pull
            b.vy += dy * a.mass * pull
            b.vz += dz * a.mass * pull
    for b in bodies:
        b.x += dt * b.vx
        b.y += dt * b.vy
        b.z += dt * b.vz


def energy(bodies):
    total = 0.0
    for i in range(len(bodies)):
        a = bodies[i]
        total += 0.5 * a.mass * (a.vx * a.vx + a.vy * a.vy + a.vz * a.vz)
        for j in range(i + 1, len(bodies)):
            b = bodies[j]
            dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
            total -= a.mass * b.mass / (dx * dx + dy * dy + dz * dz) ** 0.5
    return total


def run(steps):
    bodies = [
        Body(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 40.0),
        Body(5.0, 0.1, -0.2, 0.3, 2.8, 0.1, 0.04),
        Body(8.0, 4.0, -0.3, -1.0, 1.8, 0.1, 0.01),
        Body(12.0, -15.0, -0.2, 1.1, 0.9, -0.1, 0.002),
        Body(15.0, -26.0, 0.2, 1.0, 0.6, -0.1, 0.002),
    ]
    for _ in range(steps):
        advance(bodies, 0.01)
    return energy(bodies)


print(f'{run(120000):.9f}')
