"""A person at a terminal: keys go into the real program through a pseudo-terminal, a terminal emulator (pyte) reads the screen.

    with Session(tsr) as session:
        session.expect_prompt(1)
        session.keys('1 + 1\\r')
        session.expect('Out[1]: 2')

Nothing here sleeps for a fixed time: every expectation waits until the screen shows what is expected, up to PATIENCE seconds,
and says what the screen showed instead. Keys have names in KEY: session.keys(KEY.up + KEY.enter).
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import time

try:
    import pyte
except ImportError:  # Debian's package lies where a python3 of one's own does not look
    sys.path.append('/usr/lib/python3/dist-packages')
    try:
        import pyte
    except ImportError:
        pyte = None

PATIENCE = 20.0  # seconds until something expected counts as missing; long, for a busy machine


class KEY:
    """What a terminal sends for a key."""
    enter, tab, escape, backspace = '\r', '\t', '\x1b', '\x7f'
    up, down, right, left, home, end = '\x1b[A', '\x1b[B', '\x1b[C', '\x1b[D', '\x1b[H', '\x1b[F'
    delete, page_up, page_down, back_tab = '\x1b[3~', '\x1b[5~', '\x1b[6~', '\x1b[Z'
    control_left, control_right, alt_enter = '\x1b[1;5D', '\x1b[1;5C', '\x1b\r'

    @staticmethod
    def control(letter):
        return chr(ord(letter.upper()) ^ 0x40)

    @staticmethod
    def alt(letter):
        return '\x1b' + letter

    @staticmethod
    def paste(text):
        return '\x1b[200~' + text.replace('\n', '\r') + '\x1b[201~'


class Missing(AssertionError):
    """What was expected did not come; the text has the screen."""


class Session:
    """A program at a terminal of its own. `env` is added to a small fixed environment; a value None takes a name out."""

    def __init__(self, tsr, args=(), env=None, rows=30, columns=100, folder=None):
        self.folder = folder or tempfile.mkdtemp(prefix='tsr-session-')
        self.rows, self.columns = rows, columns
        self.screen = pyte.HistoryScreen(columns, rows, history=5000, ratio=0.5)
        self.stream = pyte.ByteStream(self.screen)
        self.sent = self.received = b''  # received: every byte that the program wrote
        self.ended = False
        self.status = None  # of the program, as waitpid gives it
        names = {'PATH': os.environ.get('PATH', '/usr/bin:/bin'), 'HOME': self.folder, 'TERM': 'xterm-256color', 'LANG': 'C.UTF-8',
                 'COLORTERM': '', 'TESSERA_HISTORY': os.path.join(self.folder, 'history')}
        for name in ('ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS'):
            if name in os.environ:
                names[name] = os.environ[name]
        names.update(env or {})
        names = {name: value for name, value in names.items() if value is not None}
        self.began = time.perf_counter()
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
                os.chdir(self.folder)
                for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGTSTP):
                    signal.signal(number, signal.SIG_DFL)  # a run in the background, or under nohup, ignores some
                os.execve(tsr, [tsr, *args], names)
            finally:
                os._exit(127)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # --- what a person does

    def keys(self, text):
        data = text.encode() if isinstance(text, str) else text
        self.sent += data
        while data:
            # The program may be busy writing while we are: read what it says, or both wait for ever.
            readable, writable, _ = select.select([self.master], [self.master], [], PATIENCE)
            if readable:
                self._read_some()
            if self.ended:
                return
            if writable:
                data = data[os.write(self.master, data[:1024]):]

    def line(self, text):
        """Types a line and Enter."""
        self.keys(text + KEY.enter)

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def signal(self, number):
        os.kill(self.pid, number)

    def hang_up(self):
        """Closes the terminal's window."""
        os.close(self.master)
        self.master = -1

    def close(self):
        if self.master >= 0:
            os.close(self.master)
            self.master = -1
        if self.status is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
                self.status = os.waitpid(self.pid, 0)[1]
            except (ProcessLookupError, ChildProcessError):
                pass

    # --- what a person sees

    def lines(self):
        """The screen's lines without blanks at their ends; empty ones at the bottom are left out."""
        shown = [line.rstrip() for line in self.screen.display]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    def text(self):
        return '\n'.join(self.lines())

    def scrolled(self):
        """All lines: those that left at the top, then the screen's."""
        gone = []
        for line in self.screen.history.top:
            gone.append(''.join(line[x].data for x in range(self.columns)).rstrip())
        return gone + self.lines()

    def cursor(self):
        return self.screen.cursor.y, self.screen.cursor.x

    def cursor_line(self):
        return self.screen.display[self.screen.cursor.y].rstrip()

    def style_at(self, row, column):
        return self.screen.buffer[row][column]

    # --- waiting

    def wait(self, condition, what, patience=PATIENCE):
        """Reads until condition() holds; answers what it gave."""
        end = time.perf_counter() + patience
        while True:
            found = condition()
            if found:
                return found
            left = end - time.perf_counter()
            if left <= 0 or (self.ended and not self._pending()):
                if condition():
                    return True
                raise Missing(f'{what}{" (the program has ended)" if self.ended else ""}\n--- the screen:\n{self.text()}\n---')
            if not self.ended and select.select([self.master], [], [], min(left, 0.5))[0]:
                self._read_some()

    def expect(self, text, patience=PATIENCE):
        """The screen, with what left at its top, has the text; a compiled pattern is searched for."""
        def there():
            shown = '\n'.join(self.scrolled())
            return text.search(shown) if isinstance(text, re.Pattern) else text in shown
        return self.wait(there, f'expected {text!r}', patience)

    def expect_screen(self, wanted, patience=PATIENCE):
        """The last lines of the screen are these."""
        wanted = wanted.strip('\n').split('\n') if isinstance(wanted, str) else list(wanted)
        wanted = [line.rstrip() for line in wanted]
        return self.wait(lambda: self.lines()[-len(wanted):] == wanted, 'expected the screen to end in\n' + '\n'.join(wanted), patience)

    def expect_line(self, text, patience=PATIENCE):
        """The cursor's line is this."""
        return self.wait(lambda: self.cursor_line() == text.rstrip(), f'expected the line {text!r}', patience)

    def expect_gone(self, text, patience=PATIENCE):
        return self.wait(lambda: text not in self.text(), f'expected no {text!r}', patience)

    def expect_prompt(self, number, typed='', patience=PATIENCE):
        """The prompt In [number]: with the cursor behind it and what is typed there."""
        wanted = f'In [{number}]: {typed}'
        return self.wait(lambda: self.cursor_line() == wanted.rstrip(), f'expected the prompt {wanted!r}', patience)

    def expect_cursor(self, row, column, patience=PATIENCE):
        return self.wait(lambda: self.cursor() == (row, column), f'expected the cursor at {(row, column)}, is at {self.cursor()}', patience)

    def expect_end(self, status=0, patience=PATIENCE):
        """The program ends with this status; a negative one: by that signal."""
        end = time.perf_counter() + patience
        while time.perf_counter() < end:
            if self.master >= 0 and not self.ended and select.select([self.master], [], [], 0.01)[0]:
                self._read_some()
            pid, found = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self.master >= 0 and not self.ended and self._pending():
                    self._read_some()
                self.status = found
                got = os.waitstatus_to_exitcode(found)
                if got != status:
                    raise Missing(f'expected status {status}, got {got}\n--- the screen:\n{self.text()}')
                return
            if self.master < 0 or self.ended:
                time.sleep(0.005)
        raise Missing(f'expected the end of the program\n--- the screen:\n{self.text()}')

    def run(self, number, block, shown=None):
        """Types a block of one line at prompt `number` and waits for the next prompt."""
        self.expect_prompt(number)
        self.line(block)
        self.expect_prompt(number + 1)
        if shown is not None:
            self.expect(shown)

    # --- times

    def time_to(self, keys, condition):
        """Seconds from writing the keys until the condition holds: of the program, this driver and the machine together."""
        begin = time.perf_counter()
        self.keys(keys)
        self.wait(condition, f'after {keys!r}')
        return time.perf_counter() - begin

    def processor_time(self):
        """Seconds of processor that the program has had so far: what it takes, however busy the machine is."""
        with open(f'/proc/{self.pid}/schedstat') as file:
            return int(file.read().split()[0]) / 1e9

    def time_to_answer(self, keys):
        """Seconds from writing the keys until the program has written something, without the emulator's time."""
        while self._pending():
            self._read_some()
        begin = time.perf_counter()
        os.write(self.master, keys.encode())
        if not select.select([self.master], [], [], PATIENCE)[0]:
            raise Missing(f'no answer to {keys!r}')
        seconds = time.perf_counter() - begin
        self._read_some()
        return seconds

    # --- the terminal itself

    def modes(self):
        """The terminal's modes: a dict of what a shell would notice."""
        flags = termios.tcgetattr(self.master)[3]
        return {'echo': bool(flags & termios.ECHO), 'lines': bool(flags & termios.ICANON), 'signals': bool(flags & termios.ISIG)}

    def _pending(self):
        return self.master >= 0 and bool(select.select([self.master], [], [], 0)[0])

    def _read_some(self):
        try:
            data = os.read(self.master, 65536)
        except OSError:  # EIO: nobody holds the other side any more
            data = b''
        if not data:
            self.ended = True
            return
        self.received += data
        self.stream.feed(data)
