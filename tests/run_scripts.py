#!/usr/bin/env python3
"""Runs the golden scripts under tests/scripts and compares what they print.

    run_scripts.py --tsr build/release/tsr            all of them
    run_scripts.py --tsr tsr errors lang/for          those whose path contains one of the words
    run_scripts.py --tsr tsr --update NAME            writes NAME.out and NAME.err from what it printed
    run_scripts.py --python python3                   checks lang/ (with PyTorch: tensor/, errors/) against CPython
    run_scripts.py --tsr tsr --examples python3       scripts/examples: both print the same
    run_scripts.py --tsr tsr --device cuda            those with tensors, made on that device unless told otherwise

A script NAME.tsr says what it prints in comments `# expect: text`, one for each line printed, in order;
`# expect!: pattern` is a regular expression. Long output stands in NAME.out instead. `# error: ValueError: text`
stands on the line that fails. NAME.err is the whole of standard error (a line `...` there stands for any lines).
A script that expects an error exits with status 1; NAME.status holds another number.
NAME.args are further arguments, NAME.in is standard input, the files of NAME.d/ are put beside the script.
NAME.cmd stands in place of NAME.tsr for a command line of its own: `{dir}` in it is the test's folder.
A script without any of these is no test. A script with a comment `# needs: the Python library of the machine` is skipped where there is none.

On another device a tensor's text has `device='cuda:0'` more, which is taken away before the comparison, and so may break its lines
elsewhere, names of the device are the CPU's, and numbers with a decimal point agree to 1e-4 or but for the last printed digit;
random numbers are the CPU's (TESSERA_CUDA_RANDOM). tests/cuda/not_on_cuda.txt lists the scripts that print something else there,
each with the reason; one that passes nevertheless is a failure.

Every test runs in an empty folder. Paths of the test's folder are shown relative. Death by a signal is always a failure.
"""
import argparse
import dataclasses
import difflib
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / 'tests' / 'scripts'
EXPECT = re.compile(r'#\s*expect(!?):(?: (.*))?$')
ERROR = re.compile(r'#\s*error: (.*)$')
NEEDS_LIBRARY = b'# needs: the Python library of the machine'
LIBRARIES = ('/usr/lib/python3.11', '/usr/lib/python3.12', '/usr/lib/python3.13')  # where tsr looks for one (repl/start.cpp)


@dataclasses.dataclass
class Case:
    path: pathlib.Path              # NAME.tsr or NAME.cmd
    expects: list                   # (is pattern, text) for each printed line; None: NAME.out
    error: tuple = None             # (line number, 'Class: message')

    def beside(self, suffix):
        return self.path.with_suffix(suffix)

    def read(self, suffix):
        file = self.beside(suffix)
        return file.read_text(encoding='utf-8') if file.exists() else None

    @property
    def name(self):
        try:
            return str(self.path.relative_to(SCRIPTS).with_suffix(''))
        except ValueError:
            return str(self.path)

    def status(self):
        number = self.read('.status')
        if number is not None:
            return int(number)
        return 1 if self.error or self.beside('.err').exists() else 0


@dataclasses.dataclass
class Result:
    status: int                     # None: out of time
    out: str = ''
    err: str = ''


def load(path):
    """The case in a file, or None where it says nothing about what it prints."""
    expects, error = [], None
    if path.suffix == '.tsr':
        text = path.read_bytes().decode('utf-8', 'replace')
        for number, line in enumerate(text.split('\n'), 1):
            found = EXPECT.search(line)
            if found:
                expects.append((found[1] == '!', (found[2] or '').rstrip()))
            found = ERROR.search(line)
            if found:
                error = (number, found[1].rstrip())
    beside = [path.with_suffix(s).exists() for s in ('.out', '.err')]
    if path.suffix == '.tsr' and not expects and not error and not any(beside):
        return None
    return Case(path, None if beside[0] else expects, error)


def find_cases(words, root=SCRIPTS, untested=False):
    paths = sorted(p for p in root.rglob('*') if p.suffix in ('.tsr', '.cmd') and '.d/' not in str(p))
    paths = [p for p in paths if not words or any(w in str(p.relative_to(SCRIPTS)) for w in words)]
    cases = [load(p) or (Case(p, None) if untested else None) for p in paths]
    return can_run([c for c in cases if c])


