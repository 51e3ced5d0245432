# The sieve of Eratosthenes on a list of booleans.
def sieve(limit):
    prime = [True] * (limit + 1)
    prime[0] = prime[1] = False
    i = 2
    while i * i <= limit:
        if prime[i]:
            for j in range(i * i, limit + 1, i):
                prime[j] = False
        i += 1
    count, last = 0, 0
    for n in range(limit + 1):
        if prime[n]:
            count += 1
            last = n
    return count, last


print(*sieve(6000000))
