#!/usr/bin/env python3
"""Types sessions at a terminal without keys (TERM=dumb) and compares what it shows.

    python3 tests/repl/transcripts.py --tsr build/release/tsr            all
    python3 tests/repl/transcripts.py --tsr build/release/tsr saved      those with a word in their name
    python3 tests/repl/transcripts.py --tsr build/release/tsr --write    what is shown becomes what is expected: look at it

transcripts/NAME.txt is a session as it stands on the screen. What follows `In [n]: ` and `   ...: ` is typed, the other lines
must be shown. In them `{{...}}` is a regular expression, and a line `...` stands for any lines. In `who? <<Ada>>` what stands
between << and >> is typed when the rest is shown. Lines at the top that begin with # say what it is about. A session begins in an empty folder, which is its home.

Beside a checkout ../shared/conformance/seeds may have the cells of the founding documents: each script is typed statement by
statement, and must print what it prints as a program; after each statement :tensors must list every tensor that has a name,
with its shape and dtype.
"""
import argparse
import ast
import importlib.util
import os
import pathlib
import pty
import re
import select
import signal
import sys
import tempfile
import termios
import time
import tokenize
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
SEEDS = HERE.parent.parent.parent / 'shared' / 'conformance'
PROMPT = re.compile(r'(?:^|\n)(In \[(\d+)\]: | *\.\.\.: )$')
TYPED = re.compile(r'(In \[\d+\]: | +\.\.\.: )(.*)$')
ASKED = re.compile(r'(.*)<<(.*)>>$')


class Ended(Exception):
    pass


