#!/usr/bin/env python3
"""Excerpts of sources in the documentation are what the sources say: a fence whose info string ends with `from PATH` must stand in that file.

White space does not count, nor a `+` that begins a line; a line `...` leaves something out. Prints "N passed, M failed".
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r'^```\w+ from (\S+)\n(.*?)^```', re.M | re.S)


def plain(text):
    return re.sub(r'\s+', '', text)


def missing(excerpt, source):
    """The first piece of an excerpt that the source lacks, or None."""
    source, at = plain(source), 0
    lines = [re.sub(r'^\+', '', line) for line in excerpt.split('\n')]
    for piece in '\n'.join('\0' if line.strip() == '...' else line for line in lines).split('\0'):
        found = source.find(plain(piece), at)
        if found < 0:
            return piece.strip()
        at = found + len(plain(piece))
    return None


def main():
    assert missing('+a b\n...\nd', 'a\nb c\n  d') is None and missing('b\n...\na', 'ab') == 'a', 'the check does not work'
    passed = failed = 0
    for document in sorted(ROOT.glob('docs/**/*.md')):
        for path, excerpt in FENCE.findall(document.read_text(encoding='utf-8')):
            lost = missing(excerpt, (ROOT / path).read_text(encoding='utf-8'))
            passed, failed = passed + (lost is None), failed + (lost is not None)
            if lost is not None:
                print(f'FAILED {document.relative_to(ROOT)}: {path} has no\n{lost}')
    print(f'{passed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
