# Builds strings: pieces, joins, concatenation in a loop, upper case, replace, look at each character.
def digits(n):
    out = ''
    for i in range(n):
        out += str(i) + ','
    return out


def shout(text):
    parts = []
    for word in text.split(','):
        parts.append('<' + word.replace('1', 'one') + '>')
    return '-'.join(parts).upper()


def checksum(text):
    total = 0
    for c in text:
        total = (total * 33 + ord(c)) % 1000003
    return total


def run():
    total = 0
    for _ in range(16):
        text = shout(digits(40000))
        total += len(text) + checksum(text)
    return total


print(run())
