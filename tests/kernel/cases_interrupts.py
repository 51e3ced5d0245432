"""Interrupts: the reply is there 50 ms after, whatever runs."""
MOST = 0.050
WAITS = {'a child process': 0.25}  # subprocess gives the child that long to end by itself, as CPython's does
RUNNING = {
    'a loop': 'while True:\n    pass',
    'a sleep': 'import time\ntime.sleep(60)',
    'a product of matrices': 'a = torch.rand(2500, 2500)\nwhile True:\n    b = a @ a',
    'a convolution': 'x = torch.rand(4, 32, 128, 128)\nw = torch.rand(64, 32, 5, 5)\nwhile True:\n    F.conv2d(x, w)',
    'a gradient': 'w = torch.rand(800, 800, requires_grad=True)\nwhile True:\n    (w @ w).tanh().sum().backward()',
    'a sort': 'sorted(range(10 ** 8))',
    'input': 'input("x")',
    'a child process': 'import subprocess\nsubprocess.run(["sleep", "60"])',
    'the shell': '!sleep 60',
    'printing': 'while True:\n    print("line")',
}


def check(case, by):
    k = case.kernel()
    k.good('a = torch.rand(3, 3) @ torch.rand(3, 3)')
    slow = []
    for what, code in RUNNING.items():
        for attempt in range(3):  # on a busy machine
            result = k.interrupted(code, allow_stdin=True, by=by(k))
            assert result.reply['status'] == 'error' and result.reply['ename'] == 'KeyboardInterrupt', (what, result.reply)
            if result.seconds < MOST * case.slow + WAITS.get(what, 0):
                break
        else:
            slow.append(f'{what}: {1000 * result.seconds:.0f} ms')
        assert k.value('1 + 1') == '2', what
    assert not slow, slow


def test_timed_by_signal(case):
    check(case, lambda k: None)


def test_timed_by_message(case):
    """Those who cannot send a signal ask on the control channel, which is heard while a cell runs."""

    def by(k):
        def ask():
            k.names.append(k.send('interrupt_request', {}, 'control'))
        k.names = []
        return ask

    check(case, by)
    k = case.kernel()
    assert k.reply_to(k.send('interrupt_request', {}, 'control'), 'control')['content'] == {'status': 'ok'}


def test_an_idle_kernel_is_interrupted(case):
    k = case.kernel()
    for _ in range(20):
        k.interrupt()
    assert k.value('5') == '5'


def test_an_interrupt_empties_the_queue(case):
    k = case.kernel()
    first = k.start('import time; time.sleep(60)')
    second = k.start('x = 1')
    import time
    time.sleep(0.3)
    k.interrupt()
    assert k.reply_to(first)['content']['ename'] == 'KeyboardInterrupt'
    assert k.reply_to(second)['content'] == {'status': 'aborted'}


def test_a_cell_may_catch_it(case):
    k = case.kernel()
    result = k.interrupted('import time\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    print("caught")')
    assert result.reply['status'] == 'ok' and result.text() == 'caught\n'


def test_while_a_large_cell_is_compiled(case):
    """It is heard at the latest when the cell has been compiled."""
    k = case.kernel()
    code = 'x = ' + ' + '.join(['"a"'] * 1_500_000)
    result = k.interrupted(code, after=0.05)
    assert result.reply.get('ename') == 'KeyboardInterrupt', result.reply
    assert k.value('1 + 1') == '2'