def can_run(cases):
    """The cases less those that need the Python library of the machine, where there is none; tells of them."""
    if any(os.path.isdir(folder) for folder in LIBRARIES):
        return cases
    skipped = [c for c in cases if NEEDS_LIBRARY in c.path.read_bytes()]
    if skipped:
        print(f'skipped, no Python library on this machine (apt install libpython3-stdlib): {", ".join(c.name for c in skipped)}')
    return [c for c in cases if c not in skipped]


def run(case, command, timeout, as_python=False, extra_environment={}):
    """Runs one case in an empty folder; its paths come back relative."""
    folder = case.path.parent
    with tempfile.TemporaryDirectory() as work:
        script = str(case.path)
        if case.beside('.d').is_dir():
            shutil.copytree(case.beside('.d'), work, dirs_exist_ok=True)
            script = shutil.copy(case.path, work)
            if as_python:
                for module in pathlib.Path(work).rglob('*.tsr'):
                    if str(module) != script:
                        module.rename(module.with_suffix('.py'))
        if case.path.suffix == '.cmd':
            line = case.path.read_text(encoding='utf-8').replace('{dir}', str(folder))
            arguments = shlex.split(line)
        else:
            arguments = [script] + shlex.split(case.read('.args') or '')
        stdin = case.beside('.in')
        environment = dict(os.environ, PYTHONUTF8='1', PYTHONDONTWRITEBYTECODE='1', PYTHONHASHSEED='0', COLUMNS='80',
                           LSAN_OPTIONS=f'suppressions={ROOT}/tests/leaks.supp:print_suppressions=0', **extra_environment)
        with open(stdin if stdin.exists() else os.devnull, 'rb') as given:
            try:
                done = subprocess.run(command + arguments, cwd=work, env=environment, stdin=given,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)
            except subprocess.TimeoutExpired:
                return Result(None)
        texts = [t.decode('utf-8', 'replace') for t in (done.stdout, done.stderr)]
        for prefix in (os.path.realpath(work), work, str(folder)):
            texts = [t.replace(prefix + '/', '') for t in texts]
        return Result(done.returncode, *texts)


def first_difference(what, expected, got):
    wanted, lines = expected.split('\n'), got.split('\n')
    for number, (want, line) in enumerate(zip(wanted, lines), 1):
        if want != line:
            return f'{what} line {number}: expected {want!r}, got {line!r}'
    return f'{what}: expected {len(wanted) - 1} lines, got {len(lines) - 1}'


def check_expects(expects, got):
    lines = got.split('\n')
    if lines[-1] == '':
        lines.pop()
    for number, ((pattern, want), line) in enumerate(zip(expects, lines), 1):
        if not (re.fullmatch(want, line) if pattern else want == line.rstrip()):
            return f'stdout line {number}: expected {want!r}, got {line!r}'
    if len(expects) != len(lines):
        more = f', first one more: {lines[len(expects)]!r}' if len(lines) > len(expects) else ''
        return f'stdout: expected {len(expects)} lines, got {len(lines)}{more}'
    return None


def check_stderr(expected, got):
    """`...` on a line of its own stands for any lines."""
    pattern = ''.join('(?:.*\n)*?' if line == '...' else re.escape(line) + '\n' for line in expected.splitlines())
    return None if re.fullmatch(pattern, got) else first_difference('stderr', expected, got)


def last_line(err):
    """The line that names the exception: the last one that begins `Class: ` or is a lone class name, and no note of ours."""
    # Behind the last entry of the traceback; our notes stand below it.
    behind = err[max(err.rfind('\n  File "'), 0):]
    lines = [s for s in behind.split('\n') if re.match(r'[A-Za-z_][\w.]*(: |$)', s)][:1]
    return lines[-1] if lines else ''


