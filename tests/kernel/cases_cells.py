"""Cells: what they print and show, their numbers, what the reply says."""
import base64


def test_a_result_has_the_cells_number(case):
    k = case.kernel()
    first = k.good('1 + 1')
    assert first.data == {'text/plain': '2'} and first.of('execute_result')[0]['execution_count'] == 1
    assert k.good('_ + 1').data['text/plain'] == '3'
    assert k.good('Out[1], In[1]').reply['execution_count'] == 3


def test_order_of_messages(case):
    k = case.kernel()
    name = k.start('print("a")\n7')
    messages = [(each['msg_type'], each['content']) for each in k.published(name)]
    assert [kind for kind, _ in messages] == ['status', 'execute_input', 'stream', 'execute_result', 'status'], messages
    assert messages[1][1] == {'code': 'print("a")\n7', 'execution_count': 1}
    assert k.reply_to(name)['metadata']['started'].endswith('Z')


def test_streams_in_their_order(case):
    k = case.kernel()
    result = k.good('import sys\nfor i in range(3):\n    print(i)\n    print(-i, file=sys.stderr)')
    assert [(each['name'], each['text']) for each in result.of('stream')] == [
        ('stdout', '0\n'), ('stderr', '0\n'), ('stdout', '1\n'), ('stderr', '-1\n'), ('stdout', '2\n'), ('stderr', '-2\n')]


def test_output_is_seen_while_the_cell_runs(case):
    k = case.kernel()
    k.good('import time')
    name = k.start('print("now")\ntime.sleep(2)')
    while True:
        message = k.client.get_iopub_msg(timeout=1)
        if message['msg_type'] == 'stream':
            break
    assert message['content']['text'] == 'now\n'
    k.interrupt()
    k.result(name)


def test_a_child_process_writes_into_the_cell(case):
    k = case.kernel()
    result = k.good('import subprocess\nprint("a")\nsubprocess.run(["sh", "-c", "printf \'\\\\303\'; sleep 0.05; echo \'\\\\244\' | xargs printf; '
                    'echo; echo wrong >&2"])\nprint("c")')
    assert result.text() == 'a\nä\nc\n', result.outputs
    assert result.text('stderr') == 'wrong\n', result.outputs
    assert k.good('!echo by the shell').text() == 'by the shell\n'


def test_a_child_that_writes_for_ever_holds_nobody_up(case):
    k = case.kernel()
    result = k.good('import subprocess\nendless = subprocess.Popen(["yes"])\nfor i in range(300):\n    print("mine", i)\nendless.kill()')
    assert result.text().count('mine') == 300 or result.of('display_data'), 'they may stand beyond the bound'
    assert result.seconds < 10, result.seconds
    assert k.value('1') == '1'


def test_silent_and_not_kept(case):
    k = case.kernel()
    silent = k.run('y = 5\nprint("heard")\ny', silent=True)
    assert silent.of('execute_result') == [] and silent.text() == 'heard\n'
    passing = k.run('y + 1', store_history=False)
    assert passing.data['text/plain'] == '6'
    assert k.good('y').reply['execution_count'] == 1, 'neither has taken a number'
    assert k.ask('history_request', hist_access_type='tail', n=9, raw=True, output=False)['history'] == [[2, 1, 'y']]


def test_user_expressions(case):
    k = case.kernel()
    reply = k.good('x = torch.zeros(2, 3)', user_expressions={'shape': 'x.shape', 'sum': 'x.sum()', 'bad': '1/0', 'none': 'x ='}).reply
    values = reply['user_expressions']
    assert values['shape'] == {'status': 'ok', 'data': {'text/plain': 'torch.Size([2, 3])'}, 'metadata': {}}
    assert values['sum']['data']['text/plain'] == 'tensor(0.)'
    assert values['bad']['status'] == 'error' and values['bad']['ename'] == 'ZeroDivisionError'
    assert values['none']['ename'] == 'SyntaxError'
    assert k.run('1/0', user_expressions={'a': '1'}).reply.get('user_expressions') is None, 'they are not asked after a failure'


def test_displays_are_updated(case):
    k = case.kernel()
    k.good('from IPython.display import display, HTML, SVG, Image, clear_output, update_display')
    result = k.good('h = display(HTML("<b>1</b>"), display_id="spot")\nupdate_display(HTML("<b>2</b>"), display_id="spot")')
    [shown] = result.of('display_data')
    [update] = result.of('update_display_data')
    assert shown['transient'] == update['transient'] == {'display_id': 'spot'}
    assert shown['data']['text/html'] == '<b>1</b>' and update['data']['text/html'] == '<b>2</b>'
    assert [kind for kind, _ in k.good('print(1)\nclear_output(wait=True)\nprint(2)').outputs] == ['stream', 'clear_output', 'stream']
    assert k.good('clear_output()').of('clear_output') == [{'wait': False}]


def test_pictures(case):
    k = case.kernel()
    result = k.good('plt.plot([1, 2, 4])\nplt.show()')
    [shown] = result.of('display_data')
    assert base64.b64decode(shown['data']['image/png']).startswith(b'\x89PNG'), shown['data'].keys()
    drawn = k.good('plt.plot([1, 2]);')  # nobody said plt.show()
    assert 'image/png' in drawn.of('display_data')[0]['data']


def test_a_tensor_is_a_table_too(case):
    data = case.kernel().good('torch.arange(6).reshape(2, 3)').data
    assert data['text/plain'] == 'tensor([[0, 1, 2],\n        [3, 4, 5]])'
    assert '<table' in data['text/html'] and 'int64' in data['text/html']


