"""Tab: what is common, the menu below, the signature of the call."""
from driver import KEY

C = KEY.control


def test_one_candidate_is_put_in(case):
    s = case.session()
    s.run(1, 'alphabetical = 1')
    s.keys('0 + alphab' + KEY.tab)
    s.expect_prompt(2, '0 + alphabetical')


def test_a_menu_of_several(case):
    s = case.session()
    s.run(1, 'zebra_one = 1')
    s.run(2, 'zebra_two = 2')
    s.keys('0 + ze' + KEY.tab)
    s.wait(lambda: s.cursor_line() == 'In [3]: 0 + zebra_' and 'zebra_one' in s.lines()[-2] and 'zebra_two' in s.lines()[-1],
           'expected what is common, and both below')
    s.keys(KEY.tab)
    s.wait(lambda: s.cursor_line().startswith('In [3]: 0 + zebra_one'), 'expected the first')
    assert s.style_at(s.cursor()[0] + 1, 0).reverse
    s.keys(KEY.down)
    s.wait(lambda: s.cursor_line().startswith('In [3]: 0 + zebra_two'), 'expected the second')
    s.keys(KEY.enter)  # taken, not run
    s.wait(lambda: s.lines()[-1] == 'In [3]: 0 + zebra_two', 'expected no menu')
    s.keys(KEY.enter)
    s.expect('Out[3]: 2')


def test_a_menu_is_left(case):
    s = case.session()
    s.run(1, 'zebra_one = zebra_two = 1')
    s.keys('1 + zebra_' + KEY.tab + KEY.tab)
    s.expect_prompt(2, '1 + zebra_one')
    s.keys(C('c'))
    s.expect_prompt(2, '1 + zebra_')
    s.keys(KEY.tab + KEY.tab + ' + 0')
    s.expect_prompt(2, '1 + zebra_one + 0')
    s.keys(KEY.enter)
    s.expect('Out[2]: 2')


def test_attributes_of_torch_in_columns(case):
    s = case.session()
    s.run(1, 'import torch')
    s.keys('torch.lo' + KEY.tab)
    s.expect('logsumexp')
    s.wait(lambda: s.lines()[-1].endswith('candidates'), 'expected their number')
    s.keys(KEY.escape)
    s.wait(lambda: s.lines()[-1].startswith('In [2]: torch.lo'), 'expected no menu')


def test_signature_while_typing_in_a_call(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys(KEY.paste('def add(first, second=2): return first + second') + KEY.enter)
    s.expect_prompt(2)
    s.keys('add(')
    s.wait(lambda: 'first, second=2' in s.lines()[-1], 'expected the signature')
    row = len(s.lines()) - 1
    at = s.lines()[-1].index('first')
    assert s.style_at(row, at).bold and not s.style_at(row, at + 8).bold
    s.keys('1, ')
    s.wait(lambda: s.style_at(row, at + 8).bold and not s.style_at(row, at).bold, 'expected the second argument marked')
    s.keys('2)' + KEY.enter)
    s.expect('Out[2]: 3')
    assert s.text().count('first, second=2') == 1


def test_tab_in_indentation_indents(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys(KEY.tab + 'x')
    s.expect_prompt(1, '    x')
