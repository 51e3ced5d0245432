#!/usr/bin/env python3
"""Races tsr against CPython 3.11, Lua 5.4 and LuaJIT's interpreter on the programs beside this file.

    run.py --tsr build/release/tsr [--rounds 10] [--clock cpu|wall] [PROGRAM...]

The programs run in turn (A B C D A B C D ...) and the least time of each counts, from start to end of the process.
All must print the same. Ratios are peer / tsr: above 1, tsr is faster. The table is Markdown.
CPython is Debian's (/usr/bin/python3.11, optimised); a version built locally is usually slower.
baseline.json keeps the ratios to CPython that were reached; what falls 10 % below is named, --save writes new ones.
"""
import argparse
import json
import math
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def launch(command, clock):
    """Seconds and output of one run; None where it failed."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = child.stdout.read(), child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if child.returncode != 0:
        print(f'{" ".join(command)}: exit status {child.returncode}: {err.decode()[-200:].strip()}', file=sys.stderr)
        return None
    return (usage.ru_utime + usage.ru_stime if clock == 'cpu' else wall), out.decode().strip()


def peers(tsr, python):
    found = [('tsr', [tsr], '.py')]
    for name, command, suffix in (('CPython', [python], '.py'), ('Lua', ['lua5.4'], '.lua'),
                                  ('LuaJIT -joff', ['luajit', '-joff'], '.lua')):
        if shutil.which(command[0]):
            found.append((name, command, suffix))
        else:
            print(f'without {name}: {command[0]} is not installed', file=sys.stderr)
    return found


def race(program, sides, rounds, clock):
    """Least seconds of each side, or None; whether all that ran agree."""
    best, outputs = {}, {}
    for _ in range(rounds):
        for name, command, suffix in sides:
            if name in best and best[name] is None:
                continue
            got = launch(command + [str(HERE / (program + suffix))], clock)
            best[name] = None if got is None else min(got[0], best.get(name, math.inf))
            if got:
                outputs[name] = got[1]
    agree = len(set(outputs.values())) == 1 and 'tsr' in outputs
    if not agree:
        print(f'{program}: results differ: {outputs}', file=sys.stderr)
    return best, agree


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def compare_with_baseline(reached, save):
    """Names the programs that lost a tenth against the kept ratios; writes the new ones when asked."""
    path = HERE.parent / 'baseline.json'
    kept = json.loads(path.read_text()) if path.exists() else {}
    for program, ratio in reached.items():
        if ratio < kept.get(program, 0) * 0.9:
            print(f'slower than the baseline: {program}, {ratio:.2f} times CPython, was {kept[program]:.2f}')
    if save:
        kept.update({program: round(ratio, 2) for program, ratio in reached.items()})
        path.write_text(json.dumps(kept, indent=1, sort_keys=True) + '\n')


def version(command):
    flag = '-v' if 'lua' in command[0] else '--version'
    done = subprocess.run([command[0], flag], capture_output=True, text=True)
    return (done.stdout + done.stderr).split('\n')[0][:60]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('programs', nargs='*', help='only these (default: all)')
    parser.add_argument('--tsr', required=True)
    parser.add_argument('--python', default='/usr/bin/python3.11')
    parser.add_argument('--rounds', type=int, default=10)
    parser.add_argument('--clock', choices=('cpu', 'wall'), default='cpu', help='cpu leaves out what others took')
    parser.add_argument('--save', action='store_true', help='keep the ratios to CPython as the new baseline')
    options = parser.parse_args()

    sides = peers(options.tsr, options.python)
    names = [name for name, _, _ in sides]
    programs = options.programs or sorted(p.stem for p in HERE.glob('*.py') if p.stem != 'run')
    print(f'Least {options.clock} seconds of {options.rounds} rounds, {platform.machine()}, {os.cpu_count()} cores;',
          '; '.join(version(command) for _, command, _ in sides[1:]) + '.\n')
    heads = [f'{n} ms' for n in names] + [f'{n} / tsr' for n in names[1:]]
    print('| program | ' + ' | '.join(heads) + ' |')
    print('| --- |' + ' ---: |' * len(heads))
    ratios, reached, good = {n: [] for n in names[1:]}, {}, True
    for program in programs:
        best, agree = race(program, sides, options.rounds, options.clock)
        good = good and agree and all(best.values())
        cells = ['-' if best[n] is None else f'{best[n] * 1e3:.0f}' for n in names]
        for n in names[1:]:
            if best[n] and best['tsr']:
                ratios[n].append(best[n] / best['tsr'])
                cells.append(f'{ratios[n][-1]:.2f}')
            else:
                cells.append('-')
        if best.get('CPython') and best['tsr']:
            reached[program] = best['CPython'] / best['tsr']
        print(f'| {program} | ' + ' | '.join(cells) + ' |', flush=True)
    print('| geometric mean | ' + ' | '.join([''] * len(names) + [f'{geomean(ratios[n]):.2f}' for n in names[1:]]) + ' |')
    print('| least | ' + ' | '.join([''] * len(names) + [f'{min(ratios[n], default=math.nan):.2f}' for n in names[1:]]) + ' |')
    compare_with_baseline(reached, options.save)
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
