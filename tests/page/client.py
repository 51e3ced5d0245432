"""A server of the page, and tabs that are connected to it: what a browser would do, with python3's standard library alone."""
import base64
import http.client
import json
import os
import pathlib
import re
import select
import signal
import socket
import struct
import subprocess
import tempfile
import time


class Closed(Exception):
    """The other side has ended the connection; `code` is that of its close frame, if there was one."""

    def __init__(self, code=None):
        super().__init__(f'closed with {code}')
        self.code = code


class Server:
    """tsr-page on a port that is free, in a folder of its own."""

    def __init__(self, program, folder, *args, state=None, env=(), port=0):
        self.folder = pathlib.Path(folder)
        self.state = pathlib.Path(state or tempfile.mkdtemp(prefix='tsr-page-state-'))
        environment = {k: v for k, v in os.environ.items() if k not in ('DISPLAY', 'WAYLAND_DISPLAY')}
        environment.update(XDG_STATE_HOME=str(self.state), HOME=str(self.state), **dict(env))
        words = [str(program), '--no-browser', *(() if port is None else ('--port', str(port))), *args]
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(words, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        ready, _, _ = select.select([self.process.stdout], [], [], 30)
        self.url = self.process.stdout.readline().strip() if ready else ''
        found = re.fullmatch(r'http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{64})', self.url)
        if not found:
            self.process.kill()
            raise RuntimeError(f'no address but {self.url!r}: {self.said()}')
        self.port, self.token = int(found[1]), found[2]
        self.host = f'127.0.0.1:{self.port}'
        self.origin = f'http://{self.host}'
        self.cookie = f'tessera-{self.port}={self.token}'

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors='replace')

    def get(self, path='/', method='GET', cookie=True, host=None, headers=(), body=None, skip_host=False):
        """(status, headers in lower case, body)"""
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=20)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        if not skip_host:
            connection.putheader('Host', host or self.host)
        if cookie:
            connection.putheader('Cookie', self.cookie if cookie is True else cookie)
        for name, value in headers:
            connection.putheader(name, value)
        if body is not None:
            connection.putheader('Content-Length', str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, text

    def tab(self, **options):
        return Tab(self, **options)

    def workers(self):
        """Processes of the worker: our children by the list of the system."""
        out = []
        for entry in pathlib.Path('/proc').iterdir():
            if not entry.name.isdigit():
                continue
            try:
                status = (entry / 'stat').read_text()
                words = (entry / 'cmdline').read_bytes().split(b'\0')
            except OSError:
                continue
            parent, state = int(status.rsplit(')', 1)[1].split()[1]), status.rsplit(')', 1)[1].split()[0]
            if parent == self.process.pid and state != 'Z' and b'--worker' in words:
                out.append(int(entry.name))
        return out

    def memory(self):
        """Resident bytes of the server itself."""
        fields = pathlib.Path(f'/proc/{self.process.pid}/statm').read_text().split()
        return int(fields[1]) * os.sysconf('SC_PAGE_SIZE')

    def end(self, how=signal.SIGINT):
        """Its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(60)  # a limit for what hangs: sanitized, on a busy machine, it took more than 20
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()


def frame(opcode, payload, *, final=True, masked=True, reserved=0, length=None):
    """A WebSocket frame as a client sends it; `length` claims another one than the payload has."""
    size = len(payload) if length is None else length
    head = bytes([(0x80 if final else 0) | reserved << 4 | opcode])
    mark = 0x80 if masked else 0
    if size < 126:
        head += bytes([mark | size])
    elif size < 1 << 16:
        head += bytes([mark | 126]) + struct.pack('>H', size)
    else:
        head += bytes([mark | 127]) + struct.pack('>Q', size)
    if not masked:
        return head + payload
    mask = os.urandom(4)
    whole = int.from_bytes(payload, 'big') ^ int.from_bytes((mask * (len(payload) // 4 + 1))[:len(payload)], 'big')
    return head + mask + whole.to_bytes(len(payload), 'big')


class Tab:
    """A WebSocket. What has come and was not asked for yet waits in `seen`."""

    def __init__(self, server, *, cookie=None, origin=None, host=None, path='/session', greet=True, headers=()):
        self.socket = socket.create_connection(('127.0.0.1', server.port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer, self.seen, self.asks = b'', [], 0
        lines = [f'GET {path} HTTP/1.1', f'Host: {host or server.host}', 'Upgrade: websocket', 'Connection: Upgrade',
                 'Sec-WebSocket-Key: ' + base64.b64encode(os.urandom(16)).decode(), 'Sec-WebSocket-Version: 13']
        if cookie != '':
            lines.append(f'Cookie: {cookie or server.cookie}')
        if origin != '':
            lines.append(f'Origin: {origin or server.origin}')
        self.socket.sendall('\r\n'.join([*lines, *headers, '', '']).encode())
        while b'\r\n\r\n' not in self.buffer:
            self.more()
        head, self.buffer = self.buffer.split(b'\r\n\r\n', 1)
        self.status = int(head.split()[1])
        self.hello = self.wait('hello') if self.status == 101 and greet else None

    def more(self):
        try:
            got = self.socket.recv(1 << 18)
        except ConnectionError:
            got = b''
        if not got:
            raise Closed()
        self.buffer += got

    def need(self, size):
        if len(self.buffer) >= size:
            return
        parts, have = [self.buffer], len(self.buffer)
        self.buffer = b''
        while have < size:
            self.more()
            parts.append(self.buffer)
            have += len(self.buffer)
            self.buffer = b''
        self.buffer = b''.join(parts)

    def read_frame(self):
        self.need(2)
        opcode, size, at = self.buffer[0] & 15, self.buffer[1] & 127, 2
        if size == 126:
            self.need(4)
            size, at = struct.unpack('>H', self.buffer[2:4])[0], 4
        elif size == 127:
            self.need(10)
            size, at = struct.unpack('>Q', self.buffer[2:10])[0], 10
        self.need(at + size)
        payload, self.buffer = self.buffer[at:at + size], self.buffer[at + size:]
        return opcode, payload

    def next(self, timeout=30):
        """The next message, as it comes."""
        self.socket.settimeout(timeout)
        while True:
            opcode, payload = self.read_frame()
            if opcode == 1:
                return json.loads(payload)
            if opcode == 8:
                raise Closed(struct.unpack('>H', payload[:2])[0] if payload else None)
            if opcode == 9:
                self.socket.sendall(frame(10, payload))

    def wait(self, kind, timeout=15, **fields):
        """The first message of that kind with those fields, also one that came before; others stay for later."""
        fits = lambda m: m['type'] == kind and all(m.get(k) == v for k, v in fields.items())  # noqa: E731
        for i, message in enumerate(self.seen):
            if fits(message):
                return self.seen.pop(i)
        end = time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError(f'no {kind} {fields}; there was {[m["type"] for m in self.seen][-20:]}')
            try:
                message = self.next(left)
            except TimeoutError:
                continue
            if fits(message):
                return message
            self.seen.append(message)

    def quiet(self, seconds=0.1):
        """Takes what comes until nothing does for a while."""
        while True:
            try:
                self.seen.append(self.next(seconds))
            except TimeoutError:
                return self

    def send(self, kind, **fields):
        self.socket.sendall(frame(1, json.dumps({'type': kind, **fields}).encode()))

    def ask(self, kind, answer=None, **fields):
        self.asks += 1
        self.send(kind, ask=self.asks, **fields)
        return self.wait(answer or kind, ask=self.asks)

    def run(self, text, where='terminal', **origin):
        """Starts a block; its number."""
        key = os.urandom(4).hex()
        self.send('run', blocks=[{'text': text, 'origin': {'where': where, 'key': key, **origin}}])
        while True:
            started = self.wait('started')
            if started['origin'].get('key') == key:
                return started['block']

    def finish(self, block, timeout=60):
        """(what it said, its `finished`)"""
        done = self.wait('finished', timeout, block=block)
        said = [m for m in self.seen if m.get('block') == block and m['type'] != 'state']
        self.seen = [m for m in self.seen if m not in said]
        return said, done

    def execute(self, text, **options):
        """(standard output, what it said, how it ended)"""
        said, done = self.finish(self.run(text, **options))
        return ''.join(m['text'] for m in said if m['type'] == 'stream'), said, done

    def edit(self, changes, version):
        self.send('edit', version=version, changes=[{'from': a, 'to': b, 'text': text} for a, b, text in changes])

    def close(self):
        try:
            self.socket.sendall(frame(8, struct.pack('>H', 1000)))
        except OSError:
            pass
        self.socket.close()
