# Work on lists: append, index, swap, reverse, and a heap sort written out.
def make(n, seed):
    values = []
    for _ in range(n):
        seed = (seed * 16807) % 2147483647
        values.append(seed % 1000000)
    return values


def sift(values, root, end):
    while True:
        child = root * 2 + 1
        if child >= end:
            return
        if child + 1 < end and values[child] < values[child + 1]:
            child = child + 1
        if values[root] >= values[child]:
            return
        values[root], values[child] = values[child], values[root]
        root = child


def heap_sort(values):
    n = len(values)
    for root in range(n // 2 - 1, -1, -1):
        sift(values, root, n)
    for end in range(n - 1, 0, -1):
        values[0], values[end] = values[end], values[0]
        sift(values, 0, end)


def reverse(values):
    i, j = 0, len(values) - 1
    while i < j:
        values[i], values[j] = values[j], values[i]
        i += 1
        j -= 1


def checksum(values):
    total = 0
    for i in range(len(values)):
        total = (total * 31 + values[i]) % 1000000007
    return total


def run():
    values = make(200000, 42)
    heap_sort(values)
    reverse(values)
    return checksum(values)


print(run())
