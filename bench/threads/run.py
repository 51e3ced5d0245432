#!/usr/bin/env python3
"""What a second thread brings, beside PyTorch.

    run.py --tsr PATH [--peer PYTHON] [--rounds N] [--prefix "chrt -f 10"]

Runs programs.tsr with one and with two threads on both sides, turn about; least wall time of all rounds. On a machine with
other work, two threads are only measured if nothing takes their processors: give a prefix that ranks them first.
Columns: milliseconds of tsr with one and two threads, their ratio, processor time over wall time with two, and how many times
PyTorch's time with one and two threads.
"""
import argparse
import os
import shlex
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TSR_THREADS")


def measure(command, threads, into):
    env = dict(os.environ, **{name: str(threads) for name in NAMES})
    lines = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, timeout=300, check=True).stdout
    for line in lines.splitlines():
        name, least, used, checksum = line.split("\t")
        old = into.get(name)
        if old is None or float(least) < old[0]:
            into[name] = (float(least), float(used), float(checksum))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tsr", required=True)
    parser.add_argument("--peer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prefix", default="")
    args = parser.parse_args()
    program = os.path.join(HERE, "programs.tsr")
    sides = {"tsr": args.tsr, "peer": args.peer} if args.peer else {"tsr": args.tsr}
    results = {(side, threads): {} for side in sides for threads in (1, 2)}
    for _ in range(args.rounds):
        for (side, threads), into in results.items():
            measure(shlex.split(args.prefix) + [sides[side], program], threads, into)
    print(f"{'':26} {'1 ms':>9} {'2 ms':>9} {'gain':>6} {'used':>6} {'peer/1':>7} {'peer/2':>7}")
    for name, (one, _, checksum) in results["tsr", 1].items():
        two, used, other = results["tsr", 2][name]
        row = f"{name:26} {one * 1e3:9.4f} {two * 1e3:9.4f} {one / two:6.2f} {used:6.2f}"
        if args.peer:
            row += "".join(f" {results['peer', t][name][0] / mine:7.2f}" for t, mine in ((1, one), (2, two)))
        print(row + ("" if checksum == other else "  DIFFERENT with two threads"))


if __name__ == "__main__":
    main()
