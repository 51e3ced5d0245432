# Counts words in a dict: make the text, split it, count, rank.
def make_text(count):
    syllables = ['ta', 'ko', 'mi', 'ru', 'se', 'no', 'va', 'li']
    seed, words = 7, []
    for _ in range(count):
        seed = (seed * 16807) % 2147483647
        a, b, c = seed // 65536 % 8, seed // 524288 % 8, seed // 4194304 % 8
        words.append(syllables[a] + syllables[b] + syllables[c])
    return ' '.join(words)


def count_words(text):
    counts = {}
    for word in text.split():
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1
    return counts


def run():
    text = make_text(300000)
    total = 0
    for _ in range(8):
        counts = count_words(text)
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        total += ranked[0][1] + len(ranked)
    return total, ranked[0][0], ranked[-1][0]


print(*run())
