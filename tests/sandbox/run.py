#!/usr/bin/env python3
"""Runs hostile scripts in a host that limits them: see README.md. The last line is `N passed, N failed`."""
import argparse
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
DEFAULTS = {'expect': 'TimeoutError', 'time': '0.2', 'memory': '64', 'steps': '0', 'cancel': '0'}


def cases(path):
    name, settings, lines = None, {}, []
    for line in path.read_text().splitlines(keepends=True):
        if line.startswith('#! '):
            if name:
                yield name, settings, ''.join(lines)
            name, *words = line[3:].split()
            settings = {**DEFAULTS, **dict(word.split('=', 1) for word in words)}
            lines = []
        else:
            lines.append(line)
    if name:
        yield name, settings, ''.join(lines)


def complaint(host, settings, script, slack):
    limit = float(settings['time'])
    command = [host, settings['time'], settings['memory'], settings['steps'], settings['cancel']]
    try:
        done = subprocess.run(command, input=script.encode(), capture_output=True, timeout=limit + 20)
    except subprocess.TimeoutExpired:
        return 'never ended', None
    if done.returncode != 0:
        return f'ended with status {done.returncode}: {done.stderr.decode()[-300:]}', None
    raised, seconds, peak, alive, message = done.stdout.decode().rstrip('\n').split('\t')
    seconds, megabytes = float(seconds), int(peak) / 1024
    seen = f'{raised} ({message[:50]}) after {seconds:.3f} s with {megabytes:.0f} MB'
    allowed = float(settings['cancel']) or limit
    if raised not in settings['expect'].split('|'):
        return f'raised {seen}, not {settings["expect"]}', seen
    if seconds > allowed + max(slack, allowed / 10):
        return f'late: {seen}', seen
    if megabytes > 2 * float(settings['memory']) + 40:
        return f'large: {seen}', seen
    if alive != 'alive':
        return f'afterwards 1 + 1 raised {alive}; {seen}', seen
    return None, seen


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--host', required=True)
    parser.add_argument('--slack', type=float, default=0.03)
    parser.add_argument('--verbose', action='store_true')
    parser.add_argument('words', nargs='*')
    options = parser.parse_args()
    passed = failed = 0
    for path in sorted((HERE / 'scripts').glob('*.tsr')):
        for name, settings, script in cases(path):
            title = f'{path.stem}/{name}'
            if options.words and not any(word in title for word in options.words):
                continue
            problem, seen = complaint(options.host, settings, script, options.slack)
            if problem and problem.startswith(('late', 'never')):  # once more: the machine may have been busy
                problem, seen = complaint(options.host, settings, script, options.slack)
            passed, failed = passed + (problem is None), failed + (problem is not None)
            if problem or options.verbose:
                print(f'FAILED {title}: {problem}' if problem else f'ok {title}: {seen}', flush=True)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
