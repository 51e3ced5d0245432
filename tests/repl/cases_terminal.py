"""The terminal itself: its modes, its size, its end; programs that write to it; sessions without one."""
import os
import signal
import subprocess
import time

from driver import KEY

C = KEY.control
TYPING = {'echo': False, 'lines': False, 'signals': False}
RUNNING = {'echo': True, 'lines': True, 'signals': True}


def test_modes(case):
    s = case.session()
    s.expect_prompt(1)
    assert s.modes() == TYPING
    s.line('answer = input("no" + "w: ")')  # what is typed is not what is expected
    s.expect('now:')
    assert s.modes() == RUNNING
    s.line('yes')
    s.expect_prompt(2)
    assert s.modes() == TYPING
    s.keys(C('d'))
    s.expect_end(0)
    assert s.modes() == RUNNING


def test_modes_are_given_back_by_what_ends_it(case):
    for number in (signal.SIGTERM, signal.SIGQUIT):
        s = case.session()
        s.expect_prompt(1)
        s.keys('ab = 1')
        s.expect_screen('In [1]: ab = 1')
        keeper = os.dup(s.master)
        s.signal(number)
        s.expect_end(-number)
        assert s.modes() == RUNNING
        assert s.cursor() == (2, 0), 'what ends it goes on in the block'
        os.close(keeper)
    s = case.session()
    s.expect_prompt(1)
    s.line('import os; os.abort()')
    s.expect_end(-signal.SIGABRT)
    assert s.modes() == RUNNING
    s = case.session()
    s.expect_prompt(1)
    s.line('raise SystemExit("out")')
    s.expect_end(1)
    assert s.modes() == RUNNING


