#!/usr/bin/env python3
"""Interrupts and real exhaustion of memory: see README.md. The last line is `N passed, N failed`."""
import argparse
import os
import pty
import resource
import select
import signal
import subprocess
import sys
import time

LATEST = 0.25  # seconds from the signal to the end of the process, on a machine that does other things too

# Each is interrupted some time after it has printed a line, and must end with KeyboardInterrupt and status 130.
PROGRAMS = {
    'loop': 'print(1, flush=True)\nwhile True: pass',
    'sum': 'print(1, flush=True)\nsum(range(10**12))',
    'all_of_a_map': 'print(1, flush=True)\nall(map(bool, range(1, 10**12)))',
    'deque': 'from collections import deque\nprint(1, flush=True)\ndeque(range(10**12), maxlen=1)',
    'islice': 'import itertools\nprint(1, flush=True)\nnext(itertools.islice(itertools.count(), 10**12, None))',
    'sleep': 'import time\nprint(1, flush=True)\ntime.sleep(60)',
    'input': 'print(1, flush=True)\ninput()',
    'sort': 'import random\nl = [random.random() for _ in range(2000000)]\nprint(1, flush=True)\nwhile True: sorted(l)',
    'text_search': 's = "a" * 10**8\nprint(1, flush=True)\nwhile True: s.count("a" * 30 + "b")',
    'regex': 'import re\nprint(1, flush=True)\nwhile True: re.match("(a*)*b", "a" * 100000)',
    'json': 'import json\ns = "[" + "1," * 3000000 + "1]"\nprint(1, flush=True)\nwhile True: json.loads(s)',
    'print': 'l = list(range(10**6))\nprint(1, flush=True)\nwhile True: print(l, file=open("/dev/null", "w"))',
    'repr': 'l = [1]\nfor _ in range(40): l = [l, l]\nprint(1, flush=True)\nrepr(l)',
    'sets': 'a, b = set(range(10**6)), set(range(10**6))\nprint(1, flush=True)\nwhile True: a & b',
    'product': 'import torch\na = torch.ones(6000, 6000)\na[:64, :64] @ a[:64, :64]\nprint(1, flush=True)\na @ a',
    'tensor_sort': 'import torch\nx = torch.rand(2 * 10**7)\nprint(1, flush=True)\nwhile True: x.sort()',
    'tensor_sum': 'import torch\nprint(1, flush=True)\ntorch.ones(1).expand(10**12).sum()',
    'cumsum': 'import torch\nx = torch.rand(2 * 10**7)\nprint(1, flush=True)\nwhile True: x.cumsum(0)',
    'backward': 'import torch\nx = torch.ones(2000, 2000, requires_grad=True)\nprint(1, flush=True)\n'
                'while True: (x @ x).sum().backward()',
    'subprocess': 'import subprocess\nprint(1, flush=True)\nsubprocess.run(["sleep", "60"])',
    'subprocess_output': 'import subprocess\nprint(1, flush=True)\nsubprocess.run(["sleep", "60"], capture_output=True)',
}

# Ends with what it prints: these catch the interrupt.
CAUGHT = {
    'at_the_start': 'try:\n    while True: pass\nexcept KeyboardInterrupt: print("caught")',
    'in_a_function': 'def f():\n    try:\n        while True: pass\n    except KeyboardInterrupt: print("caught")\nf()',
    'in_a_native': 'try:\n    sum(range(10**12))\nexcept KeyboardInterrupt: print("caught")',
    'in_a_kernel': 'import torch\ntry:\n    torch.ones(1).expand(10**12).sum()\nexcept KeyboardInterrupt: print("caught")\n'
                   'print((torch.ones(500, 500) @ torch.ones(500, 500)).sum().item())',
}

