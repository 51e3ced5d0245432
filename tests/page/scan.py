#!/usr/bin/env python3
"""A scan of what the page's server lets in. tests/page/scan.py --program TSR_PAGE

Each probe is something that a foreign page, another user of the machine or a broken client may send; each has one answer that is
right, and the server has to be as well afterwards as before. The last line is `N passed, N failed`.
"""
import argparse
import base64
import hashlib
import json
import os
import pathlib
import shutil
import socket
import struct
import sys
import tempfile
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import client  # noqa: E402

PROBES = []


def probe(call):
    PROBES.append(call)
    return call


class Raw:
    """A connection on which bytes are sent as they are."""

    def __init__(self, server, address='127.0.0.1'):
        self.socket = socket.create_connection((address, server.port), timeout=20)

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            pass  # closed meanwhile: the answer tells
        return self

    def say_no_more(self):
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # closed already
        return self

    def all(self, seconds=20):
        """What comes until the other side closes; None: it does not."""
        got, end = b'', time.monotonic() + seconds
        while True:
            self.socket.settimeout(max(0.01, end - time.monotonic()))
            try:
                more = self.socket.recv(1 << 16)
            except TimeoutError:
                return None
            except OSError:
                return got
            if not more:
                return got
            got += more


def request(server, first='GET / HTTP/1.1', host=True, cookie=True, headers=(), body=b''):
    lines = [first]
    if host:
        lines.append(f'Host: {server.host if host is True else host}')
    if cookie:
        lines.append(f'Cookie: {server.cookie if cookie is True else cookie}')
    return '\r\n'.join([*lines, *headers, 'Connection: close', '', '']).encode('latin-1') + body


def status(answer):
    return int(answer.split()[1]) if answer else 0


def asked(server, **options):
    """(status, everything that was sent)"""
    answer = Raw(server).send(request(server, **options)).all()
    return status(answer), answer


# --- who may ask

