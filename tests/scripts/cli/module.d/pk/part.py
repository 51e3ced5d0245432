def doubled(n):
    return 2 * n
