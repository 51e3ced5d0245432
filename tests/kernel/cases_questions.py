"""What a frontend asks between cells: completion, help, is this whole, history."""
import os


def complete(k, code, cursor=None):
    return k.ask('complete_request', code=code, cursor_pos=len(code) if cursor is None else cursor)


def inspect(k, code, cursor=None, level=0):
    return k.ask('inspect_request', code=code, cursor_pos=len(code) if cursor is None else cursor, detail_level=level)


def test_completion(case):
    k = case.kernel()
    k.good('weights = torch.ones(2, 3)\nmodel = nn.Linear(3, 4)\nd = {"alpha": 1}')
    reply = complete(k, 'print(weig')
    assert reply['matches'] == ['weights'] and (reply['cursor_start'], reply['cursor_end']) == (6, 10), reply
    [typed] = reply['metadata']['_jupyter_types_experimental']
    assert typed['text'] == 'weights' and typed['type'] == 'instance' and (typed['start'], typed['end']) == (6, 10), typed
    assert complete(k, 'model.wei')['matches'] == ['weight']
    [add] = [each for each in complete(k, 'torch.ad')['metadata']['_jupyter_types_experimental'] if each['text'] == 'add']
    assert add['type'] == 'function' and add['signature'].startswith('(input, other'), add
    assert 'out_features=' in complete(k, 'nn.Linear(3, out')['matches']
    assert any('alpha' in each for each in complete(k, 'd["al')['matches'])
    assert 'tensors' in complete(k, ':tens')['matches']
    case.write('some_file.txt', '')
    assert any('some_file.txt' in each for each in complete(k, f'open("{case.folder}/some')['matches'])


def test_cursors_count_characters(case):
    k = case.kernel()
    k.good('größe = 1\nschön = 2')
    code = 's = "😀ä"; grö + 1'
    reply = complete(k, code, code.index(' + 1'))
    assert reply['matches'] == ['größe'] and (reply['cursor_start'], reply['cursor_end']) == (10, 13), reply
    code = '"😀😀"; len(schö'
    assert complete(k, code)['cursor_start'] == 10
    assert inspect(k, '"😀😀😀"; torch.add + 1', 12)['found']


def test_wrong_cursors(case):
    k = case.kernel()
    for cursor in (-5, 10 ** 12, 'x', None, 1.5):
        content = {'code': 'tor'} if cursor is None else {'code': 'tor', 'cursor_pos': cursor}
        assert k.ask('complete_request', **content)['status'] == 'ok'
        assert k.ask('inspect_request', **content)['status'] == 'ok'
    assert k.ask('complete_request')['matches'] is not None
    assert complete(k, '')['status'] == 'ok' and complete(k, 'def (((')['status'] == 'ok'


def test_help(case):
    k = case.kernel()
    k.good('def area(width, height=2):\n    """Of a rectangle."""\n    return width * height\nx = torch.ones(2, 3)')
    text = inspect(k, 'area')['data']['text/plain']
    assert 'area(width, height=2)' in text and 'Of a rectangle.' in text and 'return width' not in text, text
    assert 'return width * height' in inspect(k, 'area', level=1)['data']['text/plain']
    assert 'Shape:       [2, 3]' in inspect(k, 'print(x)', 7)['data']['text/plain']
    assert 'torch.add' in inspect(k, 'y = torch.add + 1', 11)['data']['text/plain'], 'in the middle of a name'


def test_help_inside_of_a_call(case):
    k = case.kernel()
    k.good('def area(width, height=2):\n    """Of a rectangle."""\n    return width * height')
    for code in ('area(', 'area(1, ', 'area(width=(1 + 2), ', 'area(nothing', 'area("text, (', 'area(1, # (\n'):
        reply = inspect(k, code)
        assert reply['found'] and 'Of a rectangle.' in reply['data']['text/plain'], (code, reply)
    for code in ('', 'nothing', 'area(1) ', '"area', '# area', '1 + 1', 'nothing.at.all('):
        reply = inspect(k, code)
        assert reply == {'status': 'ok', 'found': False, 'data': {}, 'metadata': {}}, (code, reply)


