#!/usr/bin/env python3
"""Damages files of tensors in every format and reads them; ends programs while they write.

    files.py --tsr build/asan/tsr --count 300 [--seed 0] [--kills 20]

files.tsr does the damage and names each reading before it is made. A finding is an end by a signal, a sanitizer's report,
memory beyond the limit or a reading that takes seconds; exceptions are fine. --kills programs are ended by SIGKILL at
random moments of saving to one path: after each, the file there has to be a whole one. The last line is
`N passed, N failed`.
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
import time

SCRIPT = pathlib.Path(__file__).resolve().parent / 'files.tsr'
MEMORY = 2 << 30
REPORT = re.compile(r'runtime error: .*|(?:ERROR|SUMMARY): \w+Sanitizer: .*')
MARK = re.compile(r'^@ (\S+) (\d+)$', re.MULTILINE)


def limit_memory():
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def read_damaged(tsr, seed, count):
    """[(what, how to repeat it)]"""
    limit = f'allocator_may_return_null=1:max_allocation_size_mb={MEMORY >> 20}:detect_leaks=0'
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([tsr, SCRIPT, 'run', str(seed), str(count)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, errors='replace', timeout=3600,
                              env=dict(os.environ, TMPDIR=folder, TSR_THREADS='2', ASAN_OPTIONS=limit),
                              preexec_fn=None if 'asan' in tsr else limit_memory)
    text = done.stderr
    found = [(line[2:], '') for line in text.splitlines() if line.startswith('! ')]
    report = REPORT.search(text)
    if report or done.returncode < 0 or '@ end' not in text:
        marks = MARK.findall(text)
        where = f'tsr tests/fuzz/files.tsr show {marks[-1][1]} {marks[-1][0]}' if marks else ''
        what = report[0][:160] if report else f'ended by signal {-done.returncode}' if done.returncode < 0 else text[-300:]
        found.append((what, where))
    return found


def kill_while_saving(tsr, number):
    r = random.Random(number)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'model.pt')
        process = subprocess.Popen([tsr, SCRIPT, 'save', path, '100000'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.path.exists(path) and process.poll() is None:
            time.sleep(0.01)
        time.sleep(r.random() * 0.3)
        process.send_signal(signal.SIGKILL)
        process.wait()
        check = 'import sys, torch; i, t = torch.load(sys.argv[1]); assert t.numel() == (1 << 18 if i % 2 else 1000) and (t == i % 2).all()'
        done = subprocess.run([tsr, '-c', check, path], stderr=subprocess.PIPE, text=True)
    return [] if done.returncode == 0 else [('killed while saving: ' + done.stderr[-300:], f'kill {number}')]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tsr', required=True)
    parser.add_argument('--count', type=int, default=300, help='damaged files of each kind')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--kills', type=int, default=20)
    options = parser.parse_args()
    tsr = os.path.abspath(options.tsr)
    found = read_damaged(tsr, options.seed, options.count)
    for number in range(options.seed, options.seed + options.kills):
        found += kill_while_saving(tsr, number)
    for what, how in found:
        print(f'FAILED {what}\n    {how}')
    print(f'{options.count + options.kills - len(found)} passed, {len(found)} failed')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
