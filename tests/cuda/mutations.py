#!/usr/bin/env python3
"""tests/cuda/mutations.py [WORD...]: kernels with a fault put in, each of which a check has to find.

A mutation of mutations_table.py names a file, a pattern in it, what stands there instead, the sources to compile again, and a check of
mutations_checks.py, which passes with all as it is. The mutated plugin is the executor's with these objects in their place; a file of
the program is linked into a program of its own; a kernel whose code is looked at is compiled by nvcc. A pattern that is found nowhere
is an error: the table has to follow the sources. Each mutation has a folder of its own under BUILD/mutations, so that ccache knows
what was compiled before.
--build FOLDER (build/release), --list, --jobs N. The last line is `N passed, N failed`."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from mutations_checks import CHECKS, Built, Compiled  # noqa: E402
from mutations_table import MUTATIONS  # noqa: E402

PLUGIN, PROGRAM, DEVICE_TEST = 'tessera_cuda_executor', 'tsr', 'tessera_cuda_device'
NVCC_BUILD = ROOT / 'build/cuda-check'


class Commands:
    """How ninja compiles the sources of a target and links it."""

    def __init__(self, build, target, output):
        self.build, self.compiles, self.link = pathlib.Path(build), {}, None
        lines = subprocess.run(['ninja', '-C', build, '-t', 'commands', target], capture_output=True, text=True, check=True).stdout
        for line in lines.splitlines():
            words = shlex.split(line)
            if '-c' in words:
                self.compiles[os.path.realpath(self.build / words[words.index('-c') + 1])] = words
            elif '-o' in words and words[words.index('-o') + 1] == output:
                self.link = words
        while self.link and self.link[0] in (':', '&&'):  # what ninja puts around it
            self.link = self.link[1:]
        if self.link and '&&' in self.link:
            self.link = self.link[:self.link.index('&&')]

    def run(self, words, what):
        environment = dict(os.environ, CCACHE_BASEDIR=str(ROOT), CCACHE_NOHASHDIR='1')
        done = subprocess.run(words, cwd=self.build, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            raise ValueError(f'{what}: ' + next((l for l in done.stderr.splitlines() if 'error' in l), done.stderr[-300:]))

    def compile(self, source, overlay, to):
        """The object that the link had and the one that is made from the overlay."""
        words = list(self.compiles[str(ROOT / source)])
        object_at, source_at = words.index('-o') + 1, words.index('-c') + 1
        replaced = words[object_at]
        if (overlay / source).exists():
            words[source_at] = str(overlay / source)
        words[object_at] = str(to)
        if '-MF' in words:
            words[words.index('-MF') + 1] = f'{to}.d'
        words.append('-w')  # what is left unused is not the fault
        first = next(k for k, word in enumerate(words) if word.startswith('-I'))
        words[first:first] = [f'-I{overlay}']  # before the tree itself
        self.run(words, 'does not compile')
        return replaced, to

    def link_with(self, objects, to):
        """The target with these objects in the place of those it had, which may be in archives."""
        words = list(self.link)
        for replaced, made in objects:
            if replaced in words:
                words.remove(replaced)
                # Before the others: of inline functions that several objects have, the linker takes the first.
                words.insert(next(k for k, word in enumerate(words) if word.endswith('.o')), str(made))
                continue
            archive = 'lib' + re.search(r'(\w+)\.dir/', replaced)[1] + '.a'
            own = made.parent / archive
            shutil.copyfile(self.build / archive, own)
            member = pathlib.Path(replaced).name
            listed = subprocess.run(['ar', 't', own], capture_output=True, text=True).stdout.split()
            if listed.count(member) != 1:
                raise ValueError(f'{archive} has {listed.count(member)} members {member}')
            self.run(['ar', 'r', str(own), str(made)], 'is not taken by the archive')
            words[words.index(archive)] = str(own)
        words[words.index('-o') + 1] = str(to)
        self.run(words, 'does not link')
        return str(to)


class Workshop:
    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.plugin = Commands(self.build, PLUGIN, f'lib{PLUGIN}.so')
        self.program = Commands(self.build, PROGRAM, PROGRAM)
        self.nvcc = None
        if shutil.which('nvcc'):
            if not (NVCC_BUILD / 'build.ninja').exists():
                subprocess.run(['cmake', '--preset', 'cuda-check'], cwd=ROOT, check=True, capture_output=True)
            self.nvcc = Commands(NVCC_BUILD, 'tessera_cuda', 'libtessera_cuda.so')

    def folder(self, name):
        folder = self.build / 'mutations' / re.sub(r'\W+', '_', name)
        shutil.rmtree(folder, ignore_errors=True)
        (folder / 'source').mkdir(parents=True)
        return folder

    def as_it_is(self, folder):
        return Built(str(self.build / PROGRAM), str(self.build / f'lib{PLUGIN}.so'), str(self.build / DEVICE_TEST), folder / 'source', folder)

    def check(self, name):
        """What the check says of all as it is."""
        folder, check = self.folder(f'check {name}'), CHECKS[name]
        if isinstance(check, Compiled):
            self.nvcc.compile(check.source, folder / 'source', folder / 'kernel.cu.o')
        said = check.run(self.as_it_is(folder))
        shutil.rmtree(folder)
        return said

    def mutate(self, mutation):
        """What the check says of the mutation."""
        folder = self.folder(mutation['name'])
        target = folder / 'source' / mutation['file']
        target.parent.mkdir(parents=True, exist_ok=True)
        text, count = re.subn(mutation['old'], mutation['new'], (ROOT / mutation['file']).read_text(), count=1, flags=re.S)
        if count == 0:
            raise LookupError(f"{mutation['file']} has no /{mutation['old']}/")
        target.write_text(text)
        check, built = CHECKS[mutation['check']], self.as_it_is(folder)
        sources = [source for source in mutation['compile'] if source.endswith(('.cu', '.cpp'))]
        if isinstance(check, Compiled):
            self.nvcc.compile(check.source, folder / 'source', folder / 'kernel.cu.o')
        elif sources:
            commands, kind = (self.plugin, 'plugin') if sources[0].startswith('backends/') else (self.program, 'tsr')
            objects = [commands.compile(source, folder / 'source', folder / (pathlib.Path(source).name + '.o')) for source in sources]
            built = built._replace(**{kind: commands.link_with(objects, folder / kind)})
        said = check.run(built)
        shutil.rmtree(folder)
        return said


def attempt(function, argument):
    try:
        return function(argument), ''
    except (LookupError, ValueError, subprocess.TimeoutExpired) as error:
        return '', str(error)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('words', nargs='*')
    parser.add_argument('--build', default=str(ROOT / 'build/release'))
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--list', action='store_true')
    args = parser.parse_args()
    chosen = [m for m in MUTATIONS if not args.words or any(w in m['name'] or w in m['file'] for w in args.words)]
    if args.list:
        for m in chosen:
            print(f"{m['name']:52} {m['file']:36} {m['check']}")
        return 0
    workshop, passed, failed = Workshop(args.build), 0, 0
    if workshop.nvcc is None:
        left_out = [m['name'] for m in chosen if isinstance(CHECKS[m['check']], Compiled)]
        chosen = [m for m in chosen if m['name'] not in left_out]
        print(f"no nvcc: left out {', '.join(left_out)}")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        tries = {pool.submit(attempt, workshop.check, name): ('check', name) for name in sorted({m['check'] for m in chosen})}
        tries.update({pool.submit(attempt, workshop.mutate, m): ('mutation', m['name']) for m in chosen})
        for done in concurrent.futures.as_completed(tries):
            kind, name = tries[done]
            said, error = done.result()
            good = not error and (said != '') == (kind == 'mutation')
            passed, failed = passed + good, failed + (not good)
            if kind == 'mutation':
                print(f"{'found ' if good else 'FAILED'} {name}: {said or error or 'the check passes all the same'}", flush=True)
            elif not good:
                print(f'FAILED check {name}: all as it is: {said or error}', flush=True)
    print(f'{passed} passed, {failed} failed')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