def test_asking_runs_nothing(case):
    k = case.kernel()
    k.good('class C:\n    @property\n    def loud(self):\n        print("ran")\n        return 1\nc = C()')
    name = k.send('complete_request', {'code': 'c.loud.', 'cursor_pos': 7})
    assert [each['msg_type'] for each in k.published(name)] == ['status', 'status']
    name = k.send('inspect_request', {'code': ':help', 'cursor_pos': 3, 'detail_level': 0})
    assert [each['msg_type'] for each in k.published(name)] == ['status', 'status']


def test_whole_cells(case):
    k = case.kernel()
    for code, status, indent in (('1', 'complete', None), ('for i in x:\n    f(i)\n\n', 'complete', None), ('', 'complete', None),
                                 ('if x:', 'incomplete', '    '), ('f(1,', 'incomplete', '  '), ('"""text', 'incomplete', ''),
                                 ('def f():\n    if x:\n        pass', 'incomplete', '    '), ('1 +* 2', 'invalid', None),
                                 ('f)', 'invalid', None), (':tensors', 'complete', None), ('!ls', 'complete', None)):
        reply = k.ask('is_complete_request', code=code)
        assert reply['status'] == status and reply.get('indent') == indent, (code, reply)


def history(k, **content):
    return k.ask('history_request', **{'raw': True, 'output': False, **content})['history']


def test_history(case):
    with open(case.folder + '/history', 'w') as file:
        file.write('before = 1\nfor i in x:\\n    i\n')
    k = case.kernel()
    for code in ('a = 1', 'a + 1', 'print(a)', 'a + 1'):
        k.good(code)
    own = [[2, 1, 'a = 1'], [2, 2, 'a + 1'], [2, 3, 'print(a)'], [2, 4, 'a + 1']]
    before = [[1, 1, 'before = 1'], [1, 2, 'for i in x:\n    i']]
    assert history(k, hist_access_type='tail', n=2) == own[2:]
    assert history(k, hist_access_type='tail', n=100) == before + own
    assert history(k, hist_access_type='tail', n=0) == [] == history(k, hist_access_type='tail', n=-3)
    assert history(k, hist_access_type='range', session=0, start=2, stop=4) == own[1:3]
    assert history(k, hist_access_type='range', session=2, start=2) == own[1:]
    assert history(k, hist_access_type='range', session=-1, start=1, stop=2) == before[:1]
    assert history(k, hist_access_type='range', session=0, start=-1) == own[3:]
    assert history(k, hist_access_type='range', session=99) == []
    assert history(k, hist_access_type='search', pattern='*a*') == before[:1] * 0 + own
    assert history(k, hist_access_type='search', pattern='a*', unique=True) == [own[0], own[3]]
    assert history(k, hist_access_type='search', pattern='a*', n=1) == own[3:]
    assert history(k, hist_access_type='search', pattern='?ef[n-p]re = [0-9]') == before[:1]
    assert history(k, hist_access_type='search', pattern='[^a-z]*') == []
    assert history(k, hist_access_type='search') == before + own
    assert history(k, hist_access_type='tail', n=2, output=True) == [[2, 3, ['print(a)', None]], [2, 4, ['a + 1', '2']]]
    assert history(k, hist_access_type='nothing') == []


def test_history_outlives_the_kernel(case):
    k = case.kernel()
    k.good('first = 1')
    k.close()
    other = case.kernel()
    assert history(other, hist_access_type='tail', n=9) == [[1, 1, 'first = 1']]
    with open(os.path.join(case.folder, 'history')) as file:
        assert file.read() == 'first = 1\n'


def test_information(case):
    k = case.kernel()
    info = k.ask('kernel_info_request')
    assert info['protocol_version'] == '5.3' and info['implementation'] == 'tessera'
    language = info['language_info']
    assert (language['name'], language['file_extension'], language['pygments_lexer']) == ('python', '.tsr', 'python3')
    assert info['help_links'] and info['banner'].startswith('Tessera')
    name = k.send('kernel_info_request', {}, 'control')
    assert k.reply_to(name, 'control')['content'] == info
    assert k.ask('comm_info_request') == {'status': 'ok', 'comms': {}}
    assert k.ask('connect_request')['shell_port'] == k.client.get_connection_info()['shell_port']


def test_questions_wait_for_the_cell(case):
    k = case.kernel()
    name = k.start('import time\ntime.sleep(0.5)\nlate = 1')
    asked = k.send('complete_request', {'code': 'lat', 'cursor_pos': 3})
    assert k.reply_to(name)['content']['status'] == 'ok'
    assert k.reply_to(asked)['content']['matches'] == ['late']
