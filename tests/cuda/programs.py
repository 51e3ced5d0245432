#!/usr/bin/env python3
"""tests/cuda/programs.py [WORD...]: whole programs with --device cuda on the host executor: scripts/examples, and where they lie beside
the checkout the founding documents' code (../shared/conformance) and the training programs (../shared/bench), at small sizes.

Each prints what it prints on the CPU, numbers to 1e-3, but for names of the device and where lines break (tests/run_scripts.py). The
documents' cells that look for a GPU by themselves run as they are, too.
--tsr PROGRAM, --plugin FILE, --seed N, --jobs N. The last line is `N passed, N failed`."""
import argparse
import concurrent.futures
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'tests'))
import run_scripts  # noqa: E402

BUILD = ROOT / 'build/release'
SHARED = ROOT.parent / 'shared'
RELATIVE = 1e-3

# What is left of the long ones. check=0: nobody looks at the accesses of what trains for minutes.
SHORTER = {'char_lstm': ['--steps', '10'], 'gpt': ['--steps', '3'], 'digits_conv': ['--epochs', '1']}
UNSEEN = ('char_lstm', 'gpt', 'digits_conv', 'batches')

# Cells that say something else of a CUDA tensor, in PyTorch as well.
OTHERWISE = {
    '000_device_cpu': "the default device is not torch.device('cpu')",
    '003_fact_autograd_not_in_numpy': 'from_numpy makes a tensor on the CPU',
    '003_fact_matmul_rules': 'CUDA has no products of whole numbers',
    '003_fact_numpy_shared': '.numpy() of a CUDA tensor is refused',
    '003_matmul': 'CUDA has no products of whole numbers',
    '003_notebook': 'CUDA has no products of whole numbers',
    '003_to_numpy': '.numpy() of a CUDA tensor is refused',
    '004_fact_devices': 'it asks whether tensors are on the CPU',
    '004_fact_numpy_default_dtype': 'from_numpy makes a tensor on the CPU',
    '004_fact_numpy_prints': '.numpy() of a CUDA tensor is refused',
}


class Program:
    def __init__(self, name, text, arguments=(), beside=None, shown=lambda s: s, unseen=False):
        self.name, self.text, self.arguments, self.beside, self.shown = name, text, list(arguments), beside, shown
        self.unseen = unseen

    def output(self, options, device):
        """What it prints, run from a file of its own: its folder may be read-only."""
        environment = dict(os.environ, TSR_THREADS='1', TESSERA_CUDA_RANDOM='cpu', NVIDIA_TF32_OVERRIDE='0',
                           TESSERA_CUDA_PLUGIN=options.plugin,
                           TESSERA_EXECUTOR=f'seed={options.seed}' + ',check=0' * self.unseen)
        with tempfile.TemporaryDirectory(prefix='tessera-programs-') as folder:
            source = pathlib.Path(folder, self.name.split('/')[-1] + '.tsr')
            source.write_text(self.text, encoding='utf-8')
            for data in self.beside or ():
                os.symlink(data, pathlib.Path(folder, data.name))
            command = [options.tsr, *(['--device', device] if device else []), str(source), *self.arguments]
            try:
                done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                      timeout=options.timeout)
            except subprocess.TimeoutExpired:
                return None, f'no end in {options.timeout} seconds'
        out, err = (t.decode('utf-8', 'replace').replace(folder + '/', '') for t in (done.stdout, done.stderr))
        return self.shown(out), '\n    '.join(err.strip().splitlines()[-4:]) if done.returncode else ''

    def check(self, options):
        want, problem = self.output(options, None)
        if problem:
            return 'on the CPU: ' + problem
        got, problem = self.output(options, 'cuda')
        problem = problem or run_scripts.difference_in_words(*(run_scripts.without_device(t, 'cuda') for t in (want, got)), RELATIVE)
        name = self.name.split('/')[-1]
        if name in OTHERWISE:
            return '' if problem else f'prints the same, though tests/cuda/programs.py says: {OTHERWISE[name]}'
        return problem or ''


class Cell:
    """A cell that finds the GPU by itself, judged as its runner does."""

    def __init__(self, script, runner):
        self.name, self.script, self.runner = 'documents, as they are/' + script.stem, script, runner

    def check(self, options):
        return self.runner.run_one(options.tsr, self.script, options.timeout)[1] or ''


def examples():
    folder = ROOT / 'scripts/examples'
    data = [p for p in folder.iterdir() if p.suffix in ('.csv', '.txt')]
    for path in sorted(folder.glob('*.tsr')):
        text = path.read_text(encoding='utf-8')
        if re.search(r'^\s*(import|from) torch\b', text, re.M):
            yield Program('examples/' + path.stem, text, SHORTER.get(path.stem, ()), data, unseen=path.stem in UNSEEN)


def documents():
    runner = importlib.util.spec_from_file_location('conformance', SHARED / 'conformance/run.py')
    module = importlib.util.module_from_spec(runner)
    runner.loader.exec_module(module)
    for path in sorted((SHARED / 'conformance/seeds').glob('*.tsr')):
        text = path.read_text(encoding='utf-8')
        if path.with_suffix('.out').exists():
            yield Program('documents/' + path.stem, text)
        if 'cuda' in text:
            yield Cell(path, module)


def smaller(text):
    """A benchmark's program with few rounds and small sizes, which stay what they are to each other."""
    for pattern, number in ((r'^REPEATS = .*', 'REPEATS = 1'), (r'^MIN_BLOCK = .*', 'MIN_BLOCK = 0.0'),
                            (r'len\(times\) < 7', 'len(times) < 1'), (r'range\((10|12|15)\)', 'range(3)'), (r', 1[05]\)$', ', 2)'), (r'^T = 64', 'T = 8'),
                            (r'^BATCH = 8', 'BATCH = 2'), (r'^D = 128', 'D = 32')):
        text = re.sub(pattern, number, text, flags=re.M)
    return re.sub(r'\b(512|784|1000|1024|2048|2500|4000|4096|10000|100000|1000000|10000000)\b(?![.])',
                  lambda m: str(int(m[1]) // (16 if int(m[1]) < 100000 else 1000)), text)


def without_times(text):
    rows = [line.split('\t') for line in text.splitlines()]
    return '\n'.join(f'{r[0]} {float(r[2]):.6f}' if len(r) == 4 else ' '.join(r) for r in rows)


def benchmarks():
    for path in sorted((SHARED / 'bench/programs').glob('*.tsr')):
        yield Program('benchmarks/' + path.stem, smaller(path.read_text(encoding='utf-8')), shown=without_times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('words', nargs='*')
    parser.add_argument('--tsr', default=str(BUILD / 'tsr'))
    parser.add_argument('--plugin', default=str(BUILD / 'libtessera_cuda_executor.so'))
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--timeout', type=int, default=120)
    options = parser.parse_args()
    options.tsr, options.plugin = os.path.abspath(options.tsr), os.path.abspath(options.plugin)
    os.environ['TESSERA_CUDA_PLUGIN'] = options.plugin
    programs = list(examples())
    for folder, found in (('conformance', documents), ('bench', benchmarks)):
        if (SHARED / folder).is_dir():
            programs += found()
        else:
            print(f'skipped, no ../shared/{folder}')
    programs = [p for p in programs if not options.words or any(w in p.name for w in options.words)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for program, said in zip(programs, pool.map(lambda p: p.check(options), programs)):
            failed += bool(said)
            if said:
                print(f'FAILED {program.name}: {said}')
    print(f'{len(programs) - failed} passed, {failed} failed')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
