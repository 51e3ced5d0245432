"""What no frontend should send, and more than one should want."""
import json
import os
import subprocess

import zmq


def raw(k, frames):
    """Sends frames to the shell as they are."""
    k.client.shell_channel.socket.send_multipart(frames)


def frames_of(k, kind='execute_request', content=None, key=None):
    session = k.client.session
    message = session.msg(kind, {'code': 'bad = 1', 'silent': False} if content is None else content)
    frames = session.serialize(message)
    if key is not None:
        before, session.key = session.key, key
        frames = session.serialize(message)
        session.key = before
    return frames


def test_wrongly_signed_messages_are_ignored(case):
    k = case.kernel()
    raw(k, frames_of(k, key=b'another key'))
    unsigned = frames_of(k)
    unsigned[1] = b''
    raw(k, unsigned)
    changed = frames_of(k)
    changed[-1] = changed[-1].replace(b'bad = 1', b'bad = 2')
    raw(k, changed)
    assert k.run('bad').reply['ename'] == 'NameError'
    assert k.said().count('was ignored') == 3, k.said()


def test_damaged_messages_are_ignored(case):
    k = case.kernel()
    good = frames_of(k)
    session = k.client.session
    for parts in ([b'{'] * 4, [b'[]'] * 4, [b'null'] * 4, [b'{}'] * 4, [b'{"msg_type": 5}', b'{}', b'{}', b'{}'],
                  [b'{"msg_type": "execute_request"}', b'{}', b'{}', b'"text"'], [b'\xff\xfe'] * 4, [b'{"a":' * 100000] * 4,
                  [b'{"msg_type": "x", "deep": ' + b'[' * 200000 + b']' * 200000 + b'}', b'{}', b'{}', b'{}']):
        raw(k, [b'<IDS|MSG>', session.sign(parts), *parts])
    for frames in ([], [b''], [b'<IDS|MSG>'], [b'<IDS|MSG>', b''], good[:-1], good[1:], [os.urandom(100000)], [b'<IDS|MSG>'] * 6):
        raw(k, frames or [b'x'])
    assert k.value('6 * 7') == '42'


def test_contents_of_other_types(case):
    k = case.kernel()
    for kind in ('execute_request', 'complete_request', 'inspect_request', 'is_complete_request', 'history_request', 'comm_open'):
        for content in ({}, {'code': 5}, {'code': None, 'silent': 'yes', 'user_expressions': [1], 'cursor_pos': {}},
                        {'hist_access_type': 7, 'n': 'x', 'pattern': 3}):
            k.published(k.send(kind, content))
    assert k.value('6 * 7') == '42'


def test_unknown_messages(case):
    k = case.kernel()
    for kind in ('nothing_request', '', 'comm_nothing', 'execute_reply', 'x' * 10000):
        name = k.send(kind, {'a': 1})
        assert [each['content']['execution_state'] for each in k.published(name)] == ['busy', 'idle']
    k.published(k.send('nothing_request', {}, 'control'))
    k.send('nothing', {}, 'stdin')
    assert k.value('6 * 7') == '42'


def test_comms_are_closed(case):
    k = case.kernel()
    name = k.send('comm_open', {'comm_id': 'abc', 'target_name': 'jupyter.widget', 'data': {}})
    [close] = [each['content'] for each in k.published(name) if each['msg_type'] == 'comm_close']
    assert close == {'comm_id': 'abc', 'data': {}}
    k.published(k.send('comm_msg', {'comm_id': 'abc', 'data': {}}))


def test_there_is_no_debugger(case):
    k = case.kernel()
    name = k.send('debug_request', {'type': 'request', 'seq': 3, 'command': 'initialize'}, 'control')
    reply = k.reply_to(name, 'control')['content']
    assert reply['success'] is False and reply['request_seq'] == 3 and 'no debugger' in reply['message'], reply


def test_texts_that_are_no_unicode(case):
    k = case.kernel()
    result = k.good('!printf "a\\377b\\n"')
    assert result.text() == 'a\ufffdb\n', result.outputs
    session = k.client.session
    parts = [session.pack(each) for each in (session.msg_header('execute_request'), {}, {})]
    parts.append(b'{"code": "half = \'\\ud83d\'; whole = \'\\ud83d\\ude00 \\\\ud83d\'", "silent": false}')
    raw(k, [b'<IDS|MSG>', session.sign(parts), *parts])
    assert k.value('half, whole') == "('\ufffd', '\U0001f600 \\ud83d')", 'a browser may send half of a pair'


