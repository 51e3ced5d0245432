# Comprehensions of lists, dicts and sets, with conditions and nesting; sums over them.
def run(n):
    total = 0
    for k in range(n):
        squares = [i * i for i in range(200)]
        odd = [s for s in squares if s % 2 == 1]
        table = [[a * b for b in range(10)] for a in range(10)]
        names = {i: i * k for i in range(50)}
        rests = {s % 17 for s in squares}
        total += sum(odd) + sum(sum(row) for row in table) + sum(names.values()) + len(rests)
    return total


print(run(15000))
