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
WORK = 0.10  # seconds of processor time for the same; the system counts hundredths. On an idle machine it is 0.05

# Each is interrupted some time after it has printed a line, and must end with KeyboardInterrupt, by SIGINT.
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
    'topk': 'import torch\nx = torch.rand(10**7)\nprint(1, flush=True)\nwhile True: x.topk(10**6)',
    'draws': 'import torch\nprint(1, flush=True)\nwhile True: torch.randn(5 * 10**7)',
    'repeated_list': 'print(1, flush=True)\nwhile True: [1, 2] * (5 * 10**7)',
    'repeated_text': 'print(1, flush=True)\nwhile True: "ab" * (2 * 10**9)',
    'kthvalue': 'import torch\nx = torch.rand(2 * 10**7)\nprint(1, flush=True)\nwhile True: x.kthvalue(5)',
    'base64': 'import base64\nb = b"abcd" * 10**7\nprint(1, flush=True)\nwhile True: base64.b64encode(b)',
    'checksum': 'import zlib\nb = b"x" * 10**9\nprint(1, flush=True)\nwhile True: zlib.crc32(b)',
    'large_write': 'b = b"x" * 3 * 10**8\nprint(1, flush=True)\nwhile True: open("/dev/null", "wb").write(b)',
    'import': 'import sys, tempfile, os\nd = tempfile.mkdtemp(); sys.path.insert(0, d)\n'
              'open(d + "/slow.py", "w").write("print(1, flush=True)\\nwhile True: pass\\n")\nimport slow',
    'handler_that_goes_on': 'print(1, flush=True)\ntry:\n    while True: pass\nfinally:\n    print("last")',
    'subprocess_output': 'import subprocess\nprint(1, flush=True)\nsubprocess.run(["sleep", "60"], capture_output=True)',
}

# Ends with what it prints: these catch the interrupt.
CAUGHT = {
    'at_the_start': 'try:\n    while True: pass\nexcept KeyboardInterrupt: print("caught")',
    'in_a_function': 'def f():\n    try:\n        while True: pass\n    except KeyboardInterrupt: print("caught")\nf()',
    'in_a_native': 'try:\n    sum(range(10**12))\nexcept KeyboardInterrupt: print("caught")',
    'in_operators': 'class C:\n    def __getitem__(self, n): return n if n < 2 else self[n - 1] + self[n - 2]\n'
                    'try:\n    C()[60]\nexcept KeyboardInterrupt: print("caught")',
    'in_a_kernel': 'import torch\ntry:\n    torch.ones(1).expand(10**12).sum()\nexcept KeyboardInterrupt: print("caught")\n'
                   'print((torch.ones(500, 500) @ torch.ones(500, 500)).sum().item())',
}

# Interrupted twice: what the first does not end, the second does, by SIGINT.
TWICE = {
    'swallowed': 'print(1, flush=True)\ntry:\n    while True: pass\nexcept KeyboardInterrupt: pass\nwhile True: pass',
    'bare_except': 'print(1, flush=True)\ntry: sum(range(10**12))\nexcept: pass\nsum(range(10**12))',
    'in_finally': 'print(1, flush=True)\ntry:\n    while True: pass\nfinally:\n    while True: pass',
    'in_a_finalizer': 'class A:\n    def __del__(self):\n        print(1, flush=True)\n        while True: pass\n'
                      'a = A()\ndel a\nwhile True: pass',
    'full_pipe': 'import os\nr, w = os.pipe()\nf = open(w, "wb")\nprint(1, flush=True)\nf.write(b"x" * 10**6); f.flush()',
}

