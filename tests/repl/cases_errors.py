"""Errors and interrupts at a prompt: notes with the names of blocks, :why and what it mends, Ctrl-C in the middle."""
import re

from driver import KEY


def test_notes_name_the_blocks(case):
    s = case.session(columns=120)
    s.run(1, 'a = torch.ones(2, 3)')
    s.run(2, 'b = torch.ones(4, 3)')
    s.run(3, 'a @ b', 'hint: a @ b.T would fit')
    s.expect('a: float32[2, 3], made at In [1]:1')
    s.expect('b: float32[4, 3], made at In [2]:1')


def test_why_shows_variables_and_the_mended_line(case):
    s = case.session(columns=120, rows=40)
    s.run(1, 'a = torch.ones(2, 3)')
    s.run(2, 'f = lambda x, w: x @ w')
    s.run(3, 'f(a, torch.full((4, 3), 2.0))', 'would fit')
    s.run(4, ':why', 'To mend it, In [2]:1')
    s.expect('w  float32[4, 3], all 2')
    s.expect('  - f = lambda x, w: x @ w')


def test_why_without_an_error(case):
    s = case.session()
    s.run(1, ':why', 'Nothing has gone wrong so far.')


def test_the_last_error_is_there_for_python(case):
    s = case.session()
    s.run(1, '1 / 0', 'ZeroDivisionError')
    s.run(2, 'import sys; sys.last_value', 'Out[2]: ZeroDivisionError(\'division by zero\')')


def test_an_interrupt_says_where_it_was_and_no_more(case):
    s = case.session(rows=40)
    s.run(1, 'layer = nn.LSTM(64, 64, 2); x = torch.ones(200, 16, 64)')
    s.line('print("be" + "gun"); [layer(x) for _ in range(10**6)]')
    s.expect('begun')
    s.keys(KEY.control('c'))
    s.expect('KeyboardInterrupt')
    s.expect_prompt(3)
    assert 'stdlib/' not in s.text()
    assert 'File "In [2]", line 1, in <module>' in s.text()
    s.run(3, 'x.shape', 'torch.Size([200, 16, 64])')


def test_an_interrupted_print_is_dropped(case):
    s = case.session()
    s.run(1, 'numbers = list(range(10**6))')
    s.line('for _ in range(1000): print(numbers)\n')
    s.expect(re.compile(r'\d+, \d+, \d+, \d+'))
    s.keys(KEY.control('c'))
    s.expect('KeyboardInterrupt')
    s.expect_prompt(3)
    s.run(3, '6 * 7', 'Out[3]: 42')
