#!/usr/bin/env python3
"""Feeds damaged programs to tsr: whatever the text, it must end by itself, with an exception at worst.

    run.py --tsr build/asan/tsr --count 2000 [--seed 0] [--save FOLDER]

The corpus is every script of the tests and examples. Each is damaged in one to four ways: bytes changed, pieces cut,
doubled, swapped or nested deeply, tokens of another script put in. A finding is an end by a signal or a
sanitizer's report; it is made smaller and shown. A program without an end is none: damage makes endless loops. The last line is `N passed, N failed`.
"""
import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HARMFUL = re.compile(rb'rmtree|rmdir|os\.(remove|unlink|rename|replace|system|kill|popen)')     # damaged, they might hit something
TOKEN = re.compile(rb'\w+|\s+|[^\w\s]+')
DEEP = [b'(', b'[', b'{', b'-', b'not ', b'lambda: ', b'x if y else ', b'f(', b'a.', b'a[', b'*', b'if x: ', b"f'{", b'~', b'**', b'await ', b'yield ']
ODD = [b'\0', b'\xff', b'\xc3', b'\t', b'\r', b'\\', b'\n', b"'", b'"', b'#', b'9' * 400, b'1e999', b'\xe2\x80\xae', b'\xf0\x9f\x98\x80', b'0x', b':=', b'\x0c',
       b'9223372036854775807', b'-9223372036854775808', b'{0}'.replace(b'0', b'9' * 30), b'%' * 50, b'1 << 70', b'10 ** 10 ** 10', b"'a' * (1 << 40)"]


def corpus():
    folders = [ROOT / 'tests' / 'scripts', ROOT / 'scripts' / 'examples', ROOT / 'stdlib']
    texts = [p.read_bytes() for folder in folders for p in sorted(folder.rglob('*.tsr')) if p.stat().st_size < 20000]
    return [t for t in texts if not HARMFUL.search(t)]


def damage(r, text, other):
    """The text with one fault."""
    if not text:
        return other
    at = r.randrange(len(text))
    tokens = TOKEN.findall(text)
    n = r.randrange(len(tokens)) if tokens else 0
    kind = r.randrange(9)
    if kind == 0:
        return text[:at] + bytes([r.randrange(256)]) + text[at + 1:]
    if kind == 1:
        return text[:at] + r.choice(ODD) + text[at:]
    if kind == 2:
        return text[:at] + text[at + r.randint(1, 40):]
    if kind == 3:
        return text[:at]
    if kind == 4 and tokens:
        return b''.join(tokens[:n] + tokens[n + 1:])
    if kind == 5 and tokens:
        return b''.join(tokens[:n] + [r.choice(TOKEN.findall(other) or [b''])] + tokens[n + 1:])
    if kind == 6 and tokens:
        m = r.randrange(len(tokens))
        tokens[n], tokens[m] = tokens[m], tokens[n]
        return b''.join(tokens)
    if kind == 7:
        return text[:at] + r.choice(DEEP) * r.choice([3, 60, 300, 20000]) + text[at:]
    lines = text.split(b'\n')
    i = r.randrange(len(lines))
    return b'\n'.join(lines[:i] + [r.choice(other.split(b'\n'))] + lines[i + r.randint(0, 1):])


def make(seed, texts):
    r = random.Random(seed)
    text = r.choice(texts)
    for _ in range(r.randint(1, 4)):
        text = damage(r, text, r.choice(texts))
    return text


def problem(tsr, text, seconds):
    """None, or how the run went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'program.tsr')
        pathlib.Path(path).write_bytes(text)
        try:
            done = subprocess.run([tsr, path], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
    err = done.stderr.decode('utf-8', 'replace')
    report = re.search(r'runtime error: .*|(?:ERROR|SUMMARY): \w+Sanitizer: .*', err)
    if report:
        return re.sub(r'0x[0-9a-f]+|==\d+==', '', report[0])[:120]
    if done.returncode < 0 and done.returncode != -signal.SIGINT or done.returncode > 128:
        return f'ended by signal {-done.returncode if done.returncode < 0 else done.returncode - 128}'
    return None


def shrink(tsr, text, found, seconds, budget=120):
    """The text without the lines and pieces that the finding does not need."""
    size = max(1, len(text) // 2)
    while size >= 1 and budget > 0:
        at, shrunk = 0, False
        while at < len(text) and budget > 0:
            budget -= 1
            less = text[:at] + text[at + size:]
            if problem(tsr, less, seconds) == found:
                text, shrunk = less, True
            else:
                at += size
        size = size if shrunk and size < len(text) else size // 2
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tsr', required=True)
    parser.add_argument('--count', type=int, default=2000)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    parser.add_argument('--timeout', type=float, default=10)
    parser.add_argument('--show', type=int, default=8, help='kinds of findings to make small and show')
    parser.add_argument('--save', type=pathlib.Path, help='write the shown programs into this folder')
    options = parser.parse_args()
    tsr, texts = os.path.abspath(options.tsr), corpus()
    seeds = range(options.seed, options.seed + options.count)
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda s: problem(tsr, make(s, texts), options.timeout), seeds))
    kinds = {}
    for seed, found in zip(seeds, results):
        if found:
            kinds.setdefault(found, []).append(seed)
    for found, where in sorted(kinds.items(), key=lambda k: -len(k[1]))[:options.show]:
        text = min((make(s, texts) for s in where[:20]), key=len)
        text = shrink(tsr, text, found, options.timeout)
        print(f'FAILED {found}: {len(where)} times, e.g. seed {where[0]}\n{text[:400]!r}\n')
        if options.save:
            options.save.mkdir(parents=True, exist_ok=True)
            (options.save / f'seed{where[0]}.tsr').write_bytes(text)
    failed = sum(map(len, kinds.values()))
    print(f'{options.count - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
