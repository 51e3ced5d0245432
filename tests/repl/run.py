#!/usr/bin/env python3
"""Sessions at a terminal: keys in, screen out. tests/repl/run.py --tsr TSR [WORD...]; tests/case_runner.py says how cases are run."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import case_runner  # noqa: E402
import driver  # noqa: E402


class Case(case_runner.Case):
    """With sessions that are closed after it."""

    def __init__(self, tsr, options):
        super().__init__(tsr, options)
        self.tsr, self.sessions = tsr, []

    def session(self, *args, **options):
        options.setdefault('folder', self.folder)
        session = driver.Session(self.tsr, args, **options)
        self.sessions.append(session)
        return session

    def close(self):
        for session in self.sessions:
            session.close()
        super().close()


def main():
    given = case_runner.options_of(__doc__, 'tsr', jobs=4).parse_args()
    if driver.pyte is None:
        return case_runner.nothing('no terminal emulator: python3-pyte is not installed (scripts/setup)')
    return case_runner.main(Case, HERE, given)


if __name__ == '__main__':
    sys.exit(main())