def test_commands_show_data(case):
    k = case.kernel()
    k.good('w = torch.randn(3, 4, requires_grad=True)')
    [tensors] = k.good(':tensors').of('display_data')
    rows = tensors['data']['application/vnd.tessera.tensors+json']['tensors']
    assert [(each['name'], each['shape'], each['dtype']) for each in rows] == [('w', [3, 4], 'float32')], rows
    assert 'w' in tensors['data']['text/plain']
    [graph] = k.good(':graph (w * 2).sum()').of('display_data')
    assert graph['data']['application/vnd.tessera.graph+json']['nodes']


def test_progress_bar_is_few_messages(case):
    result = case.kernel().good('from tqdm import tqdm\nfor i in tqdm(range(20000)):\n    pass')
    assert '20000/20000' in result.text('stderr')
    assert len(result.of('stream')) < 200


def test_an_error_has_its_caret_and_notes(case):
    k = case.kernel()
    result = k.run('a = torch.ones(2, 3)\nb = torch.ones(4, 5)\na @ b')
    [error] = result.of('error')
    assert error['ename'] == 'RuntimeError' == result.reply['ename']
    assert error['evalue'].endswith('mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)'), error['evalue']
    assert error['traceback'] == result.reply['traceback']
    text = '\n'.join(error['traceback'])
    assert '\x1b[1;31m~~^~~\x1b[0m' in text and '\x1b[1;31mRuntimeError\x1b[0m' in text, text
    assert 'a: float32[2, 3], made at In [1]:1' in text and 'b: float32[4, 5], made at In [1]:2' in text, text
    assert not any('\n' in line for line in error['traceback'])
    assert 'File "In [2]", line 1' in '\n'.join(k.run('1 +').of('error')[0]['traceback'])


def test_an_error_ends_no_colour_that_it_did_not_begin(case):
    k = case.kernel()
    [error] = k.run('class E(Exception):\n    def __str__(self): return 1 / 0\nraise E').of('error')
    assert error['traceback'][-1] == '\x1b[1;31mE\x1b[0m: <exception str() failed>', error
    assert all(line.count('\x1b[') == 2 * line.count('\x1b[0m') for line in error['traceback']), error


def test_a_long_result_is_bounded(case):
    k = case.kernel()
    result = k.good('"x" * 20000000')
    assert len(result.data['text/plain']) < 1_100_000
    [rest] = result.of('display_data')
    path = rest['data']['text/plain'].split()[-1]
    with open(path) as file:
        assert file.read() == repr('x' * 20000000)


def test_metadata_goes_whole(case):
    k = case.kernel()
    [shown] = k.good('display(3, metadata={"a": 1, "text/plain": {"b": [2]}})').of('display_data')
    assert shown['metadata'] == {'a': 1, 'text/plain': {'b': [2]}}, shown
    result = k.good('class A:\n    def _repr_mimebundle_(self, **_): return {"text/plain": "p"}, {"meta": 1}\nA()')
    assert result.of('execute_result')[0]['metadata'] == {'meta': 1}


def test_what_fails_without_an_exception(case):
    k = case.kernel()
    reply = k.run(':tensers').reply
    assert reply['status'] == 'error' and reply['ename'] == 'UsageError' and 'tensors' in reply['evalue'], reply
    assert k.good('').reply['execution_count'] == 2
    assert k.good(' \n').reply['execution_count'] == 2, 'an empty cell takes no number'


def test_requests_behind_a_failed_one_are_aborted(case):
    k = case.kernel()
    names = [k.start(code) for code in ('import time; time.sleep(0.3); 1/0', 'x = 1', 'x = 2')]
    asked = k.send('is_complete_request', {'code': '1'})
    assert k.reply_to(names[0])['content']['ename'] == 'ZeroDivisionError'
    for name in names[1:]:
        reply = k.reply_to(name)
        assert reply['content'] == {'status': 'aborted'} and reply['msg_type'] == 'execute_reply', reply
        assert [each['content'].get('execution_state') for each in k.published(name)] == ['busy', 'idle']
    assert k.reply_to(asked)['content'] == {'status': 'complete'}, 'other questions are answered'
    assert k.run('x').reply['ename'] == 'NameError'


def test_who_sends_after_the_reply_is_not_aborted(case):
    k = case.kernel()
    for _ in range(20):
        name = k.start('1/0')
        k.reply_to(name)
        k.good('1')


def test_requests_go_on_when_they_shall(case):
    k = case.kernel()
    names = [k.start(code, stop_on_error=False) for code in ('1/0', 'x = 1', 'x')]
    assert k.result(names[2]).data['text/plain'] == '1'


def test_pages_and_offers(case):
    k = case.kernel()
    [page] = k.good('torch.add?').reply['payload']
    assert page['source'] == 'page' and page['start'] == 0 and 'alpha' in page['data']['text/plain']
    case.write('program.tsr', 'print(1)\n')
    [offer] = k.good(f':load {case.folder}/program.tsr').reply['payload']
    assert offer == {'source': 'set_next_input', 'text': 'print(1)\n', 'replace': False}


def test_the_heart_beats_while_a_cell_runs(case):
    k = case.kernel()
    k.client.hb_channel.unpause()
    name = k.start('import time\nend = time.time() + 3\nwhile time.time() < end:\n    pass')
    import time
    time.sleep(2.5)
    assert k.client.hb_channel.is_beating()
    k.interrupt()
    k.result(name)


def test_two_frontends_see_the_same(case):
    k = case.kernel()
    other = k.connect()
    other.wait_for_ready(timeout=30)
    name = k.start('print("both")')
    k.result(name)
    seen = []
    while not seen or seen[-1] != 'idle':
        message = other.get_iopub_msg(timeout=10)
        if message['parent_header'].get('msg_id') == name:
            seen.append(message['content'].get('text', message['content'].get('execution_state')))
    assert 'both\n' in seen, seen
    other.stop_channels()