# Under `ulimit -v`, in KB: what it prints at its end.
EXHAUSTED = {
    'zip': (300000, 'import itertools\ntry: list(zip(itertools.count(), itertools.repeat(0)))\nexcept MemoryError: print("caught")'),
    'linked_list': (300000, 'class N:\n    def __init__(self, n): self.next = n\ndef f():\n    n = None\n    while True: n = N(n)\n'
                            'try: f()\nexcept MemoryError: print("caught")'),
    'globals': (300000, 'i = 0\ntry:\n    while True:\n        globals()[f"x{i}" * 20] = [i]\n        i += 1\n'
                        'except MemoryError: print("caught")'),
    'generators': (300000, 'def g(): yield 1\ndef f():\n    l = []\n    while True:\n        x = g(); next(x); l.append(x)\n'
                           'try: f()\nexcept MemoryError: print("caught")'),
    'graph': (300000, 'import torch\ndef f():\n    x = torch.ones(1, requires_grad=True)\n    while True: x = x + 1\n'
                      'try: f()\nexcept MemoryError: print("caught")'),
    'list': (300000, 'def f():\n    l = []\n    while True: l.append(len(l))\ntry: f()\nexcept MemoryError: print("caught")'),
    'dict': (300000, 'def f():\n    d = {}\n    while True: d[len(d)] = 0\ntry: f()\nexcept MemoryError: print("caught")'),
    'text': (300000, 'def f():\n    s = "x"\n    while True: s += s\ntry: f()\nexcept MemoryError: print("caught")'),
    'patterns': (300000, 'import re\ndef f():\n    l = []\n    while True: l.append(re.compile("(a|[b-z])*%d" % len(l)))\n'
                         'try: f()\nexcept MemoryError: print("caught")'),
    # Complex numbers are OpenBLAS's, which takes memory of its own.
    'product': (190000, 'import torch\na = torch.ones(1200, 1200, dtype=torch.complex64)\ntry: a @ a\nexcept (MemoryError, RuntimeError): print("caught")'),
    'product_with_room': (500000, 'import torch\na = torch.ones(500, 500)\nprint("caught" if (a @ a)[0, 0] == 500 else "wrong")'),
}


def run_interrupted(tsr, program, wait):
    reads, writes = os.pipe()  # an input that stays open and silent
    process = subprocess.Popen([tsr, '-c', program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=reads)
    os.close(reads)
    if program.startswith('print') or '\nprint(1' in program:
        process.stdout.readline()
    time.sleep(wait)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    seconds = time.monotonic() - start
    os.close(writes)
    return process.returncode, out.decode(), err.decode(), seconds


def interrupted(tsr, program):
    status, _, err, seconds = run_interrupted(tsr, program, 0.15)
    if status != 130 or not err.rstrip().endswith('KeyboardInterrupt'):
        return f'status {status}, {err[-200:]!r}'
    return f'heard after {seconds:.3f} s' if seconds > LATEST else None


def caught(tsr, program):
    status, out, err, seconds = run_interrupted(tsr, program, 0.3)
    if status != 0 or not out.startswith('caught'):
        return f'status {status}, {out!r}, {err[-200:]!r}'
    return f'heard after {seconds:.3f} s' if seconds > 2 * LATEST else None


def exhausted(tsr, case):
    kilobytes, program = case

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (kilobytes * 1024, kilobytes * 1024))
    try:
        done = subprocess.run([tsr, '-c', program + '\nprint([i for i in range(3)])'], capture_output=True, timeout=60,
                              preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return 'never ended'
    if done.returncode != 0 or done.stdout.decode().split('\n')[:2] != ['caught', '[0, 1, 2]']:
        return f'status {done.returncode}, {done.stdout[-100:]!r}, {done.stderr[-300:].decode()!r}'
    return None


def no_room_to_start(tsr):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (40 << 20, 40 << 20))
    done = subprocess.run([tsr, '-c', 'print(1)'], capture_output=True, timeout=20, preexec_fn=limit)
    text = done.stderr.decode()
    fine = done.returncode == 1 and text.startswith('tsr: not enough memory') and text.count('\n') == 1
    return None if fine else f'status {done.returncode}, {text!r}'