def judge(case, result, exact_stderr=True):
    """None where the result is as expected, else a sentence."""
    if result.status is None:
        return 'no end within the time limit'
    tail = f'; stderr ends {result.err.rstrip().splitlines()[-1]!r}' if result.err.strip() else ''
    if result.status < 0 and result.status != -signal.SIGINT or 128 < result.status < 160:
        number = -result.status if result.status < 0 else result.status - 128
        return f'killed by {signal.Signals(number).name}{tail}'
    if 'Sanitizer' in result.err or 'runtime error:' in result.err:
        return 'sanitizer: ' + next(s for s in result.err.splitlines() if 'anitizer' in s or 'runtime error:' in s)
    if case.expects is None:
        want = case.read('.out')
        problem = None if result.out == want else first_difference('stdout', want, result.out)
    else:
        problem = check_expects(case.expects, result.out)
    if problem:
        return problem + (tail if not case.status() else '')
    if result.status != case.status():
        return f'exit status {result.status}, expected {case.status()}{tail}'
    return judge_stderr(case, result, exact_stderr)


def judge_stderr(case, result, exact):
    want = case.read('.err')
    if case.error:
        line, text = case.error
        if last_line(result.err) != text:
            return f'error: expected {text!r}, got {last_line(result.err)!r}'
        # What a kernel found is told later, with a note of the line that launched it.
        if f'line {line}' not in result.err and f'{case.path.name}:{line} ' not in result.err:
            return f'the traceback does not name line {line}'
    elif want is not None and exact:
        return check_stderr(want, result.err)
    elif want is not None and last_line(want) != last_line(result.err):
        return f'error: expected {last_line(want)!r}, got {last_line(result.err)!r}'
    elif want is None and exact and result.err:
        return f'stderr is not empty: {result.err.splitlines()[0]!r}'
    return None


# ---- another device ----

NUMBER = re.compile(r'(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+(?=e[-+]))(?:e[-+]?\d+)?j?(?![\w.])')
RELATIVE = 1e-4


def without_device(text, device):
    """The text as the CPU prints it but for where its lines break: names of the device go, or are the CPU's."""
    text = re.sub(rf",\s+device='{device}(:0)?'", '', text)
    text = re.sub(rf' on {device}:0\b', '', text)
    text = re.sub(r'\nfound by a kernel on the device, launched at .*', '', text)
    text = re.sub(rf"device\(type='{device}'(, index=0)?\)", "device(type='cpu')", text)
    text = re.sub(rf'\btorch\.{device}\.(\w+Tensor)\b', r'torch.\1', text)
    text = re.sub(r'"[\w.]+" not implemented for', '"a kernel" not implemented for', text)  # tests/cuda/agreement looks at the name
    return re.sub(rf'\b{device}(:0)?(?!\w|:)', 'cpu', text)


def same_number(want, got, relative):
    """Within the tolerance, or but for the last digit that is printed."""
    if want.endswith('j') != got.endswith('j'):
        return False
    a, b = (float(s.rstrip('j')) for s in (want, got))
    digits = re.match(r'[-+]?\d*\.?(\d*)(?:e([-+]?\d+))?', want)
    last = 10.0 ** (int(digits[2] or 0) - len(digits[1]))
    return a == b or abs(a - b) <= relative * max(abs(a), abs(b)) + 1.5 * last


def words_with_numbers(text):
    """Words, brackets apart, as pairs of a text without numbers with a decimal point, and those numbers."""
    words = re.sub(r'([][(),=])', r' \1 ', text).split()
    return [(NUMBER.sub('#', w), NUMBER.findall(w)) for w in words]


def difference_in_words(want, got, relative):
    """None where both say the same in other lines and nearly the same numbers, else a sentence."""
    wanted, found = words_with_numbers(want), words_with_numbers(got)
    for k, ((text, numbers), (text_found, numbers_found)) in enumerate(zip(wanted, found)):
        if text == text_found and all(same_number(a, b, relative) for a, b in zip(numbers, numbers_found)):
            continue
        around = [' '.join(re.sub(r'([][(),=])', r' \1 ', t).split()[max(k - 8, 0):k + 8]) for t in (want, got)]
        return f'expected "... {around[0]} ...", got "... {around[1]} ..."'
    if len(wanted) != len(found):
        return f'expected {len(wanted)} words, got {len(found)}'
    return None


