# Points of the Mandelbrot set: tight loops of float arithmetic with an early way out.
def escape(cx, cy, limit):
    x = y = 0.0
    for n in range(limit):
        xx, yy = x * x, y * y
        if xx + yy > 4.0:
            return n
        y = 2.0 * x * y + cy
        x = xx - yy + cx
    return limit


def run(width, height, limit):
    total = 0
    for row in range(height):
        cy = row * 2.0 / height - 1.0
        for column in range(width):
            total += escape(column * 3.0 / width - 2.0, cy, limit)
    return total


print(run(360, 240, 250))
