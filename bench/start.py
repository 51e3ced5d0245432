#!/usr/bin/env python3
"""What a program costs before its first line: processor time and memory of `import torch; print(torch.ones(2))`.

    bench/start.py --tsr build/release/tsr [--mebibytes 10] [--milliseconds 5]

Ends with status 1 when the median of the memory, or the least time, is above its limit. The time is only checked when it
is asked for: it follows the machine, the memory does not. With --parts it prints what the memory is made of.
"""
import argparse
import collections
import os
import re
import statistics
import subprocess
import sys

PROGRAM = 'import torch; print(torch.ones(2))'


def milliseconds(tsr):
    """Processor time of one process."""
    child = os.posix_spawn(tsr, [tsr, '-c', PROGRAM], os.environ,
                           file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        sys.exit(f'{tsr} failed: {status}')
    return (usage.ru_utime + usage.ru_stime) * 1000


def forget_cached_pages(tsr):
    """The page cache keeps a file that was just written in larger pieces than one that was read, and maps them whole: 0.8 MiB more of the
    program are resident right after a build. What the program costs is measured with the file as read from the disk."""
    file = os.open(tsr, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def what_it_sees(tsr, name):
    """A file of /proc/self as the program reads it at its end. A child's ru_maxrss would count this Python's memory."""
    code = f"{PROGRAM}\nprint(open('/proc/self/{name}').read())"
    return subprocess.run([tsr, '-c', code], capture_output=True, text=True, check=True).stdout


def kibibytes(tsr):
    return int(re.search(r'VmHWM:\s+(\d+) kB', what_it_sees(tsr, 'status'))[1])


def kind_of(permissions, path):
    if path.startswith('/'):
        name = os.path.basename(path).split('.so')[0]
        return f"{name} {'code' if 'x' in permissions else 'data'}"
    return path.strip('[]') or 'other anonymous memory'


def parts(tsr):
    sizes, kind = collections.Counter(), None
    for line in what_it_sees(tsr, 'smaps').splitlines():
        head = re.match(r'[0-9a-f]+-[0-9a-f]+ (\S+) \S+ \S+ \S+\s*(.*)', line)
        if head:
            kind = kind_of(*head.groups())
        elif line.startswith('Rss:'):
            sizes[kind] += int(line.split()[1])
    for kind, size in sizes.most_common():
        if size:
            print(f'{size:6} KiB {kind}')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tsr', required=True)
    parser.add_argument('--runs', type=int, default=21)
    parser.add_argument('--mebibytes', type=float, default=10)
    parser.add_argument('--milliseconds', type=float)
    parser.add_argument('--parts', action='store_true')
    options = parser.parse_args()
    forget_cached_pages(options.tsr)
    times = [milliseconds(options.tsr) for _ in range(options.runs)]
    memory = [kibibytes(options.tsr) for _ in range(options.runs)]
    mebibytes = statistics.median(memory) / 1024
    print(f'{statistics.median(times):.2f} ms of processor time, least {min(times):.2f}; '
          f'{mebibytes:.2f} MiB resident, {min(memory) / 1024:.2f} to {max(memory) / 1024:.2f}')
    if options.parts:
        parts(options.tsr)
    if mebibytes > options.mebibytes:
        sys.exit(f'more than {options.mebibytes} MiB')
    if options.milliseconds and min(times) > options.milliseconds:
        sys.exit(f'more than {options.milliseconds} ms')


main()
