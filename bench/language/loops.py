# Nested loops over floats.
def run(n):
    total = 0.0
    for i in range(n):
        x = i * 0.5
        for j in range(n):
            y = j * 0.25
            total = total + x * y - (x + y) * 0.125
            if total > 1e9:
                total = total - 1e9
    return total


print(f'{run(3200):.6f}')