def judge_on_device(case, result, device, relative=RELATIVE):
    """As judge, but for names of the device, where lines break, and the last digits of numbers."""
    shown = Result(result.status, without_device(result.out, device), without_device(result.err, device))
    problem = judge(case, shown, exact_stderr=False)
    if problem is None or result.status is None or result.status not in (0, 1) or result.status != case.status():
        return problem
    if case.expects is None:
        want = case.read('.out')
    elif any(pattern for pattern, _ in case.expects):
        return problem
    else:
        want = '\n'.join(text for _, text in case.expects)
    return difference_in_words(without_device(want, device), shown.out, relative) or judge_stderr(case, shown, exact=False)


def read_reasons(file):
    """Lines `NAME: reason` as a dict."""
    lines = [s.strip() for s in file.read_text(encoding='utf-8').splitlines()]
    return dict(s.split(': ', 1) for s in lines if s and not s.startswith('#'))


def settings_of(reason):
    """The environment that a reason begins with."""
    found = re.match(r'((?:[A-Z_]+=\S+ )+): ', reason)
    return dict(word.split('=', 1) for word in found[1].split()) if found else {}


def environment_there(reason):
    """One order of streams, blocks and threads, but for who asks for another (TESSERA_EXECUTOR=seed=N); products in float32, without TF32."""
    settings = settings_of(reason)
    order = os.environ.get('TESSERA_EXECUTOR', 'seed=1')
    settings['TESSERA_EXECUTOR'] = ','.join(filter(None, (order, settings.get('TESSERA_EXECUTOR'))))
    return {'TESSERA_CUDA_RANDOM': 'cpu', 'NVIDIA_TF32_OVERRIDE': '0', **settings}


def run_on_device(options, pool):
    """Those with tensors. A script that is on the list has to print something else, or with its settings the same."""
    listed = read_reasons(ROOT / 'tests' / 'cuda' / 'not_on_cuda.txt')
    cases = [c for c in find_cases(options.words) if c.path.suffix == '.tsr' and
             re.search(r'^\s*(import|from) (torch|torchvision|numpy)\b', c.path.read_bytes().decode('utf-8', 'replace'), re.M)]
    absent = [name for name in listed if not (SCRIPTS / (name + '.tsr')).exists()]
    cases = [c for c in cases if not listed.get(c.name, '').startswith('not run: ')]
    command = options.tsr + ['--device', options.device]

    def run_there(case):
        return run(case, command, options.timeout, extra_environment=environment_there(listed.get(case.name, '')))

    def judge_there(case, result):
        relative = settings_of(listed.get(case.name, '')).get('TOLERANCE', RELATIVE)
        return judge_on_device(case, result, options.device, float(relative))

    results = list(pool.map(run_there, cases))
    problems = list(map(judge_there, cases, results))
    for number, case in enumerate(cases):
        reason = listed.get(case.name)
        if not reason or settings_of(reason):
            continue
        if not problems[number]:
            problems[number] = f'passes, though tests/cuda/not_on_cuda.txt says: {reason}'
        elif results[number].status in (0, 1):  # neither a signal nor the executor's word
            problems[number] = None
    status = report(cases, results, problems, options.list_failures)
    for name in absent:
        print(f'FAILED {name}: tests/cuda/not_on_cuda.txt names it, and there is no such script')
    return 1 if absent else status


def update(case, result):
    if result.status is None or result.status < 0:
        return 'not written: it did not end by itself'
    if result.out and not case.expects:
        case.beside('.out').write_text(result.out, encoding='utf-8')
    if result.err and not case.error:
        case.beside('.err').write_text(result.err, encoding='utf-8')
    if result.status > 1:
        case.beside('.status').write_text(f'{result.status}\n', encoding='utf-8')
    return None


def print_diff(case, result):
    if case.expects is None and result.status is not None:
        lines = difflib.unified_diff((case.read('.out') or '').splitlines(), result.out.splitlines(),
                                     'expected', 'got', lineterm='', n=1)
        print('\n'.join('        ' + s for s in list(lines)[:20]))
    if result.err:
        print('\n'.join('        | ' + s for s in result.err.splitlines()[-12:]))


