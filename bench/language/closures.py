# Functions as values: makers of counters, composition, map and fold over closures.
def counter(step):
    total = 0

    def advance(times):
        nonlocal total
        total = (total + step * times) % 1000003
        return total
    return advance


def compose(f, g):
    return lambda x: f(g(x))


def apply_all(functions, x):
    for f in functions:
        x = f(x)
    return x


def run(n):
    advance = [counter(i) for i in range(1, 9)]
    double = lambda x: x * 2 % 1000003
    plus = lambda x: x + 7
    chain = [compose(double, plus), compose(plus, double), plus]
    total = 0
    for i in range(n):
        total = (total + advance[i % 8](i)) % 1000003
        total = apply_all(chain, total)
    return total


print(run(900000))
