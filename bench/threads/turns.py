#!/usr/bin/env python3
"""What a second thread brings to tsr alone: no program may take longer with two.

    turns.py --tsr PATH [--slower 1.05] [--only WORD] [--prefix "chrt -f 10"] [FILE or FOLDER...]

Runs the programs of bench/rows, bench/index, bench/training and ../shared/bench (or those that are named) with one and with two
threads turn about, block by block in one process, so that neither the machine's mood nor where the memory lies tells the two
apart; the least time of each counts. What seems slower is measured again, up to six times as long, before it is said to be.
Columns: microseconds with one and two threads, their ratio, processor time over wall time with two (of a training run too: at
most 1.15 for each thread used). Fails if a program is slower by more than 5 %; large ones that gain less than 1.6 are listed.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
SHARED = os.path.join(os.path.dirname(os.path.dirname(BENCH)), "shared", "bench", "programs")

# Takes the place of the programs' own `bench` and `report`; `once` is theirs.
TURNS = '''
import time as turns_time


def turns_judge(name, measure):
    # measure(): seconds for one call, with the threads that are set
    least, used, wall = [1e9, 1e9], 0.0, 0.0
    for attempt in range(6):
        for turn in range(9):
            for t in (1, 2):
                torch.set_num_threads(t)
                cpu, start = turns_time.process_time(), turns_time.perf_counter()
                least[t - 1] = min(least[t - 1], measure())
                if t == 2:
                    used += turns_time.process_time() - cpu
                    wall += turns_time.perf_counter() - start
        if least[1] <= least[0] * LIMIT:
            break
    torch.set_num_threads(2)
    print(f"{name}\\t{least[0]:.6e}\\t{least[1]:.6e}\\t{used / wall:.3f}")


def bench(name, fn, x):
    if WORD not in name:
        return
    once(fn, 1, x)
    n = 1
    while once(fn, n, x) < 0.002:
        n = n * 2
    turns_judge(name, lambda: once(fn, n, x) / n)


def report(name, fn):
    if WORD in name:
        turns_judge(name, lambda: min(fn()[0]))
'''


# Of programs whose `bench` is given one step of a training.
STEPS = '''
def once(step, n, block):
    start = turns_time.perf_counter()
    for i in range(n):
        y = step()
    y.reshape(-1)[0].item()
    return turns_time.perf_counter() - start
'''


def programs(places):
    for place in places:
        if os.path.isfile(place):
            yield place
        elif os.path.isdir(place):
            yield from sorted(os.path.join(place, name) for name in os.listdir(place) if name.endswith(".tsr"))


def with_turns(path, limit, word):
    with open(path) as file:
        text = file.read()
    own = re.sub(r"^def (bench|report)\(", r"def own_\1(", text, flags=re.M)
    return f"LIMIT, WORD = {limit}, {word!r}\n" + TURNS + ("" if "def once(" in text else STEPS) + own


def measure(command, text):
    with tempfile.NamedTemporaryFile("w", suffix=".tsr") as file:
        file.write(text)
        file.flush()
        env = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
        env["TSR_THREADS"] = "2"
        out = subprocess.run(command + [file.name], env=env, stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in out.splitlines():
        name, one, two, used = line.split("\t")
        yield name, float(one) * 1e6, float(two) * 1e6, float(used)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tsr", required=True)
    parser.add_argument("--slower", type=float, default=1.05, help="how many times one thread's time is too long")
    parser.add_argument("--large", type=float, default=200.0, help="microseconds with one thread from which two should gain")
    parser.add_argument("--only", default="", help="programs whose name contains it")
    parser.add_argument("--prefix", default="")
    parser.add_argument("places", nargs="*")
    args = parser.parse_args()
    places = args.places or [os.path.join(BENCH, name) for name in ("rows", "index", "training")] + [SHARED]
    command = shlex.split(args.prefix) + [os.path.abspath(args.tsr)]
    slower, little = [], []
    print(f"{'':34} {'1 us':>11} {'2 us':>11} {'gain':>6} {'used':>6}")
    for path in programs(places):
        for name, one, two, used in measure(command, with_turns(path, args.slower, args.only)):
            mark = "  SLOWER" if two > one * args.slower else ""
            print(f"{name:34} {one:11.3f} {two:11.3f} {one / two:6.2f} {used:6.2f}{mark}", flush=True)
            if mark:
                slower.append(name)
            elif one > args.large and one / two < 1.6:
                little.append(f"{name} {one / two:.2f}")
    print("large ones below 1.6:", ", ".join(little) or "none")
    print("slower with two threads:", ", ".join(slower) or "none")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