def test_suspend_and_resume(case):
    s = case.session()
    s.run(1, 'kept = 5')
    s.keys('kept + ' + C('z'))
    pid, status = os.waitpid(s.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    assert s.modes() == RUNNING
    s.signal(signal.SIGCONT)
    s.wait(lambda: s.modes() == TYPING, 'expected the modes again')
    s.keys('1')
    s.expect_prompt(2, 'kept + 1')
    s.keys(KEY.enter)
    s.expect('Out[2]: 6')
    s.expect_prompt(3)
    s.signal(signal.SIGTSTP)  # from outside
    os.waitpid(s.pid, os.WUNTRACED)
    assert s.modes() == RUNNING
    s.signal(signal.SIGCONT)
    s.run(3, 'kept', 'Out[3]: 5')


def test_hangup(case):
    s = case.session()
    s.run(1, 'kept = 5')
    s.keys('half')
    s.expect_prompt(2, 'half')
    s.hang_up()
    s.expect_end(129)
    assert open(case.folder + '/history').read() == 'kept = 5\n'


def test_a_terminal_that_is_gone(case):
    s = case.session(env={'TESSERA_HISTORY': None})
    s.run(1, 'import signal; before = signal.signal(signal.SIGHUP, signal.SIG_IGN)')
    s.keys('half')
    s.expect_prompt(2, 'half')
    s.hang_up()
    s.expect_end(129)


def test_interrupt_from_outside(case):
    s = case.session()
    s.run(1, 'kept = 5')
    s.keys('half typed')
    s.expect_prompt(2, 'half typed')
    s.signal(signal.SIGINT)
    s.expect('half typed^C')
    s.run(2, 'kept', 'Out[2]: 5')


def interrupted(case, block, shown=None, enter=True):
    """The block is begun, says so, and is interrupted; the session goes on."""
    s = case.session()
    s.run(1, 'kept = 5')
    s.keys(KEY.paste(block) + KEY.enter)
    if shown:
        s.expect(shown)
    s.wait(lambda: s.modes()['signals'], 'expected the block to run')
    s.keys(C('c'))
    s.expect('KeyboardInterrupt')
    s.expect_prompt(3)
    assert '^CTraceback' not in s.text()
    s.run(3, 'kept + 1', 'Out[3]: 6')


def test_interrupt_half_a_block(case):
    s = case.session()
    s.run(1, 'kept = 5')
    s.line('def f():')
    s.keys('return 1')
    s.keys(C('c'))
    s.expect('return 1^C')
    s.expect_prompt(2)
    s.run(2, 'kept', 'Out[2]: 5')


def test_interrupt_a_search_and_a_menu(case):
    s = case.session()
    s.run(1, 'kept = 5')
    s.keys('ty' + C('r') + 'kept' + C('c'))
    s.expect_prompt(2, 'ty')
    s.keys(C('c'))
    s.expect('ty^C')
    s.run(2, 'kept', 'Out[2]: 5')


def test_interrupt_while_true(case):
    interrupted(case, 'print("be" + "gun")\nwhile True: pass', 'begun')


def test_interrupt_sleep(case):
    interrupted(case, 'import time; print("be" + "gun"); time.sleep(100)', 'begun')


def test_interrupt_input(case):
    interrupted(case, 'x = input("wh" + "at? ")', 'what?')


def test_interrupt_a_generator(case):
    interrupted(case, 'print("be" + "gun"); sum(1 for i in range(10**12))', 'begun')


def test_interrupt_prints(case):
    interrupted(case, 'i = 0\nwhile True: print("be" + "gun", i); i += 1', 'begun')


def test_interrupt_a_deep_call(case):
    interrupted(case, 'def f(n):\n    return f(n - 1) + f(n - 2) if n > 1 else n\n\nprint("be" + "gun"); f(60)', 'begun')


def test_interrupt_a_subprocess(case):
    interrupted(case, 'import subprocess; print("be" + "gun"); subprocess.run(["sleep", "100"])', 'begun')


def test_interrupt_small_tensors(case):
    interrupted(case, 'import torch; x = torch.ones(4); print("be" + "gun")\nwhile True: x = x + 1', 'begun')


def test_interrupt_backward(case):
    interrupted(case, 'import torch; w = torch.ones(64, 64, requires_grad=True); print("be" + "gun")\n'
                      'while True: (w @ w).sum().backward()', 'begun')


def test_interrupt_that_a_script_catches(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys(KEY.paste('try:\n    print("be" + "gun")\n    while True: pass\nexcept KeyboardInterrupt: print("caught" + " it")') + KEY.enter)
    s.expect('begun')
    s.keys(C('c'))
    s.expect('caught it')
    s.expect_prompt(2)


def test_interrupt_twice(case):
    s = case.session()
    s.expect_prompt(1)
    s.line('print("be" + "gun"); x = sum(1 for i in range(10**12))')
    s.expect('begun')
    s.keys(C('c') + C('c'))
    s.expect('KeyboardInterrupt')
    s.expect_prompt(2)
    s.run(2, '1 + 1', 'Out[2]: 2')


def test_resize(case):
    s = case.session(columns=80, rows=20)
    s.run(1, 'import os; size = os.get_terminal_size')
    s.keys('"' + 'a' * 30 + '"')
    s.expect_prompt(2, '"' + 'a' * 30 + '"')
    s.resize(20, 60)
    s.keys('[:3]')
    s.expect_prompt(2, '"' + 'a' * 30 + '"[:3]')
    s.keys(' + "' + 'b' * 30 + '"')
    s.wait(lambda: len(s.cursor_line()) < 60 and 'b"' in s.cursor_line(), 'expected the line wrapped at 60')
    s.resize(20, 100)
    s.wait(lambda: 'b"' in s.cursor_line() and s.cursor_line().startswith('In [2]'), 'expected one line at 100')
    s.keys(KEY.enter)
    s.expect("Out[2]: 'aaa" + 'b' * 30 + "'")
    s.run(3, 'size().columns', 'Out[3]: 100')


def test_resize_to_almost_nothing(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys('x = "abcdefghij"')
    for rows, columns in ((2, 5), (1, 2), (1, 1), (3, 9), (24, 80)):
        s.resize(rows, columns)
        s.keys(' ')
    s.keys(KEY.enter)
    s.expect_prompt(2)
    s.run(2, 'x', "Out[2]: 'abcdefghij'")


def test_output_without_an_end_is_not_written_over(case):
    s = case.session()
    s.run(1, 'print("no end", end="")')
    assert 'no end⏎' in s.lines()
    s.run(2, 'import subprocess; done = subprocess.run(["printf", "from outside"])')
    assert 'from outside⏎' in s.lines()
    s.run(3, 'print("x" * 100, end="")')  # to the very margin
    assert 'x' * 100 in s.lines()


def test_a_line_that_is_written_over(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys(KEY.paste('import time\nfor i in range(5): print(f"step {i}", end="\\r")\nprint("done  ")') + KEY.enter)
    s.expect_prompt(2)
    assert 'done' in s.lines() and not any('step' in line and 'print' not in line for line in s.lines())
    assert s.received.count(b'step 3\r') == 1


def test_a_progress_bar(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys(KEY.paste('from tqdm import tqdm\nfor i in tqdm(range(20), desc="bar"): pass') + KEY.enter)
    s.expect_prompt(2)
    bars = [line for line in s.lines() if line.startswith('bar')]
    assert len(bars) == 1 and '100%' in bars[0], s.text()


def test_typed_ahead(case):
    s = case.session()
    s.expect_prompt(1)
    s.line('import time; print("be" + "gun"); time.sleep(0.5)')
    s.expect('begun')
    s.keys('a = 20\rb = a + 1\rb * 2\r')
    s.expect('Out[4]: 42')
    s.expect_prompt(5)


def test_typed_ahead_for_input(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys('name = input()\rAda\rname + "!"\r')
    s.expect("Out[2]: 'Ada!'")


def test_typed_ahead_half(case):
    s = case.session()
    s.expect_prompt(1)
    s.line('import time; print("be" + "gun"); time.sleep(0.3)')
    s.expect('begun')
    s.keys('half')
    s.expect_prompt(2, 'half')
    s.keys(C('c'))
    s.expect_prompt(2)


def test_clear(case):
    s = case.session()
    s.run(1, 'print("old")')
    s.keys('new' + C('l'))
    s.expect_screen('In [2]: new')
    assert s.lines() == ['In [2]: new'] and s.cursor() == (0, 11)


def test_dumb_terminals_have_lines(case):
    for term in ('dumb', None):
        s = case.session(env={'TERM': term})
        s.run(1, '6 * 7', 'Out[1]: 42')
        s.line('def f():')
        s.expect_line('   ...:')
        s.line('    return 8')
        s.wait(lambda: s.text().count('...:') == 2, 'expected another line')
        s.line('')
        s.run(3, 'f()', 'Out[3]: 8')
        assert b'\x1b' not in s.received
        s.keys(C('d'))
        s.expect_end(0)


def test_pipes(case):
    ran = subprocess.run([case.tsr], input='x = 6\nprint(x * 7)\nx\n', capture_output=True, text=True, timeout=20)
    assert (ran.stdout, ran.stderr, ran.returncode) == ('42\n', '', 0)
    s = case.session()
    s.expect_prompt(1)
    # Standard output is no terminal: nothing of ours but text goes there.
    with open(case.folder + '/out', 'wb') as out:
        master, slave = os.openpty()
        program = subprocess.Popen([case.tsr], stdin=slave, stdout=out, stderr=slave, env={**os.environ, 'TERM': 'xterm-256color', 'HOME': case.folder})
        os.write(master, b'6 * 7\nexit()\n')
        program.wait(20)
        os.close(slave)
        os.close(master)
    written = open(case.folder + '/out', 'rb').read()
    assert b'Out[1]: 42' in written and b'\x1b' not in written, written


def test_vt100_has_no_unicode_of_ours(case):
    s = case.session(env={'LANG': 'en_US.ISO-8859-1', 'LC_ALL': None})
    s.run(1, 'print("no end", end="")')
    assert 'no end%' in s.lines()
