"""What is run: blocks, output, errors, interrupts, input, what is asked in between, and workers that end."""
import os
import pathlib
import signal
import time


def test_a_tab_is_told_what_there_is(case):
    hello = case.tab().hello
    assert hello['document']['text'] == '' and hello['document']['saved'] and hello['document']['format'] == 'tsr'
    assert hello['log'] == [] and hello['draft'] is None and hello['folder'] == str(case.folder)
    assert hello['state']['queue'] == [] and hello['state']['block'] is None
    assert any(example['name'] == 'regression.tsr' and 'line through points' in example['about'] for example in hello['examples'])


def test_a_block_prints_and_shows_its_value(case):
    tab = case.tab()
    text, said, done = tab.execute('print(1 + 1)\n"a" * 3')
    assert text == '2\n' and done['outcome'] == 'done' and done['number'] == 1 and done['seconds'] >= 0
    result = [m for m in said if m['type'] == 'result'][0]
    assert result['number'] == 1 and result['forms']['text/plain'] == "'aaa'"
    assert tab.execute('_')[1][0]['number'] == 2


def test_a_blank_block_has_no_number(case):
    tab = case.tab()
    done = tab.execute(' \n')[2]
    assert done['outcome'] == 'done' and done['number'] is None
    assert tab.execute('1')[2]['number'] == 1


def test_an_error_has_its_places(case):
    tab = case.tab()
    _, said, done = tab.execute('def f(x):\n    return 1 / x\nf(0)')
    error = [m for m in said if m['type'] == 'error'][0]
    assert done['outcome'] == 'failed' and error['name'] == 'ZeroDivisionError' and error['message'] == 'division by zero'
    assert [(p['file'], p['line']) for p in error['places']] == [('In [1]', 3), ('In [1]', 2)]
    _, said, _ = tab.execute('x = (1 +')
    assert [m for m in said if m['type'] == 'error'][0]['name'] == 'SyntaxError'


def test_blocks_follow_one_another_and_a_failed_one_ends_the_queue(case):
    tab = case.tab()
    texts = ['a = 1', 'print(a)', 'boom', 'print("never")', 'print("nor this")']
    tab.send('run', blocks=[{'text': text, 'origin': {'where': 'editor', 'cell': None, 'line': 0, 'key': str(i)}} for i, text in enumerate(texts)])
    outcomes = [tab.wait('finished')['outcome'] for _ in texts]
    assert outcomes == ['done', 'done', 'failed', 'dropped', 'dropped'], outcomes
    keys = [m['origin']['key'] for m in tab.seen if m['type'] == 'started']
    assert keys == ['0', '1', '2', '3', '4'], keys
    assert [m['text'] for m in tab.seen if m['type'] == 'stream'] == ['1\n']


def test_a_queued_block_is_in_the_state(case):
    tab = case.tab()
    tab.send('run', blocks=[{'text': 'import time; time.sleep(5)', 'origin': {'key': 'a'}}, {'text': '2', 'origin': {'key': 'b'}}])
    while True:
        state = tab.wait('state')
        if state['block'] == 1 and state['queue']:
            break
    assert state['worker'] == 'running' and state['queue'][0]['origin']['key'] == 'b'
    tab.send('interrupt')
    assert [tab.wait('finished')['outcome'] for _ in range(2)] == ['dropped', 'interrupted']


def test_two_tabs_see_the_same(case):
    server = case.server()
    one, two = server.tab(), server.tab()
    one.execute('print("both")')
    assert two.wait('stream')['text'] == 'both\n'
    two.wait('finished')
    late = server.tab()
    assert [m['type'] for m in late.hello['log']] == ['started', 'stream', 'finished']
    assert late.hello['log'][0]['text'] == 'print("both")' and late.hello['state']['number'] == 2


def test_a_tab_that_closes_stops_nothing(case):
    server = case.server()
    tab = server.tab()
    block = tab.run('import time\nfor i in range(5):\n    print(i)\n    time.sleep(0.1)\ndone = True')
    tab.socket.close()
    other = server.tab()
    other.finish(block)
    assert other.execute('print(done)')[0] == 'True\n'


def test_clearing_the_log_is_for_all(case):
    server = case.server()
    one, two = server.tab(), server.tab()
    one.execute('print(1)')
    one.send('clear_log')
    two.wait('log_cleared')
    assert server.tab().hello['log'] == []


