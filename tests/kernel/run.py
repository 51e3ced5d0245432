#!/usr/bin/env python3
"""The Jupyter kernel, asked as Jupyter asks it. tests/kernel/run.py --tsr TSR [WORD...]; tests/case_runner.py says how cases are run."""
import importlib.util
import os
import pathlib
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import case_runner  # noqa: E402

NEEDED = ('jupyter_client', 'jupyter_kernel_test', 'nbclient', 'nbformat')


class Case(case_runner.Case):
    """With kernels that are ended after it."""

    def __init__(self, tsr, options):
        import driver
        warnings.simplefilter('ignore')
        super().__init__(tsr, options)
        self.driver, self.tsr, self.slow = driver, tsr, options.slow
        self.env = driver.install(tsr, self.folder)
        self.kernels = []

    def kernel(self, **env):
        kernel = self.driver.Kernel(self.env, **env)
        self.kernels.append(kernel)
        return kernel

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, 'w') as file:
            file.write(text)
        return path

    def close(self):
        for kernel in self.kernels:
            if not kernel.log.closed:
                kernel.close()
        super().close()


def main():
    options = case_runner.options_of(__doc__, 'tsr', jobs=3)
    options.add_argument('--slow', type=float, default=1, help='so many times as long as usual may everything take')
    given = options.parse_args()
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        return case_runner.nothing(f'python3 has no {", ".join(missing)} (scripts/setup)')
    return case_runner.main(Case, HERE, given)


if __name__ == '__main__':
    sys.exit(main())
