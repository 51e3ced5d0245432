#!/usr/bin/env python3
"""Runs hostile scripts in a host that limits them: see README.md. The last line is `N passed, N failed`."""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
DEFAULTS = {'expect': 'TimeoutError', 'time': '0.2', 'memory': '64', 'steps': '0', 'cancel': '0'}
SECRET = 'what no script may see'


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


def make_root(folder):
    """A root with ways out of it, and what lies outside."""
    root = pathlib.Path(folder, 'root')
    (root / 'sub').mkdir(parents=True)
    (root / 'inside.txt').write_text('inside')
    (root / 'module_inside.py').write_text('value = 42\n')
    outside = pathlib.Path(folder, 'outside')
    outside.mkdir()
    (outside / 'secret.txt').write_text(SECRET)
    (outside / 'module_outside.py').write_text('value = 1\n')
    pathlib.Path(folder, 'rooted').mkdir()  # its path begins as the root's does
    (pathlib.Path(folder, 'rooted') / 'secret.txt').write_text(SECRET)
    os.mkfifo(root / 'fifo')
    for name, target in {'within': 'inside.txt', 'absolute_within': root / 'inside.txt', 'up': '..', 'loop': 'loop',
                         'secret': '../outside/secret.txt', 'absolute': outside / 'secret.txt', 'folder': outside,
                         'chain': 'secret', 'proc': '/proc/self', 'sub/higher': '../../outside',
                         'sub/back': '../inside.txt', 'new': '../outside/new.txt'}.items():
        os.symlink(target, root / name)
    return root


def outside_is_as_it_was(folder):
    outside = pathlib.Path(folder, 'outside')
    names = sorted(path.name for path in outside.iterdir())
    return names == ['module_outside.py', 'secret.txt'] and (outside / 'secret.txt').read_text() == SECRET


def complaint(host, settings, script, slack, slow):
    with tempfile.TemporaryDirectory() as folder:
        settings, words = dict(settings), []
        if slow > 1 and settings['expect'] != 'TimeoutError':  # and it may come to its limit of time first
            settings['time'] = str(float(settings['time']) * slow)
            settings['expect'] += '|TimeoutError'
        if 'root' in settings:
            settings['root'] = str(make_root(folder))
            words = ['ROOT = ' + repr(settings['root'])]
        problem, seen = complaint_in(host, settings, ''.join(word + '\n' for word in words) + script, slack, slow)
        if problem is None and 'root' in settings and not outside_is_as_it_was(folder):
            problem = 'files outside of the root have changed'
        return problem, seen


def complaint_in(host, settings, script, slack, slow):
    limit = float(settings['time'])
    command = [host] + [f'{name}={value}' for name, value in settings.items() if name != 'expect']
    try:
        done = subprocess.run(command, input=script.encode(), capture_output=True, timeout=limit + 20)
    except subprocess.TimeoutExpired:
        return 'never ended', None
    if done.returncode != 0:
        return f'ended with status {done.returncode}: {done.stderr.decode()[-300:]}', None
    raised, seconds, late, peak, alive, printed, message = done.stdout.decode().rstrip('\n').split('\t')
    seconds, late, megabytes = float(seconds), float(late), int(peak) / 1024
    seen = f'{raised} ({message[:50]}) after {seconds:.3f} s ({late * 1000:.0f} ms of work too late) with {megabytes:.0f} MB'
    allowed = float(settings['cancel']) or limit
    if raised not in settings['expect'].split('|'):
        return f'raised {seen}, not {settings["expect"]}', seen
    margin = max(slack, allowed / 10) * slow
    if seconds > allowed + margin and (late > margin or seconds > 2 * allowed + 1 + margin):
        return f'late: {seen}', seen
    if megabytes > (2 * float(settings['memory']) + 40) * slow + (400 if slow > 1 else 0):  # a sanitizer keeps what is freed
        return f'large: {seen}', seen
    if 0 < int(settings.get('output', 0)) < int(printed):
        return f'printed {printed} bytes; {seen}', seen
    if alive != 'alive':
        return f'afterwards 1 + 1 raised {alive}; {seen}', seen
    return None, seen


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--host', required=True)
    parser.add_argument('--slack', type=float, default=0.03)
    parser.add_argument('--slow', type=float, default=1, help='how much slower and larger a sanitized host may be')
    parser.add_argument('--jobs', type=int, default=1, help='cases at once, where lateness is not what matters')
    parser.add_argument('--verbose', action='store_true')
    parser.add_argument('words', nargs='*')
    options = parser.parse_args()

    def run(case):
        title, settings, script = case
        problem, seen = complaint(options.host, settings, script, options.slack, options.slow)
        if problem and problem.startswith(('late', 'never')):  # once more: the machine may have been busy
            problem, seen = complaint(options.host, settings, script, options.slack, options.slow)
        return title, problem, seen

    wanted = [(f'{path.stem}/{name}', settings, script)
              for path in sorted((HERE / 'scripts').glob('*.tsr')) for name, settings, script in cases(path)]
    wanted = [case for case in wanted if not options.words or any(word in case[0] for word in options.words)]
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for title, problem, seen in pool.map(run, wanted):
            passed, failed = passed + (problem is None), failed + (problem is not None)
            if problem or options.verbose:
                print(f'FAILED {title}: {problem}' if problem else f'ok {title}: {seen}', flush=True)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