def test_interrupts_end_what_runs(case):
    tab = case.tab()
    tab.execute('import time, torch\na = torch.ones(1500, 1500)')
    for text in ('while True:\n    pass', 'time.sleep(60)', 'while True:\n    b = a @ a', 'input()',
                 'import subprocess; subprocess.run(["sleep", "60"])', '!sleep 60', 'try:\n    time.sleep(60)\nfinally:\n    print("tidy")'):
        block = tab.run(text)
        time.sleep(0.15)
        tab.send('interrupt')
        said, done = tab.finish(block, 10)
        assert done['outcome'] == 'interrupted', (text, done, said)
        if 'tidy' in text:
            assert any(m.get('text') == 'tidy\n' for m in said)


def test_an_interrupt_that_comes_with_its_block_is_heard(case):
    tab = case.tab()
    for text in ('while True: pass', 'import time; time.sleep(60)') * 10:
        tab.send('run', blocks=[{'text': text, 'origin': {}}])
        tab.send('interrupt')
        assert tab.wait('finished', 10)['outcome'] in ('interrupted', 'dropped')


def test_a_caught_interrupt_comes_once(case):
    tab = case.tab()
    block = tab.run('import time\nfor i in range(3):\n    try:\n        time.sleep(0.5)\n    except KeyboardInterrupt:\n        print("caught")')
    time.sleep(0.2)
    tab.send('interrupt')
    said, done = tab.finish(block)
    assert done['outcome'] == 'done' and [m['text'] for m in said if m['type'] == 'stream'] == ['caught\n'], said


def test_input_is_answered_once(case):
    server = case.server()
    one, two = server.tab(), server.tab()
    block = one.run("name = input('who? ')\nprint('hello', name)")
    asked = two.wait('input_request')
    assert asked['prompt'] == 'who? ' and not asked['hidden'] and asked['block'] == block
    assert server.tab().hello['state']['worker'] == 'waiting'
    two.send('input', id=asked['id'], text='Ann ü 😀')
    one.send('input', id=one.wait('input_request')['id'], text='Bob')
    said, done = one.finish(block)
    assert [m['text'] for m in said if m['type'] == 'stream'] == ['hello Ann ü 😀\n'], said
    assert any(m['type'] == 'input_done' and m['text'] == 'Ann ü 😀' for m in said)
    two.finish(block)
    one.send('input', id=asked['id'], text='late')
    assert 'answered already' in one.wait('problem')['text']


def test_input_hidden_ended_interrupted(case):
    tab = case.tab()
    block = tab.run('import getpass\nprint(len(getpass.getpass("key: ")))')
    asked = tab.wait('input_request')
    assert asked['hidden']
    tab.send('input', id=asked['id'], text='secret')
    said, _ = tab.finish(block)
    assert [m['text'] for m in said if m['type'] == 'input_done'] == [''] and 'secret' not in str(said)
    block = tab.run('input()')
    tab.send('input', id=tab.wait('input_request')['id'], end=True)
    said, done = tab.finish(block)
    assert [m['name'] for m in said if m['type'] == 'error'] == ['EOFError']
    block = tab.run('input("? ")')
    tab.wait('input_request')
    tab.send('interrupt')
    said, done = tab.finish(block)
    assert done['outcome'] == 'interrupted' and [m.get('dropped') for m in said if m['type'] == 'input_done'] == [True]


def test_what_is_asked_in_between(case):
    tab = case.tab()
    tab.execute('import torch\nwéights = torch.ones(3)')
    found = tab.ask('complete', 'completion', text='x = "😀"; wéi', cursor=13)
    assert (found['begin'], found['end']) == (10, 13) and found['candidates'][0]['text'] == 'wéights', found
    call = tab.ask('call', 'call_help', text='torch.add(1, ', cursor=13)
    assert call['signature'].startswith('torch.add(') and call['signature'][call['begin']:call['end']].startswith('other'), call
    assert tab.ask('call', 'call_help', text='1 + ', cursor=4)['signature'] == ''
    assert 'Adds' in tab.ask('help', name='torch.add')['text']
    assert tab.ask('help', name='no_such_name').get('text', '') or True
    assert tab.ask('state', 'block_state', text='for i in x:') == {'type': 'block_state', 'ask': tab.asks, 'state': 'incomplete', 'indent': '    '}
    assert tab.ask('state', 'block_state', text='x = )')['state'] == 'invalid'
    assert tab.ask('state', 'block_state', text='x = 1')['state'] == 'complete'