def test_a_cell_of_ten_megabytes(case):
    k = case.kernel()
    code = 'x = 1\n' + ('#' + 'y' * 99 + '\n') * 100_000
    assert k.good(code + 'x + 1').data['text/plain'] == '2'
    assert k.ask('complete_request', code=code + 'tor', cursor_pos=len(code) + 3)['matches'] == ['torch']
    assert k.ask('inspect_request', code=code + 'torch.add(', cursor_pos=len(code) + 10, detail_level=0)['found']
    assert k.ask('is_complete_request', code=code + 'if x:')['status'] == 'incomplete'
    assert k.run('"' + 'z' * 10_000_000).reply['ename'] == 'SyntaxError'
    assert os.path.getsize(os.path.join(case.folder, 'history')) < 1000, 'too long for the shared history'


def test_output_of_a_hundred_megabytes(case):
    k = case.kernel()
    result = k.good('line = "x" * 999 + "\\n"\nfor i in range(100_000):\n    print(line, end="")', wait=60)
    shown = sum(len(each['text']) for each in result.of('stream'))
    assert 1_000_000 < shown < 5_000_000, shown
    [rest] = result.of('display_data')
    path = rest['data']['text/plain'].split()[-1]
    assert os.path.getsize(path) == 100_000_000, path
    assert path.startswith(k.env['TMPDIR']) and path in rest['data']['text/html']
    k.close()
    assert k.scratch() == [], 'it goes with the kernel'


def test_memory_that_is_not_there(case):
    k = case.kernel()
    assert k.run('torch.zeros(10 ** 13)').reply['ename'] == 'MemoryError'
    assert k.run('"x" * 10 ** 14').reply['ename'] == 'MemoryError'
    assert k.value('1') == '1'


def test_a_result_that_is_long(case):
    k = case.kernel()
    assert len(k.good('"x" * 1_000_000').data['text/plain']) == 1_000_002
    assert 1_000_000 < len(k.good('"x" * 5_000_000').data['text/plain']) < 1_100_000
    assert k.good('list(range(100_000))').data['text/plain'].endswith('99999]')


def test_deep_data(case):
    k = case.kernel()
    k.good('class Deep:\n    def _repr_mimebundle_(self, include=None, exclude=None):\n'
           '        return {"text/plain": "deep", "application/json": "[" * 200_000 + "]" * 200_000}\nDeep()')
    assert k.run('x = []\nfor i in range(100_000):\n    x = [x]\nx').reply['ename'] == 'RecursionError'
    assert k.value('1') == '1'


def connection_problem(case, text, name='connection.json'):
    path = os.path.join(case.folder, name)
    if text is not None:
        case.write(name, text)
    done = subprocess.run([case.tsr, 'kernel', '--connection', path], capture_output=True, text=True, timeout=20, env=case.env)
    assert done.returncode == 1 and done.stdout == '', done
    [line] = done.stderr.splitlines()
    assert line.startswith('tsr kernel: ') and path in line, line
    return line


def test_damaged_connection_files(case):
    good = {'transport': 'tcp', 'ip': '127.0.0.1', 'key': 'k', 'signature_scheme': 'hmac-sha256', 'shell_port': 50001,
            'iopub_port': 50002, 'stdin_port': 50003, 'control_port': 50004, 'hb_port': 50005}
    assert 'No such file' in connection_problem(case, None, 'nowhere.json')
    for text in ('', '{', '[]', 'null', '\0' * 1000, '"x"', '[' * 100_000):
        assert 'is not a JSON object' in connection_problem(case, text), text
    for change, says in (({'shell_port': 'x'}, 'shell_port is "x"'), ({'hb_port': 70000}, 'hb_port is 70000'),
                         ({'iopub_port': -1}, 'iopub_port is -1'), ({'stdin_port': 1.5}, 'stdin_port is 1.5'),
                         ({'transport': 'smoke'}, 'transport is smoke'), ({'key': 5}, 'key is 5'),
                         ({'signature_scheme': 'hmac-nothing'}, 'signature_scheme is hmac-nothing')):
        assert says in connection_problem(case, json.dumps({**good, **change})), change
    assert 'it has no control_port' in connection_problem(case, json.dumps({key: value for key, value in good.items() if key != 'control_port'}))


def test_a_port_in_use(case):
    socket = zmq.Context.instance().socket(zmq.ROUTER)
    port = socket.bind_to_random_port('tcp://127.0.0.1')
    ports = dict.fromkeys(('shell_port', 'iopub_port', 'stdin_port', 'control_port', 'hb_port'), port)  # any other may be in use as well
    path = case.write('connection.json', json.dumps(ports))
    done = subprocess.run([case.tsr, 'kernel', '--connection', path], capture_output=True, text=True, timeout=20, env=case.env)
    socket.close()
    assert done.returncode == 1 and done.stderr == f'tsr kernel: cannot listen at tcp://127.0.0.1:{port}: Address already in use\n', done
    assert os.listdir(case.env['TMPDIR']) == []