class Session:
    """The program at a pseudo-terminal that does not echo."""

    def __init__(self, tsr, folder, limit, errors=None):
        self.limit, self.number = limit, 0
        environment = dict(os.environ, TERM='dumb', HOME=folder, PYTHONUTF8='1', COLUMNS='80')
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            attributes = termios.tcgetattr(0)
            attributes[3] &= ~termios.ECHO
            termios.tcsetattr(0, termios.TCSANOW, attributes)
            if errors is not None:
                os.dup2(errors.fileno(), 2)
            os.execve(tsr, [tsr], environment)
        self.shown = self.wait()

    def wait(self, until=PROMPT):
        """What is shown up to the next prompt; with the prompt."""
        text, end = b'', time.monotonic() + self.limit
        while time.monotonic() < end:
            if not select.select([self.file], [], [], 0.2)[0]:
                continue
            try:
                data = os.read(self.file, 65536)
            except OSError:
                data = b''
            text += data
            shown = text.decode('utf-8', 'replace').replace('\r\n', '\n')
            if not data:
                raise Ended(shown)
            if until.search(shown):
                return shown
        raise TimeoutError('no prompt came; shown was\n' + text.decode('utf-8', 'replace'))

    def type(self, line, until=PROMPT):
        os.write(self.file, line.encode() + b'\n')
        return self.wait(until)

    def close(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.close(self.file)
        os.waitpid(self.pid, 0)


# Transcripts ---------------------------------------------------------------------------------------------------------------


def screen_of(tsr, lines, limit):
    """The whole screen of a session with what was typed."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(tsr, folder, limit)
        screen = session.shown
        screen = screen[screen.index('In ['):]
        try:
            for i, line in enumerate(lines):
                asked = ASKED.match(line)
                next_asked = ASKED.match(lines[i + 1]) if i + 1 < len(lines) else None
                until = re.compile(re.escape(next_asked[1]) + '$') if next_asked else PROMPT
                shown = session.type(asked[2] if asked else line, until)
                screen += (f'<<{asked[2]}>>' if asked else line) + '\n' + shown
        except Ended as end:
            screen += line + '\n' + str(end)
        finally:
            session.close()
    return screen.rstrip('\n') + '\n'


def line_matches(pattern, line):
    if '{{' not in pattern:
        return pattern.rstrip() == line.rstrip()
    parts = re.split(r'\{\{(.*?)\}\}', pattern.rstrip())
    expression = ''.join(part if i % 2 else re.escape(part) for i, part in enumerate(parts))
    return re.fullmatch(expression, line.rstrip()) is not None


def difference(wanted, shown, first=1):
    """Where the lines part; None: they fit."""
    for i, pattern in enumerate(wanted):
        if pattern == '...':
            rest = wanted[i + 1:]
            if any(difference(rest, shown[j:]) is None for j in range(i, len(shown) + 1)):
                return None
            return f'line {first + i}: what follows `...` is not there'
        if i >= len(shown):
            return f'line {first + i}: expected {pattern!r}, and nothing more is shown'
        if not line_matches(pattern, shown[i]):
            return f'line {first + i}: expected {pattern!r}\n         shown    {shown[i]!r}'
    return f'more is shown: {shown[len(wanted)]!r}' if len(shown) > len(wanted) else None


def check_transcript(tsr, path, write, limit):
    text = path.read_text(encoding='utf-8')
    head = re.match(r'(#.*\n)*', text)[0]
    wanted = text[len(head):].rstrip('\n').split('\n')
    typed = [match[2] if match else line for line in wanted for match in [TYPED.match(line)]
             if match or ASKED.match(line)]
    if typed and typed[-1] == '':
        typed.pop()
    screen = screen_of(tsr, typed, limit)
    shown = screen.rstrip('\n').split('\n')
    if write:
        path.write_text(head + screen, encoding='utf-8')
        return None
    return difference(wanted, shown, 1 + head.count('\n'))


# The founding documents ----------------------------------------------------------------------------------------------------


def blocks_of(script):
    """The statements of a program as a person types them: without empty lines in them, one behind those that need it."""
    text = script.read_text(encoding='utf-8')
    lines = text.split('\n')
    kept = set()
    with open(script, 'rb') as file:
        for token in tokenize.tokenize(file.readline):
            if token.start[0] != token.end[0]:
                kept.update(range(token.start[0], token.end[0] + 1))
    for statement in ast.parse(text).body:
        first = min([statement.lineno, *(each.lineno for each in getattr(statement, 'decorator_list', []))])
        block = [lines[i - 1] for i in range(first, statement.end_lineno + 1) if lines[i - 1].strip() or i in kept]
        yield block + [''] if hasattr(statement, 'body') else block


def conformance():
    spec = importlib.util.spec_from_file_location('conformance', SEEDS / 'run.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def printed(shown):
    """Of what a block shows, what it has printed: without the prompt and the value."""
    shown = PROMPT.sub('\n', '\n' + shown)[1:]
    return re.sub(r'(?:^|(?<=\n))Out\[\d+\]: (.|\n)*\Z', '', shown)


NAMED_TENSORS = ("[(n, list(v.shape), str(v.dtype)[6:]) for n, v in list(globals().items()) "
                 "if isinstance(v, torch.Tensor) and not n.startswith('_')]")


def not_inspected(session):
    """A tensor with a name that :tensors does not list as it is; None: it lists all."""
    shown = session.type(NAMED_TENSORS)
    found = re.search(r'Out\[\d+\]:\s*(\[.*\])', shown)
    if found is None:
        return f'the tensors that have a name cannot be listed: {shown}'
    table = re.sub(r' +', ' ', session.type(':tensors'))
    for name, shape, dtype in ast.literal_eval(found[1]):
        rows = re.findall(rf'(?:^|\n) ?(\S+) {re.escape(str(shape))} {dtype}\b', table)
        # A long name is shown with its middle left out.
        if not any(name.startswith(row.split('…')[0]) and name.endswith(row.split('…')[-1]) for row in rows):
            return f':tensors does not show {name} {shape} {dtype}:\n{table}'
    return None


def check_cells(tsr, script, runner, limit):
    out = ''
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
        session = Session(tsr, folder, limit, errors)
        try:
            for block in blocks_of(script):
                shown = ''
                for line in block:
                    shown = PROMPT.sub('\n', shown) if not shown.strip() else shown
                    shown = session.type(line)
                out += printed(shown)
                problem = not_inspected(session)
                if problem is not None:
                    return f'after {block!r} {problem}'
        finally:
            session.close()
        errors.seek(0)
        text = errors.read().decode('utf-8', 'replace')
        if 'Traceback (most recent call last)' in text:
            return text
    expected, patterns = script.with_suffix('.out'), script.with_suffix('.expect')
    if expected.exists():
        return runner.match_exactly(expected.read_text(encoding='utf-8'), out)
    return runner.match_lines(patterns.read_text(encoding='utf-8').splitlines(), out.splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tsr', required=True)
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--timeout', type=float, default=60)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('words', nargs='*')
    options = parser.parse_args()
    tsr = str(pathlib.Path(options.tsr).resolve())
    work = []
    for path in sorted((HERE / 'transcripts').glob('*.txt')):
        work.append((path.stem, lambda path=path: check_transcript(tsr, path, options.write, options.timeout)))
    if (SEEDS / 'seeds').is_dir() and not options.write:
        runner = conformance()
        for script in sorted((SEEDS / 'seeds').glob('*.tsr')):
            work.append(('cells/' + script.stem, lambda script=script: check_cells(tsr, script, runner, options.timeout)))
    elif not options.write:
        print(f'skipped, as they are not there: the founding documents\' cells ({SEEDS / "seeds"})')
    if options.words:
        work = [(name, check) for name, check in work if any(word in name for word in options.words)]
    failed = 0

    def run(item):
        try:
            return item[1]()
        except Exception as error:  # a session that ends or hangs is a failure of its transcript alone
            return f'{type(error).__name__}: {error}'

    with ThreadPoolExecutor(options.jobs) as pool:
        for (name, _), problem in zip(work, pool.map(run, work)):
            if problem is not None:
                failed += 1
                print(f'fail {name}\n     {problem}')
    print(f'{len(work) - failed} passed, {failed} failed')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