class Session:
    """The program at a pseudo-terminal."""

    def __init__(self, tsr):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.environ['TERM'] = 'dumb'
            os.execv(tsr, [tsr])
        self.seen = ''

    def expect(self, text, seconds=5.0):
        """Waits until `text` has come, behind what was expected before; answers the seconds."""
        start = time.monotonic()
        while text not in self.seen:
            left = seconds - (time.monotonic() - start)
            if left <= 0 or not select.select([self.file], [], [], left)[0]:
                raise AssertionError(f'{text!r} did not come, but {self.seen[-300:]!r}')
            try:
                more = os.read(self.file, 4096)
            except OSError:
                raise AssertionError(f'the session has ended: {self.seen[-300:]!r}') from None
            self.seen += more.decode()
        self.seen = self.seen[self.seen.index(text) + len(text):]
        return time.monotonic() - start

    def send(self, text):
        os.write(self.file, text.encode())

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.file)


def at_an_idle_prompt(session):
    session.send('x = 41\r')
    session.expect('In [')
    session.send('\x03')
    session.expect('KeyboardInterrupt')
    session.expect('In [')
    session.send('x + 1\r')
    session.expect('42')


def half_way_through_a_function(session):
    session.send('x = 41\r')
    session.expect('In [')
    session.send('def f():\r')
    session.expect('...: ')
    session.send('    return 7\r')
    session.expect('...: ')
    session.send('\x03')
    session.expect('KeyboardInterrupt')
    session.expect('In [')
    session.send('x + 1\r')
    session.expect('42')


def in_something_long(code):
    def run(session):
        session.send('import time, torch; a = torch.ones(5000, 5000)\r')
        session.expect('In [')
        session.send(code + '\r')
        session.expect(code)
        time.sleep(0.3)
        session.send('\x03')
        seconds = session.expect('KeyboardInterrupt')
        session.expect('In [')
        assert seconds < LATEST, f'heard after {seconds:.3f} s'
        session.send('sum(range(10**6))\r')  # the next command knows nothing of it
        session.expect('499999500000')
    return run


SESSIONS = {
    'idle': at_an_idle_prompt,
    'half_a_def': half_way_through_a_function,
    'product': in_something_long('a @ a'),
    'sum': in_something_long('sum(range(10**12))'),
    'sleep': in_something_long('time.sleep(60)'),
    'kernel': in_something_long('torch.ones(1).expand(10**12).sum()'),
}


def in_session(tsr, steps):
    session = Session(tsr)
    try:
        session.expect('In [')
        steps(session)
    except AssertionError as error:
        return str(error)
    finally:
        session.close()
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--tsr', required=True)
    parser.add_argument('--sanitized', action='store_true', help='leave out what a sanitizer cannot do: limits of address space')
    parser.add_argument('words', nargs='*')
    options = parser.parse_args()
    tsr = os.path.abspath(options.tsr)
    tests = {f'interrupted/{name}': (interrupted, program) for name, program in PROGRAMS.items()}
    tests |= {f'caught/{name}': (caught, program) for name, program in CAUGHT.items()}
    tests |= {f'session/{name}': (in_session, steps) for name, steps in SESSIONS.items()}
    if not options.sanitized:
        tests |= {f'exhausted/{name}': (exhausted, case) for name, case in EXHAUSTED.items()}
        tests['exhausted/start'] = (lambda program, _: no_room_to_start(program), None)
    passed = failed = 0
    for name, (test, argument) in tests.items():
        if options.words and not any(word in name for word in options.words):
            continue
        problem = test(tsr, argument)
        if problem and problem.startswith('heard after'):
            problem = test(tsr, argument)  # the machine may have been busy
        passed, failed = passed + (problem is None), failed + (problem is not None)
        if problem:
            print(f'FAILED {name}: {problem}', flush=True)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