def test_words_of_the_command_line(case):
    def tsr(*words, **env):
        done = subprocess.run([case.tsr, 'kernel', *words], capture_output=True, text=True, env=dict(case.env, **env), timeout=20)
        return done.returncode, done.stdout, done.stderr

    assert tsr('--help')[0] == 0 and 'usage: tsr kernel' in tsr('--help')[1]
    for words in ((), ('dance',), ('install', '--name'), ('--connection',), ('install', '--threads', '0'), ('install', 'remove')):
        status, out, error = tsr(*words)
        assert status == 2 and out == '' and 'usage: tsr kernel' in error, (words, error)
    spec = json.loads(tsr('spec', '--display-name', 'Täst', '--threads=2')[1])
    assert spec['display_name'] == 'Täst' and spec['argv'][1:] == ['--connection', '{connection_file}', '--threads', '2'], spec
    assert spec['interrupt_mode'] == 'signal' and spec['language'] == 'python'


def test_install_and_remove(case):
    def tsr(*words, **env):
        done = subprocess.run([case.tsr, 'kernel', *words], capture_output=True, text=True, env=dict(case.env, **env), timeout=20)
        return done.returncode, done.stdout + done.stderr

    status, said = tsr('install', '--user')
    folder = os.path.join(case.folder, 'data', 'kernels', 'tessera')
    assert status == 0 and folder in said
    assert sorted(os.listdir(folder)) == ['kernel.json', 'logo-32x32.png', 'logo-64x64.png', 'logo-svg.svg']
    with open(os.path.join(folder, 'logo-64x64.png'), 'rb') as file:
        assert file.read(8) == b'\x89PNG\r\n\x1a\n'
    assert tsr('install')[0] == 0, 'again'
    assert tsr('install', '--name', 'other', '--display-name', 'Other')[0] == 0
    assert tsr('remove')[0] == 0 and os.listdir(os.path.dirname(folder)) == ['other']
    status, said = tsr('remove')
    assert status == 1 and 'there is no' in said
    for name in ('../x', '', 'a b', '.x', 'ä'):
        status, said = tsr('install', '--name', name)
        assert status == 1 and "a kernel's name" in said, said
    assert tsr('install', '--sys-prefix', VIRTUAL_ENV=case.folder + '/venv')[0] == 0
    assert os.path.exists(case.folder + '/venv/share/jupyter/kernels/tessera/kernel.json')
    status, said = tsr('install', '--sys-prefix', VIRTUAL_ENV='', CONDA_PREFIX='')
    assert status == 1 and 'no environment of Python is active' in said
    foreign = case.folder + '/data/kernels/python3'
    os.makedirs(foreign)
    case.write('data/kernels/python3/kernel.json', json.dumps({'argv': ['python3', '-m', 'ipykernel_launcher'], 'display_name': 'P'}))
    for word in ('install', 'remove'):
        status, said = tsr(word, '--name', 'python3')
        assert status == 1 and "another kernel's" in said, said
    assert os.path.exists(foreign + '/kernel.json')


def random_value(random, depth=0):
    kinds = [lambda: random.choice(['', 'x', 'torch.', 'f(', '😀', '\x00', 'a' * 5000, 'tail', 'range', '*[', '1/0', 'x = [', ':tensors', '"']),
             lambda: random.choice([0, -1, 1, 2 ** 31, -2 ** 63, 2 ** 64, 10 ** 30, 0.5, -1e300]), lambda: random.choice([True, False, None])]
    if depth < 3:
        kinds += [lambda: [random_value(random, depth + 1) for _ in range(random.randrange(4))],
                  lambda: {random.choice(NAMES): random_value(random, depth + 1) for _ in range(random.randrange(4))}]
    return random.choice(kinds)()


NAMES = ('code', 'silent', 'store_history', 'user_expressions', 'allow_stdin', 'stop_on_error', 'cursor_pos', 'detail_level', 'hist_access_type',
         'n', 'pattern', 'unique', 'session', 'start', 'stop', 'output', 'raw', 'comm_id', 'target_name', 'data', 'value', 'restart', 'seq', 'command')
KINDS = ('execute', 'complete', 'inspect', 'is_complete', 'history', 'kernel_info', 'comm_info', 'connect', 'nothing')


def test_random_messages(case):
    import random as library
    random = library.Random(13)
    k = case.kernel()
    for _ in range(400):
        content = {random.choice(NAMES): random_value(random) for _ in range(random.randrange(6))}
        k.published(k.send(random.choice(KINDS) + '_request', content), wait=60)
        if random.random() < 0.1:
            k.send(random.choice(('debug_request', 'kernel_info_request', 'interrupt_request', 'x')), content, 'control')
    frames = frames_of(k)
    for _ in range(400):
        broken = list(frames)
        at = random.randrange(len(broken))
        piece = bytearray(broken[at])
        for _ in range(random.randrange(1, 4)):
            if piece:
                piece[random.randrange(len(piece))] = random.randrange(256)
        broken[at] = bytes(piece)
        del broken[len(broken) - random.choice((0, 0, 0, 1, 2)):]
        raw(k, broken or [b''])
    assert k.value('6 * 7') == '42'