def report(cases, results, problems, details):
    for case, result, problem in zip(cases, results, problems):
        if problem:
            print(f'FAILED {case.name}: {problem}')
            if details:
                print_diff(case, result)
    failed = sum(1 for p in problems if p)
    print(f'{len(cases) - failed} passed, {failed} failed')
    return 1 if failed else 0


def imports(python, modules):
    return subprocess.run([python, '-c', f'import {modules}'], capture_output=True).returncode == 0


def compare_examples(options, pool):
    """Each example prints the same under tsr and under CPython; those with tensors where there is a PyTorch."""
    paths = sorted((ROOT / 'scripts' / 'examples').glob('*.tsr'))
    tensors = {p for p in paths if re.search(r'^\s*(import|from) (torch|numpy)\b', p.read_text(), re.M)}
    with_torch = next((p for p in (options.examples, '/usr/bin/python3') if imports(p, 'torch, numpy')), None)
    if tensors and not with_torch:
        print(f'skipped, no PyTorch to compare with: {", ".join(sorted(p.name for p in tensors))}')
        paths = [p for p in paths if p not in tensors]
    pictures = {p for p in paths if 'import matplotlib' in p.read_text()}
    if pictures and not imports(with_torch or options.examples, 'matplotlib'):
        print(f'skipped, no matplotlib to compare with: {", ".join(sorted(p.name for p in pictures))}')
        paths = [p for p in paths if p not in pictures]
    cases = [Case(p, None) for p in paths if not options.words or any(w in p.name for w in options.words)]

    def both(case):
        python = with_torch if case.path in tensors else options.examples
        return run(case, options.tsr, options.timeout), run(case, [python], 60)

    results = list(pool.map(both, cases))
    problems = []
    for ours, theirs in results:
        problem = None
        if ours.status != 0:
            problem = judge(Case(ROOT, []), ours) or f'exit status {ours.status}'
        elif ours.out != theirs.out:
            problem = first_difference('stdout', theirs.out, ours.out)
        problems.append(problem)
    return report(cases, [r[0] for r in results], problems, False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('words', nargs='*', help='only tests whose path contains one of these')
    parser.add_argument('--tsr', type=lambda s: shlex.split(s), help='the interpreter')
    parser.add_argument('--python', help='check the expectations with this CPython 3.11 instead')
    parser.add_argument('--examples', metavar='PYTHON', help='compare scripts/examples with this CPython instead')
    parser.add_argument('--device', help='make tensors on this device')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    parser.add_argument('--timeout', type=float, default=20, help='seconds for one test')
    parser.add_argument('--list-failures', action='store_true', help='show the output of failing tests too')
    parser.add_argument('--update', action='store_true', help='write what was printed as the expectation')
    options = parser.parse_args()
    if not options.tsr and not options.python:
        parser.error('--tsr is needed')
    if options.tsr:
        program = shutil.which(options.tsr[0])
        if not program:
            parser.error(f'cannot run {options.tsr[0]}')
        options.tsr[0] = os.path.abspath(program)

    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        if options.examples:
            return compare_examples(options, pool)
        if options.device:
            return run_on_device(options, pool)
        if options.python:
            folders = ('lang', 'tensor', 'errors', 'files') if imports(options.python, 'torch, numpy') else ('lang',)
            cases = [c for folder in folders for c in find_cases(options.words, SCRIPTS / folder) if c.path.suffix == '.tsr']
            results = list(pool.map(lambda c: run(c, [options.python], options.timeout, True), cases))
            problems = [judge(c, r, exact_stderr=False) for c, r in zip(cases, results)]
        else:
            cases = find_cases(options.words, untested=options.update)
            results = list(pool.map(lambda c: run(c, options.tsr, options.timeout), cases))
            check = update if options.update else judge
            problems = [check(c, r) for c, r in zip(cases, results)]
    return report(cases, results, problems, options.list_failures)


if __name__ == '__main__':
    sys.exit(main())
