#!/usr/bin/env python3
"""The page's server and its worker: messages in, messages out. tests/page/run.py --program TSR_PAGE [WORD...]; tests/case_runner.py says
how cases are run."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import case_runner  # noqa: E402
import client  # noqa: E402


class Case(case_runner.Case):
    """With servers that are ended after it."""

    def __init__(self, program, options):
        super().__init__(program, options)
        self.slow = options.sanitized  # times are not looked at
        self.folder = pathlib.Path(self.folder)
        self.state = self.folder / '.state'
        self.state.mkdir()
        self.servers = []

    def server(self, *args, **options):
        options.setdefault('state', self.state)
        options.setdefault('folder', self.folder)
        server = client.Server(self.program, options.pop('folder'), *args, **options)
        self.servers.append(server)
        return server

    def tab(self, *args, **options):
        return self.server(*args, **options).tab()

    def file(self, name, text=''):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text, encoding='utf-8')
        return path

    def close(self):
        said = ''
        for server in self.servers:
            server.end()
            said += server.said()
        super().close()
        return said[:4000] if 'Sanitizer' in said or 'runtime error' in said else None


def main():
    options = case_runner.options_of(__doc__, 'tsr-page', jobs=2)
    options.add_argument('--sanitized', action='store_true', help='no times are looked at')
    return case_runner.main(Case, HERE, options.parse_args())


if __name__ == '__main__':
    sys.exit(main())