# Ends by one interrupt, whatever else is left to do.
AT_THE_END = {
    'exit_function': ('import atexit\ndef f():\n    print(1, flush=True)\n    while True: pass\n'
                      'atexit.register(lambda: print("the next one"))\natexit.register(f)', 'the next one'),
    'finalizer': ('class A:\n    def __del__(self):\n        print(1, flush=True)\n        while True: pass\na = A()', ''),
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
    if status != -signal.SIGINT or not err.rstrip().endswith('KeyboardInterrupt'):
        return f'status {status}, {err[-200:]!r}'
    waits = 0.25 if 'subprocess.run' in program else 0  # subprocess gives its child that long to end, as CPython's does
    return f'heard after {seconds:.3f} s' if seconds > LATEST + waits else None


def caught(tsr, program):
    status, out, err, seconds = run_interrupted(tsr, program, 0.3)
    if status != 0 or not out.startswith('caught'):
        return f'status {status}, {out!r}, {err[-200:]!r}'
    return f'heard after {seconds:.3f} s' if seconds > 2 * LATEST else None


def twice(tsr, program):
    process = subprocess.Popen([tsr, '-c', program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    process.stdout.readline()
    for _ in range(2):
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
    start = time.monotonic()
    try:
        process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return 'it goes on'
    seconds = time.monotonic() - start
    if process.returncode != -signal.SIGINT:
        return f'status {process.returncode}'
    return f'heard after {seconds:.3f} s' if seconds > LATEST else None


def at_the_end(tsr, case):
    program, expected = case
    process = subprocess.Popen([tsr, '-c', program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    process.stdout.readline()
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return 'it goes on'
    fine = process.returncode == 0 and out.decode().strip() == expected and b'KeyboardInterrupt' in err
    return None if fine else f'status {process.returncode}, {out!r}, {err[-200:]!r}'


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
            signal.signal(signal.SIGINT, signal.SIG_DFL)
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

    def processor_time(self):
        fields = open(f'/proc/{self.pid}/stat').read().rsplit(')', 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def children(self):
        return open(f'/proc/{self.pid}/task/{self.pid}/children').read().split()

    def drain(self):
        while select.select([self.file], [], [], 0)[0]:
            os.read(self.file, 65536)
        self.seen = ''

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


def in_something_long(code, setup='', after=0.5):
    """`code` is interrupted `after` so many seconds; `setup` are the lines before it."""
    def run(session):
        number = 1
        for line in ['import time, torch'] + [line for line in setup.split('\n') if line]:
            session.send(line + '\r')
            number += 1
            session.expect(f'In [{number}]', 60)
        session.send(code + '\r')
        if code.startswith(('for', 'while')):
            session.expect('...: ')
            session.send('\r')
        time.sleep(after)
        session.drain()
        before = session.processor_time()
        session.send('\x03')
        seconds = session.expect('KeyboardInterrupt', 20)
        session.expect(f'In [{number + 1}]')
        work = session.processor_time() - before
        assert not session.children(), f'{len(session.children())} processes are left'
        session.send('sum(range(10**6))\r')  # the next command knows nothing of it
        session.expect('499999500000')
        assert seconds < LATEST or work < WORK, f'heard after {seconds:.3f} s, {work:.2f} s of them work'
    return run


MODULE = 'import sys, tempfile; d = tempfile.mkdtemp(); sys.path.insert(0, d)\n_ = open(d + "/{0}.py", "w").write("{1}\\n")\n'
LOADER = ('from torch.utils.data import DataLoader\n'
          + MODULE.format('slow_data', 'import time, torch\\nclass Slow:\\n def __init__(self, t): self.t = t\\n'
                          ' def __len__(self): return 10**6\\n def __getitem__(self, i): time.sleep(self.t); return torch.ones(3)')
          + 'from slow_data import Slow; loader = DataLoader(Slow(<>), batch_size=2, num_workers=2)')

SESSIONS = {
    'idle': at_an_idle_prompt,
    'half_a_def': half_way_through_a_function,
    'loop': in_something_long('while True: pass'),
    'product': in_something_long('a @ a', 'a = torch.ones(6000, 6000)'),
    'product_4096': in_something_long('for _ in range(100): a @ a', 'a = torch.ones(4096, 4096)'),
    'sum': in_something_long('sum(range(10**12))'),
    'sleep': in_something_long('time.sleep(60)'),
    'input': in_something_long('input()'),
    'kernel': in_something_long('torch.ones(1).expand(10**12).sum()'),
    'sort': in_something_long('for _ in range(99): x.sort()', 'x = torch.rand(10**7)'),
    'sort_of_a_list': in_something_long('for _ in range(99): sorted(l)', 'import random\nl = [random.random() for _ in range(10**6)]'),
    'backward': in_something_long('for _ in range(99): (x @ x).sum().backward()', 'x = torch.ones(2000, 2000, requires_grad=True)'),
    'conv': in_something_long('for _ in range(99): layer(x)', 'layer = torch.nn.Conv2d(32, 64, 3); x = torch.rand(16, 32, 128, 128)'),
    'regex': in_something_long('re.match("(a*)*b", "a" * 100000)', 'import re'),
    'print': in_something_long('for _ in range(99): print(l)', 'l = list(range(10**6))'),
    'json': in_something_long('for _ in range(99): json.loads(s)', 'import json; s = "[" + "1," * 2000000 + "1]"'),
    'reading': in_something_long('for _ in range(999): open("/dev/zero", "rb").read(10**8)'),
    'subprocess': in_something_long('subprocess.run(["sleep", "60"])', 'import subprocess'),
    'import': in_something_long('import slow_to_import', MODULE.format('slow_to_import', 'while True: pass')),
    'savefig': in_something_long('for _ in range(99): plt.plot(np.random.rand(100000)); plt.savefig(io.BytesIO())',
                                 'import io; import numpy as np; import matplotlib.pyplot as plt'),
    'torch_save': in_something_long('for _ in range(99): torch.save(t, open("/dev/null", "wb"))', 't = torch.ones(2**28)'),
    'save': in_something_long(':save /dev/shm/tessera-interrupted', 't = torch.ones(2**29)'),
    'loader': in_something_long('for _ in loader: pass', LOADER.replace('<>', '0.0')),
    'slow_loader': in_something_long('for _ in loader: pass', LOADER.replace('<>', '0.3')),
    'loaded': in_something_long('for _ in loader: time.sleep(60)', LOADER.replace('<>', '0.01')),
}


# While the processes are started, which takes a tenth of a second: around each fork.
SESSIONS |= {f'loader_after_{ms}_ms': in_something_long('for _ in loader: pass', LOADER.replace('<>', '0.0'), ms / 1000)
             for ms in range(20, 220, 10)}


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
    tests |= {f'twice/{name}': (twice, program) for name, program in TWICE.items()}
    tests |= {f'at_the_end/{name}': (at_the_end, case) for name, case in AT_THE_END.items()}
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
