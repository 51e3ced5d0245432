#!/usr/bin/env python3
"""Kills a training run at random moments: no checkpoint is ever broken, and the losses are those of a run in one piece.

    run.py --tsr build/release/tsr [--kills 50] [--seed 0]

Every start goes on from the checkpoint that the last one left; one that cannot load it ends by itself, which is a failure.
"""
import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

TRAIN = pathlib.Path(__file__).with_name('train.tsr')
ENDLESS = 1_000_000  # steps; every run is killed before


class Run:
    """One start of the training program."""

    def __init__(self, tsr, checkpoint, steps):
        self.process = subprocess.Popen([tsr, TRAIN, checkpoint, str(steps)], text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)

    def kill_at(self, moments, start_time, after_first_step):
        """The lines of the run; None when it ended before it was killed."""
        first = self.process.stdout.readline() if after_first_step else ''
        time.sleep(moments.uniform(0.0, min(start_time, 0.1)))
        ended = self.process.poll() is not None
        self.process.kill()
        out = self.process.stdout.read()  # communicate() would lose what readline() has read ahead
        self.process.wait()
        if ended:
            sys.stderr.write(self.process.stderr.read())
            return None
        return (first + out).splitlines()

    def lines(self):
        out, err = self.process.communicate(timeout=120)
        if self.process.returncode != 0:
            raise SystemExit(f'a run that nobody killed failed: {err}')
        return out.splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tsr', default='build/release/tsr')
    parser.add_argument('--kills', type=int, default=50)
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    tsr = os.path.abspath(options.tsr)
    moments = random.Random(options.seed)
    failed, losses = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        Run(tsr, os.path.join(folder, 'first.pt'), 2).lines()
        start_time = time.monotonic() - begin
        checkpoint = os.path.join(folder, 'killed.pt')
        for number in range(options.kills):
            lines = Run(tsr, checkpoint, ENDLESS).kill_at(moments, start_time, number % 2 == 0)
            failed += lines is None
            for step, _, loss in (line.partition(' ') for line in lines or []):
                losses.setdefault(int(step), set()).add(loss)
        whole = [line.partition(' ')[2] for line in Run(tsr, os.path.join(folder, 'whole.pt'), len(losses)).lines()]
    # A step may have been done twice, when its checkpoint was not written; never differently.
    different = [(step, losses.get(step), loss) for step, loss in enumerate(whole) if losses.get(step) != {loss}]
    for step, seen, loss in different[:5]:
        print(f'step {step}: {seen}, in one piece {loss}', file=sys.stderr)
    different = len(different)
    enough = len(losses) >= options.kills // 2
    print(f'{options.kills} runs killed, {len(losses)} steps done, {different} with other losses than in one piece')
    bad = failed + different + (not enough)
    print(f'{options.kills + len(whole) + 1 - bad} passed, {bad} failed')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