@probe
def nobody_without_the_token(server):
    """The same for every path and method: what there is cannot be told from the answers."""
    answers = set()
    wrong = server.token[:-1] + ('1' if server.token.endswith('0') else '0')
    for path in ('/', '/index.html', '/session', '/codemirror/lib/codemirror.js', '/output/output-1.txt', '/nothing', '/?token=', '/?token=' + 'a' * 64,
                 f'/?token={server.token[:-1]}', f'/?token={server.token}0', f'/?token={server.token.upper()}x', f'/?x={server.token}', f'/nothing?token={server.token}',
                 f'/?token={wrong}', f'/?token={wrong}&token={server.token}', '/%', '/favicon.ico', f'/session?token={server.token}'):
        for method in ('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'PROPFIND', 'X'):
            answers.add(asked(server, first=f'{method} {path} HTTP/1.1', cookie=None)[1])
    assert len(answers) == 1, answers
    (answer,) = answers
    head, body = answer.split(b'\r\n\r\n', 1)
    assert status(answer) == 403 and body == b'' and b'tessera' not in head.lower() and b'Beast' not in head and b'Set-Cookie' not in head, answer


@probe
def no_other_cookie(server):
    name, token = server.cookie.split('=')
    for cookie in (name, name + '=', name + '=' + token[:-1], name + '=' + token + 'a', name + '="' + token + '"', 'x' + name + '=' + token, name[:-1] + '=' + token, token, name + '=' + token[::-1],
                   f'tessera={token}', f'{name}=\x00{token}', 'a=' * 2000):
        assert asked(server, cookie=cookie)[0] in (0, 403), cookie
    assert asked(server, cookie=f'other=1; {server.cookie}; more=2')[0] != 403


@probe
def the_token_becomes_a_cookie_that_scripts_cannot_read(server):
    code, answer = asked(server, first=f'GET /?token={server.token} HTTP/1.1', cookie=None)
    assert code == 303 and b'Location: /\r\n' in answer
    assert f'Set-Cookie: {server.cookie}; Path=/; HttpOnly; SameSite=Strict\r\n'.encode() in answer, answer
    # Where a page of another origin led here, a browser would not send the cookie along a redirect.
    code, answer = asked(server, first=f'GET /?token={server.token} HTTP/1.1', cookie=None, headers=['Sec-Fetch-Site: cross-site'])
    assert code == 200 and b'url=/"' in answer and b'Set-Cookie' in answer


@probe
def no_foreign_host(server):
    """DNS rebinding: another name that leads to this machine."""
    port = server.port
    for host in ('evil.example', f'evil.example:{port}', f'127.0.0.1.evil.example:{port}', '127.0.0.1', 'localhost', f'127.0.0.1:{port + 1}', f'127.0.0.2:{port}', f'0.0.0.0:{port}',
                 f'localhost.:{port}', f'[::]:{port}', f'2130706433:{port}', f'127.1:{port}', f'user@127.0.0.1:{port}', f'127.0.0.1:{port}@evil', '', ' ', f'127.0.0.1:{port}, evil', f'127.0.0.1:0{port}',
                 f'[::1%lo]:{port}', f'127.0.0.1:{port}/'):
        assert asked(server, host=host)[0] in (0, 400, 403), host
    assert asked(server, host=None)[0] in (0, 400, 403)
    assert asked(server, headers=[f'Host: {server.host}'])[0] in (0, 400, 403)  # two of them
    assert asked(server, first='GET http://evil.example/ HTTP/1.1')[0] in (0, 400, 403)
    assert asked(server, first=f'GET http://{server.host}/ HTTP/1.1')[0] in (0, 400, 403)
    for host in (f'localhost:{port}', f'LOCALHOST:{port}', f'[::1]:{port}', f'127.0.0.1:{port}'):
        assert asked(server, host=host)[0] not in (0, 400, 403), host


@probe
def no_foreign_origin(server):
    port = server.port
    for origin in ('null', 'http://evil.example', f'http://127.0.0.1:{port + 1}', 'http://127.0.0.1', f'https://127.0.0.1:{port}', f'http://127.0.0.1:{port}.evil.example', 'file://',
                   f'http://evil.example:{port}', f'http://localhost:{port}/', f'ws://127.0.0.1:{port}', f'http://user@127.0.0.1:{port}', f'HTTP://127.0.0.1:{port}'):
        assert server.tab(origin=origin, greet=False).status == 403, origin
        assert asked(server, headers=[f'Origin: {origin}'])[0] == 403, origin
    assert server.tab(origin='', greet=False).status == 403  # a browser always says it
    for origin in (f'http://localhost:{port}', f'http://[::1]:{port}'):
        assert server.tab(origin=origin).status == 101
    assert server.tab(cookie='x=1', greet=False).status == 403
    assert server.tab(host=f'evil.example:{port}', greet=False).status == 403


@probe
def nothing_but_reading(server):
    for method in ('POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'PATCH', 'PROPFIND', 'LOCK', 'get', 'BREW'):
        assert asked(server, first=f'{method} / HTTP/1.1')[0] in (0, 403), method  # no origin
        code, answer = asked(server, first=f'{method} / HTTP/1.1', headers=[f'Origin: {server.origin}'])
        assert code in (0, 405), (method, answer)
        assert server.token.encode() not in answer  # TRACE would give it back
    assert asked(server, first='CONNECT evil.example:443 HTTP/1.1', headers=[f'Origin: {server.origin}'])[0] in (0, 400, 403, 405)


@probe
def every_answer_has_its_rules(server):
    for path in ('/', '/nothing', '/codemirror/lib/codemirror.js', f'/?token={server.token}'):
        _, headers, _ = server.get(path)
        policy = headers['content-security-policy']
        for rule in ("default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"):
            assert rule in policy.split('; ') or any(each.startswith(rule) for each in policy.split('; ')), (path, policy)
        assert "'unsafe-eval'" not in policy and 'http:' not in policy and '*' not in policy
        assert headers['x-content-type-options'] == 'nosniff' and headers['referrer-policy'] == 'no-referrer'
        assert headers['cross-origin-opener-policy'] == 'same-origin' and headers['cross-origin-resource-policy'] == 'same-origin'
        assert headers['cache-control'] in ('no-store', 'no-cache') and 'access-control-allow-origin' not in headers and 'server' not in headers


@probe
def nobody_from_other_addresses(server):
    """It listens on the loopback alone."""
    want = f'{server.port:04X}'
    for table in ('tcp', 'tcp6'):
        path = pathlib.Path('/proc/net') / table
        for line in path.read_text().splitlines()[1:] if path.exists() else ():
            local, state = line.split()[1], line.split()[3]
            if state == '0A' and local.endswith(':' + want):
                assert local.split(':')[0] in ('0100007F', '00000000000000000000000001000000'), line


# --- what can be asked for

@probe
def no_way_out_of_the_page(server):
    outside = pathlib.Path(server.folder) / 'secret.tsr'
    outside.write_text('SECRET')
    paths = ['/..', '/../', '/../../etc/passwd', '/..%2f..%2fetc/passwd', '/%2e%2e/%2e%2e/etc/passwd', '/%2e%2e%2f%2e%2e%2fetc%2fpasswd', '/..%252f..%252fetc/passwd', '/....//....//etc/passwd',
             '/..\\..\\etc\\passwd', '/..%5c..%5cetc%5cpasswd', '//etc/passwd', '/%c0%ae%c0%ae/etc/passwd', '/..%c0%afetc/passwd', '/./../etc/passwd', '/codemirror/../../../../etc/passwd',
             '/codemirror/%2e%2e/%2e%2e/etc/passwd', '/etc/passwd', '/proc/self/environ', '/secret.tsr', '/examples/regression.tsr', '/index.html/..', '/index.html%00.js', '/%00', '/output/', '/output/..',
             '/output/../open.html', '/output/%2e%2e/open.html', '/output/..%2fopen.html', '/output/open.html', '/output//etc/passwd', '/output/output-1.txt/..', '/output/.', '/output/\xff', '/' + 'a' * 8000,
             '/~root', '/.git/config', '/CON', '/index.html::$DATA', '/index.html~', '/INDEX.HTML', "/';--", '/<script>alert(1)</script>', '/?token', '/?', '/#', '/index.html;x', '/session/../index.html']
    for path in paths:
        code, answer = asked(server, first=f'GET {path} HTTP/1.1')
        assert code in (0, 400, 404, 403) or path in ('/?', '/?token', '/#'), (path, answer[:300])
        assert b'root:' not in answer and b'SECRET' not in answer and b'alert(1)' not in answer, path
    outside.unlink()


@probe
def no_way_out_of_the_folder(server):
    folder = pathlib.Path(server.folder)
    away = pathlib.Path(tempfile.mkdtemp(prefix='tsr-page-away-'))
    (away / 'secret.tsr').write_text('SECRET')
    (folder / 'inside').mkdir(exist_ok=True)
    (folder / 'inside/real.tsr').write_text('fine\n')
    for name, target in (('out', away), ('out.tsr', away / 'secret.tsr'), ('up', '..'), ('loop', 'loop'), ('loop.tsr', 'loop.tsr'), ('proc', '/proc/self'), ('within', 'inside'), ('within.tsr', 'inside/real.tsr'),
                         ('dangling.tsr', str(away / 'new.tsr')), ('hop.tsr', 'out/secret.tsr'), ('fd.tsr', '/dev/stdin'), ('abs.tsr', str(folder / 'inside/real.tsr'))):
        (folder / name).symlink_to(target)
    tab = server.tab()
    names = {entry['name'] for entry in tab.ask('files', folder='')['entries']}
    assert 'within' in names and 'within.tsr' in names and not names & {'out', 'out.tsr', 'up', 'loop', 'loop.tsr', 'proc', 'hop.tsr', 'dangling.tsr', 'fd.tsr'}, names
    for path in ('out/secret.tsr', 'out.tsr', 'hop.tsr', 'up/x.tsr', 'loop.tsr', 'loop/x.tsr', 'proc/environ', 'proc/root/etc/passwd', 'fd.tsr', '../x', 'inside/../../x', str(away / 'secret.tsr'),
                 './../x', 'inside//..//..//x', '..\\x', '%2e%2e/x', '\u2025/x', 'out/../secret.tsr', 'dangling.tsr', '.', './', 'inside/.', '~/x', '$HOME/x', 'file:///etc/passwd', '//etc/passwd', '/dev/zero', 'proc/self/mem'):
        tab.send('open', path=path)
        problem = tab.wait('problem')
        assert problem['about'] == 'open' and 'SECRET' not in json.dumps(problem), path
    for path in ('out/new.tsr', 'out.tsr', 'hop.tsr', 'up/new.tsr', '../new.tsr', 'inside/../../new.tsr', str(away / 'new.tsr'), 'dangling.tsr', 'proc/cwd/../new.tsr', 'loop.tsr', 'loop/new.tsr'):
        tab.send('save', path=path, format='tsr', overwrite=True)
        answer = None
        while answer is None or answer['type'] not in ('problem', 'saved', 'exists'):
            answer = tab.next()
        assert answer['type'] == 'problem' or (folder / path).resolve().is_relative_to(folder.resolve()), (path, answer)
    assert (away / 'secret.tsr').read_text() == 'SECRET' and sorted(os.listdir(away)) == ['secret.tsr']
    for where in ('out', 'up', 'proc', 'loop', '..', '/etc', 'inside/../..', 'proc/root'):
        assert tab.ask('files', folder=where)['problem'], where
    tab.send('open', path='within.tsr')  # a link that stays is followed
    assert tab.wait('document')['text'] == 'fine\n'
    tab.send('open', path='within/real.tsr')
    assert tab.wait('document')['text'] == 'fine\n'
    for name in os.listdir(folder):
        if (folder / name).is_symlink():
            (folder / name).unlink()
    shutil.rmtree(away)


# --- HTTP that is none

@probe
def headers_that_are_too_long(server):
    assert status(Raw(server).send(request(server, headers=['X: ' + 'a' * 100_000])).all()) in (0, 400, 431)
    assert status(Raw(server).send(request(server, headers=[f'X{i}: y' for i in range(5000)])).all()) in (0, 400, 431)
    assert status(Raw(server).send(request(server, first='GET /' + 'a' * 1_000_000 + ' HTTP/1.1')).all()) in (0, 400, 414, 431)
    assert Raw(server).send(b'GET ' * 1_000_000).all() is not None
    assert Raw(server).send(b'A' * 10_000_000).all() is not None


@probe
def bodies_that_nobody_asked_for(server):
    for headers, body in (([f'Content-Length: {10**15}'], b''), (['Content-Length: -1'], b''), (['Content-Length: 5', 'Content-Length: 6'], b'hello'), (['Transfer-Encoding: chunked'], b'5\r\nhello\r\n0\r\n\r\n'),
                          (['Transfer-Encoding: chunked', 'Content-Length: 5'], b'0\r\n\r\n'), (['Content-Length: 5'], b'hello'), (['Transfer-Encoding: x'], b''), (['Expect: 100-continue', 'Content-Length: 9'], b''),
                          ([f'Content-Length: {10**30}'], b''), (['Content-Length: 5'], b'hello' + request(server, first='GET /?smuggled HTTP/1.1'))):
        for method in ('GET', 'POST'):
            answer = Raw(server).send(request(server, first=f'{method} / HTTP/1.1', headers=[f'Origin: {server.origin}', *headers], body=body)).all()
            assert answer is not None and status(answer) in (0, 400, 405) and answer.count(b'HTTP/1.') <= 1, (headers, answer)


@probe
def requests_that_are_none(server):
    for data in (b'\r\n' * 1000, b'\0' * 1000, b'GET\r\n\r\n', b'GET /\r\n\r\n', b'GET / HTTP/9.9\r\n\r\n', b'GET  /  HTTP/1.1\r\n\r\n', b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
                 b'GET / HTTP/1.1\nHost: x\n\n', b'GET / HTTP/1.1\r\nHost : x\r\n\r\n', b'GET / HTTP/1.1\r\n: x\r\n\r\n', b'GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n', b'GET / HTTP/1.1\r\nA\0B: x\r\n\r\n', b'SSH-2.0-x\r\n',
                 b'GET /\xff\xfe HTTP/1.1\r\n\r\n', os.urandom(5000), b'HTTP/1.1 200 OK\r\n\r\n', b'GET / HTTP/1.0\r\n\r\n', b'GET * HTTP/1.1\r\n\r\n'):
        answer = Raw(server).send(data).say_no_more().all()
        assert answer is not None and status(answer) in (0, 400, 403), (data[:60], answer)


@probe
def requests_that_are_cut_short(server):
    whole = request(server)
    for size in range(0, len(whole), 5):
        raw = Raw(server).send(whole[:size])
        raw.socket.close()


@probe
def several_requests_on_one_connection(server):
    raw = Raw(server)
    one = f'GET /nothing HTTP/1.1\r\nHost: {server.host}\r\nCookie: {server.cookie}\r\n\r\n'.encode()
    answer = raw.send(one * 20 + request(server)).all()
    assert answer.count(b'HTTP/1.1 404') >= 20 and answer.count(b'HTTP/1.1') == 21, answer[:500]
    # One that is refused ends the connection: what follows is not looked at.
    bad = f'GET / HTTP/1.1\r\nHost: {server.host}\r\n\r\n'.encode()
    assert Raw(server).send(bad + request(server)).all().count(b'HTTP/1.1') == 1


# --- WebSockets that are none

def upgrade(server, **headers):
    lines = {'Host': server.host, 'Origin': server.origin, 'Cookie': server.cookie, 'Upgrade': 'websocket', 'Connection': 'Upgrade', 'Sec-WebSocket-Version': '13',
             'Sec-WebSocket-Key': base64.b64encode(b'0123456789abcdef').decode()}
    for name, value in headers.items():
        lines[name.replace('_', '-')] = value
    return 'GET /session HTTP/1.1\r\n' + ''.join(f'{k}: {v}\r\n' for k, v in lines.items() if v is not None) + '\r\n'


@probe
def upgrades_that_are_none(server):
    for headers in ({'Sec_WebSocket_Version': '8'}, {'Sec_WebSocket_Version': None}, {'Sec_WebSocket_Key': None}, {'Sec_WebSocket_Key': 'x'}, {'Connection': 'close'}, {'Upgrade': 'h2c'}, {'Upgrade': None}):
        answer = Raw(server).send(upgrade(server, **headers).encode()).say_no_more().all()
        assert answer is not None and status(answer) in (0, 400, 403, 426), (headers, answer)
    code, _ = asked(server, first='GET / HTTP/1.1', headers=[f'Origin: {server.origin}', 'Upgrade: websocket', 'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==', 'Sec-WebSocket-Version: 13'])
    assert code != 101
    raw = Raw(server).send(upgrade(server).encode())
    head = raw.socket.recv(4096)
    accept = base64.b64encode(hashlib.sha1(b'MDEyMzQ1Njc4OWFiY2RlZg==258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest())
    assert accept in head and b'permessage-deflate' not in head and b'Beast' not in head


def refused(server, *frames, codes, seconds=20):
    """The frames end the connection, with one of these codes (None: without one)."""
    tab = server.tab()
    try:
        for each in frames:
            tab.socket.sendall(each)
    except OSError:
        pass
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            tab.next(seconds)
    except client.Closed as closed:
        assert closed.code in codes, (closed.code, [f[:20] for f in frames])
        return
    except TimeoutError:
        pass
    raise AssertionError(f'it is still open after {[f[:20] for f in frames]}')


@probe
def frames_that_are_too_long(server):
    refused(server, client.frame(1, b'', length=(16 << 20) + 1), codes=(1009,))
    refused(server, client.frame(1, b'', length=(1 << 63) - 1), codes=(1009, 1002))
    refused(server, client.frame(1, b'', length=1 << 63), codes=(1002, 1009))
    half = b'a' * (9 << 20)
    refused(server, client.frame(1, half, final=False), client.frame(0, half), codes=(1009,))
    before = server.memory()
    for _ in range(5):
        refused(server, client.frame(1, b'', length=(16 << 20) + 1), codes=(1009,))
    assert server.memory() < before + 50e6


@probe
def frames_that_are_none(server):
    f = client.frame
    refused(server, f(1, b'{}', masked=False), codes=(1002, None))
    for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15):
        refused(server, f(opcode, b''), codes=(1002,))
    for reserved in (1, 2, 4, 7):
        refused(server, f(1, b'{}', reserved=reserved), codes=(1002,))
    refused(server, f(0, b'x'), codes=(1002,))                                      # goes on with nothing
    refused(server, f(1, b'a', final=False), f(1, b'b'), codes=(1002,))             # a second beginning
    refused(server, f(9, b'x' * 126), codes=(1002,))                                # control frames are short
    refused(server, f(9, b'x', final=False), codes=(1002,))
    refused(server, b'\x81\xfe\x00\x05' + b'\0\0\0\0hello', codes=(1002,))          # a length that could be shorter
    refused(server, f(1, b'\xff'), codes=(1007,))
    refused(server, f(1, b'\xed\xa0\x80'), codes=(1007,))                           # half a surrogate pair
    refused(server, f(1, b'\xc3', final=False), f(0, b'('), codes=(1007,))
    refused(server, f(2, b'{"type":"tensors"}'), codes=(1003,))
    refused(server, f(8, b'\x03'), codes=(1002,))
    refused(server, f(8, struct.pack('>H', 999)), codes=(1002,))
    refused(server, f(8, struct.pack('>H', 1000) + b'\xff'), codes=(1007, 1002))
    refused(server, f(8, b''), codes=(None, 1000, 1005))
    refused(server, os.urandom(200).replace(b'\x81', b'\x83'), codes=(1002, 1007, 1009, None, 1003, 1000))


@probe
def messages_in_pieces_are_whole(server):
    tab = server.tab()
    text = json.dumps({'type': 'files', 'ask': 1, 'folder': '', 'x': 'ü'}).encode()
    pieces = [text[i:i + 1] for i in range(len(text))]
    for i, piece in enumerate(pieces):
        tab.socket.sendall(client.frame(1 if i == 0 else 0, piece, final=i == len(pieces) - 1) + (client.frame(9, b'ping') if i % 7 == 3 else b''))
    assert 'entries' in tab.wait('files')
    for byte in client.frame(1, text):
        tab.socket.sendall(bytes([byte]))
    assert 'entries' in tab.wait('files')


@probe
def what_is_cut_short_in_a_websocket(server):
    whole = client.frame(1, b'{"type":"files","ask":1}')
    for size in range(1, len(whole)):
        tab = server.tab()
        tab.socket.sendall(whole[:size])
        tab.socket.close()


# --- who takes much

@probe
def connections_that_say_nothing(server):
    """Others have their turn while more than there is room for wait; and who says nothing is cut off after ten seconds."""
    begin = time.monotonic()
    silent = [Raw(server) for _ in range(60)]
    slow = [Raw(server).send(b'GET / HT') for _ in range(140)]
    assert server.tab().execute('print(1)')[0] == '1\n'
    assert asked(server, first='GET /nothing HTTP/1.1')[0] == 404
    raw = Raw(server)
    whole, at = request(server), 0
    while at < len(whole) and time.monotonic() - begin < 25:  # a byte at a time
        try:
            raw.socket.sendall(whole[at:at + 1])
        except OSError:
            break
        at += 1
        time.sleep(0.5)
    assert raw.all(5) == b'' and time.monotonic() - begin < 20, 'a request may take as long as it likes'
    for each in silent + slow:
        assert each.all(5) is not None
        each.socket.close()


@probe
def tabs_that_are_too_many(server):
    """The person's own connections are bounded too, and are not closed for others."""
    tabs = []
    while len(tabs) < 80:
        try:
            tabs.append(server.tab())
        except (client.Closed, OSError):
            break
    assert 50 <= len(tabs) < 80, len(tabs)
    tabs[0].send('files', ask=1, folder='')
    assert 'entries' in tabs[0].wait('files')
    for tab in tabs:
        tab.close()
    for _ in range(100):
        if len(os.listdir(f'/proc/{server.process.pid}/fd')) < 40:
            return
        time.sleep(0.02)
    raise AssertionError('they stay')


@probe
def connections_that_come_and_go(server):
    for _ in range(2000):
        Raw(server).socket.close()
    files = len(os.listdir(f'/proc/{server.process.pid}/fd'))
    for _ in range(50):
        if files < 40:
            break
        time.sleep(0.1)
        files = len(os.listdir(f'/proc/{server.process.pid}/fd'))
    assert files < 40, files


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument('--program', default=str(pathlib.Path(__file__).resolve().parent.parent.parent / 'build/release/tsr-page'))
    options.add_argument('--slow', action='store_true', help='list the time of each probe')
    options.add_argument('words', nargs='*')
    given = options.parse_args()
    folder = tempfile.mkdtemp(prefix='tsr-page-')
    server = client.Server(pathlib.Path(given.program).resolve(), folder)
    passed = failed = 0
    for each in PROBES:
        if given.words and not any(word in each.__name__ for word in given.words):
            continue
        begin, problem = time.monotonic(), None
        try:
            each(server)
        except Exception:  # a failed expectation and a broken probe alike
            problem = traceback.format_exc(limit=-3)
        try:
            assert server.process.poll() is None and server.tab().execute('print("well")')[0] == 'well\n'
        except Exception:
            problem = (problem or '') + 'the server is not well afterwards: ' + server.said()
            server.end()
            server = client.Server(pathlib.Path(given.program).resolve(), folder)
        if given.slow:
            print(f'{time.monotonic() - begin:7.2f} s  {each.__name__}')
        if problem:
            print(f'{each.__name__} FAILED\n{problem}')
        passed, failed = passed + (problem is None), failed + (problem is not None)
    server.end()
    said = server.said()
    if said:
        print(f'what it said FAILED\n{said[:4000]}')
        failed += 1
    shutil.rmtree(folder, ignore_errors=True)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