def test_who_asks_while_a_block_runs_is_answered(case):
    tab = case.tab()
    tab.execute('import torch, time')
    block = tab.run('x = torch.zeros(4)\nwhile True:\n    x += 1\n    time.sleep(0.001)')
    time.sleep(0.2)
    assert tab.ask('complete', 'completion', text='tor', cursor=3)['busy']
    assert tab.ask('help', name='torch')['busy']
    assert tab.ask('state', 'block_state', text='if x:')['state'] == 'incomplete'
    tab.quiet(0.05).seen.clear()
    tab.send('tensors')
    table = tab.wait('tensors', 5)
    assert table['running'] and [row['name'] for row in table['tensors']] == ['x'], table
    values = [tab.ask('tensor', name='x')['row']['statistics']['max'] for _ in range(2)]
    assert 0 < values[0] <= values[1]
    assert 'problem' in tab.ask('tensor', name='x + 1')  # would have to be run
    assert 'problem' in tab.ask('graph', name='x')
    tab.send('interrupt')
    assert tab.finish(block)[1]['outcome'] == 'interrupted'


def test_tensors_while_input_waits(case):
    tab = case.tab()
    block = tab.run('import torch\nx = torch.ones(2)\ninput()')
    asked = tab.wait('input_request')
    tab.send('tensors')
    assert [row['name'] for row in tab.wait('tensors', 5)['tensors']] == ['x']
    tab.send('input', id=asked['id'], text='')
    assert tab.finish(block)[1]['outcome'] == 'done'


def test_tensors_graph_and_gradient(case):
    tab = case.tab()
    tab.execute('import torch\nfrom torch import nn\nmodel = nn.Sequential(nn.Linear(2, 3))\ny = model(torch.ones(1, 2)).sum()\ny.backward(retain_graph=True)')
    names = [row['name'] for row in tab.wait('tensors')['tensors']]
    assert {'model.0.weight', 'y'} <= set(names), names
    tensor = tab.ask('tensor', name='model.0.weight')
    assert tensor['row']['shape'] == [3, 2] and tensor['heat']['rows'] == 3 and 'histogram' in tensor, tensor
    assert tab.ask('graph', name='y')['nodes'][0]['name'] == 'SumBackward0'
    assert tab.ask('tensor', name='model[0].bias + 1')['row']['shape'] == [3]  # an expression, as nothing runs
    for name in ('nothing', '', '1 +', 'model', '\0', 'x' * 100000):
        assert tab.ask('tensor', name=name)['problem'], name


def test_history(case):
    tab = case.tab()
    for text in ('a = 1', 'b = 2'):
        tab.execute(text)
    assert tab.ask('history')['blocks'][-2:] == ['a = 1', 'b = 2']


def test_offers_help_and_clears(case):
    tab = case.tab()
    case.file('some.tsr', 'x = 5\n')
    assert [m['text'] for m in tab.execute(':load some.tsr')[1] if m['type'] == 'offer'] == ['x = 5\n']
    assert any(m['type'] in ('page', 'stream') and 'Adds' in m['text'] for m in tab.execute('import torch\ntorch.add?')[1])
    said = tab.execute('from IPython.display import clear_output\nprint(1)\nclear_output()\nprint(2)')[1]
    assert [m['type'] for m in said] == ['stream', 'clear', 'stream'], said


def test_what_programs_print_that_are_started(case):
    tab = case.tab()
    text, said, _ = tab.execute('import subprocess, time\nsubprocess.run("echo from below; echo badly >&2", shell=True)\ntime.sleep(0.1)')
    assert 'from below\n' in text and 'badly\n' in text, said
    assert {m['name'] for m in said if m['type'] == 'stream'} == {'stdout', 'stderr'}


def test_what_copies_of_the_worker_print(case):
    tab = case.tab()
    text, said, done = tab.execute("""import torch, time
class Items(torch.utils.data.Dataset):
    def __len__(self): return 200
    def __getitem__(self, i):
        print('item', i, 'x' * 500)
        return torch.tensor(i)
print(sum(len(batch) for batch in torch.utils.data.DataLoader(Items(), batch_size=4, num_workers=2)))
time.sleep(0.2)""")
    items = sorted(int(line.split()[1]) for line in text.split('\n') if line.startswith('item ') and line.endswith('x' * 500))
    assert done['outcome'] == 'done' and items == list(range(200)) and '\n200\n' in text, (len(items), text[-300:])


def test_bytes_that_are_no_text(case):
    tab = case.tab()
    text, _, done = tab.execute('import os, time\n_ = os.write(1, b"\\xff\\xfe\\n")\ntime.sleep(0.1)')
    assert text == '\ufffd\ufffd\n' and done['outcome'] == 'done', text


