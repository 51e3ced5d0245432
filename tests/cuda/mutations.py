#!/usr/bin/env python3
"""tests/cuda/mutations.py [WORD...]: kernels with a fault put in, each of which a check has to find.

A mutation of mutations_table.py names a file, a pattern in it, what stands there instead, the sources to compile again, and a check: a
script that passes with the plugin as it is. The mutated plugin is the executor's with these objects in their place; its check must
fail under one of the seeds. A pattern that is found nowhere is an error: the table has to follow the sources.
--tsr PROGRAM, --build FOLDER (build/release), --list, --jobs N. The last line is `N passed, N failed`."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from mutations_table import CHECKS, MUTATIONS  # noqa: E402

SEEDS = (1, 2, 3, 4, 5)
TARGET = 'tessera_cuda_executor'


def commands(build):
    """Compile commands by source, and the link's, as ninja has them."""
    lines = subprocess.run(['ninja', '-C', build, '-t', 'commands', TARGET], capture_output=True, text=True, check=True).stdout
    compiles, link = {}, None
    for line in lines.splitlines():
        words = shlex.split(line)
        if '-c' in words:
            compiles[os.path.realpath(os.path.join(build, words[words.index('-c') + 1]))] = words
        elif f'lib{TARGET}.so' in line:
            link = words
    return compiles, link


def link_words(words):
    """The linker's own command, without what ninja puts around it."""
    while words and words[0] in (':', '&&'):
        words = words[1:]
    return words[:words.index('&&')] if '&&' in words else words


def mutated_text(mutation):
    path = ROOT / mutation['file']
    text, count = re.subn(mutation['old'], mutation['new'], path.read_text(), count=mutation.get('count', 1), flags=re.S)
    if count == 0:
        raise LookupError(f"{mutation['file']} has no /{mutation['old']}/")
    return text


def build_plugin(mutation, folder, build, compiles, link):
    """The plugin with the mutation in it."""
    overlay = folder / 'source'
    target = overlay / mutation['file']
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(mutated_text(mutation))
    words = list(link_words(link))
    for source in mutation.get('compile', [mutation['file']]):
        compiled = list(compiles[str(ROOT / source)])
        object_at, source_at = compiled.index('-o') + 1, compiled.index('-c') + 1
        replaced, new_object = compiled[object_at], folder / (pathlib.Path(source).name + '.o')
        if source == mutation['file']:
            compiled[source_at] = str(target)
        compiled[object_at] = str(new_object)
        if '-MF' in compiled:
            compiled[compiled.index('-MF') + 1] = str(new_object) + '.d'
        compiled.append('-w')  # what is left unused is not the fault
        # The overlay has to come before the tree itself.
        first = next(k for k, word in enumerate(compiled) if word.startswith('-I'))
        compiled[first:first] = ['-I' + str(overlay)]
        done = subprocess.run(compiled, cwd=build, capture_output=True, text=True)
        if done.returncode != 0:
            raise ValueError('does not compile: ' + next((l for l in done.stderr.splitlines() if 'error' in l), done.stderr[-300:]))
        words.remove(replaced)
        # Before the others: of inline functions that several objects have, the linker takes the first.
        words.insert(next(k for k, word in enumerate(words) if word.endswith('.o')), str(new_object))
    plugin = folder / 'plugin.so'
    words[words.index('-o') + 1] = str(plugin)
    done = subprocess.run(words, cwd=build, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError('does not link: ' + done.stderr[-300:])
    return plugin


def run_check(name, plugin, tsr, folder):
    """'' when the check passes under all seeds, else what was said."""
    check = CHECKS[name]
    script = folder / (name + '.tsr')
    script.write_text(check['script'])
    for seed in SEEDS[:check.get('seeds', len(SEEDS))]:
        report = folder / 'report.json'
        report.unlink(missing_ok=True)
        options = [f'seed={seed}'] + ([check['options']] if 'options' in check else [])
        if 'report' in check:
            options.append(f'report={report}')
        environment = dict(os.environ, TESSERA_CUDA_PLUGIN=str(plugin), TESSERA_EXECUTOR=','.join(options))
        try:
            done = subprocess.run([tsr, str(script)], env=environment, capture_output=True, text=True, timeout=check.get('timeout', 120))
        except subprocess.TimeoutExpired:
            return 'no end'
        if done.returncode != 0:
            return next((l for l in done.stderr.splitlines() if 'CUDA executor:' in l), (done.stderr.strip().splitlines() or ['silent'])[-1])
        if 'report' in check:
            wrong = check['report'](json.loads(report.read_text()))
            if wrong:
                return wrong
    return ''


def try_mutation(mutation, build, tsr, compiles, link):
    with tempfile.TemporaryDirectory(prefix='tessera-mutation-') as folder:
        folder = pathlib.Path(folder)
        try:
            said = run_check(mutation['check'], build_plugin(mutation, folder, build, compiles, link), tsr, folder)
        except (LookupError, ValueError) as error:
            return mutation, False, str(error)
        return mutation, said != '', said or f"'{mutation['check']}' passes all the same"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('words', nargs='*')
    parser.add_argument('--build', default=str(ROOT / 'build/release'))
    parser.add_argument('--tsr')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--list', action='store_true')
    args = parser.parse_args()
    chosen = [m for m in MUTATIONS if not args.words or any(w in m['name'] or w in m['file'] for w in args.words)]
    if args.list:
        for m in chosen:
            print(f"{m['name']:44} {m['file']:36} {m['check']}")
        return 0
    tsr, build = args.tsr or os.path.join(args.build, 'tsr'), os.path.realpath(args.build)
    tsr = os.path.realpath(tsr)
    plugin, passed, failed = os.path.join(build, f'lib{TARGET}.so'), 0, 0
    with tempfile.TemporaryDirectory(prefix='tessera-mutation-') as folder:
        for name in sorted({m['check'] for m in chosen}):
            said = run_check(name, plugin, tsr, pathlib.Path(folder))
            passed, failed = passed + (not said), failed + bool(said)
            if said:
                print(f'FAILED {name}: the plugin as it is: {said}')
    compiles, link = commands(build)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        tries = [pool.submit(try_mutation, m, build, tsr, compiles, link) for m in chosen]
        for done in concurrent.futures.as_completed(tries):
            mutation, found, said = done.result()
            passed, failed = passed + found, failed + (not found)
            print(f"{'found ' if found else 'FAILED'} {mutation['name']}: {said}", flush=True)
    print(f'{passed} passed, {failed} failed')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