def test_a_worker_that_is_killed_is_replaced(case):
    server = case.server()
    tab = server.tab()
    tab.execute('x = 1')
    tab.edit([(0, 0, 'kept')], 0)
    block = tab.run('while True: pass')
    tab.send('run', blocks=[{'text': 'print(2)', 'origin': {}}])
    os.kill(server.workers()[0], signal.SIGKILL)
    assert tab.finish(block)[1]['outcome'] == 'died'
    assert tab.wait('finished')['outcome'] == 'dropped'
    assert tab.wait('ended') == {'type': 'ended', 'reason': 'died', 'word': 'killed by signal 9 (Killed)'}
    _, said, done = tab.execute('x')
    assert done['number'] == 1 and [m['name'] for m in said if m['type'] == 'error'] == ['NameError']
    assert server.tab().hello['document']['text'] == 'kept'


def test_every_way_to_end_is_told(case):
    tab = case.tab()
    for text, reason, word in (('import os; os.kill(os.getpid(), 15)', 'died', 'killed by signal 15'), ('import os; os._exit(7)', 'died', 'status 7'),
                               ('exit()', 'left', 'left with status 0'), ('import sys; sys.exit(3)', 'left', 'status 3'), (':quit', 'left', 'left')):
        tab.run(text)
        ended = tab.wait('ended')
        assert ended['reason'] == reason and word in ended['word'], (text, ended)
    assert tab.execute('print(1)')[0] == '1\n'


def test_atexit_functions_run(case):
    tab = case.tab()
    tab.run(f'import atexit\natexit.register(lambda: open({str(case.folder / "left")!r}, "w").close())\nexit()')
    tab.wait('ended')
    assert (case.folder / 'left').exists()


def test_restart_takes_the_names_and_what_was_started(case):
    server = case.server()
    tab = server.tab()
    tab.execute('import subprocess\nx = 1\nchild = subprocess.Popen(["sleep", "1000"])')
    child = int(tab.execute('print(child.pid)')[0])
    block = tab.run('import time; time.sleep(100)')
    tab.send('restart')
    assert tab.finish(block)[1]['outcome'] == 'died'
    assert tab.wait('ended')['reason'] == 'restart'
    assert [m['name'] for m in tab.execute('x')[1] if m['type'] == 'error'] == ['NameError']
    for _ in range(100):
        if not pathlib.Path(f'/proc/{child}').exists():
            break
        time.sleep(0.02)
    else:
        raise AssertionError('what the worker started runs on')


def test_what_is_run_after_a_restart_is_for_the_new_worker(case):
    tab = case.tab()
    for i in range(15):
        tab.execute('old = 1')
        if i % 3:
            tab.run('import time; time.sleep(100)')
        tab.send('restart')
        _, said, done = tab.execute('old')
        assert done['number'] == 1 and [m['name'] for m in said if m['type'] == 'error'] == ['NameError'], (i, said, done)


def test_every_block_begins_and_ends(case):
    server = case.server()
    tab = server.tab()
    for _ in range(15):
        tab.execute('1')
        os.kill(server.workers()[0], signal.SIGKILL)
        tab.finish(tab.run('2'))
    log = server.tab().hello['log']
    assert [m['block'] for m in log if m['type'] == 'started'] == [m['block'] for m in log if m['type'] == 'finished'] == list(range(1, 31)), log


def test_a_worker_that_cannot_start_is_not_started_for_ever(case):
    tab = case.tab('--device', 'nonsense')
    for _ in range(50):
        state = tab.wait('state')
        if state['worker'] == 'gone':
            break
    log = case.servers[0].tab().hello['log']
    assert len([m for m in log if m['type'] == 'ended']) == 4, log
    assert any('nonsense' in m.get('text', '') for m in log), log
    assert tab.ask('complete', 'completion', text='x', cursor=1)['problem']


def test_the_worker_knows_nothing_of_the_server(case):
    server = case.server()
    tab = server.tab()
    text = tab.execute('import os\nprint(sorted(os.listdir("/proc/self/fd")))\nprint(dict(os.environ))\nprint(open("/proc/self/cmdline").read())')[0]
    assert server.token not in text
    targets = tab.execute('for fd in os.listdir("/proc/self/fd"):\n    try:\n        print(os.readlink("/proc/self/fd/" + fd))\n    except OSError:\n        pass')[0]
    assert targets.count('socket:') == 1, targets  # the channel


def test_a_killed_server_leaves_no_worker(case):
    server = case.server()
    tab = server.tab()
    tab.execute('x = 1')
    worker = server.workers()[0]
    tab.run('while True: pass')
    server.process.kill()
    server.process.wait()
    for _ in range(100):
        if not pathlib.Path(f'/proc/{worker}').exists() or ' Z ' in pathlib.Path(f'/proc/{worker}/stat').read_text():
            return
        time.sleep(0.02)
    raise AssertionError('the worker runs on')
