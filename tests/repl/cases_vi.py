"""vi's keys, by $TESSERA_KEYS and by ~/.inputrc."""
from driver import KEY

C, ESC = KEY.control, KEY.escape


def session(case):
    s = case.session(env={'TESSERA_KEYS': 'vi'})
    s.expect_prompt(1)
    return s


def test_insert_and_command(case):
    s = session(case)
    s.keys('one two three' + ESC)
    s.wait(lambda: s.cursor() == (1, 8 + 12), 'expected the cursor on the last letter')
    s.keys('0wcwTWO' + ESC)
    s.wait(lambda: s.cursor_line() == 'In [1]: one TWO three', 'expected the word changed')
    s.keys('w.')
    s.wait(lambda: s.cursor_line() == 'In [1]: one TWO TWO', 'expected it repeated')
    s.keys('uu')
    s.wait(lambda: s.cursor_line() == 'In [1]: one two three', 'expected both undone')
    s.keys('02dwx')
    s.wait(lambda: s.cursor_line() == 'In [1]: hree', 'expected two words and a letter gone')
    s.keys('cc6 * 7\r')
    s.expect('Out[1]: 42')


def test_blocks_and_history(case):
    s = session(case)
    s.run(1, 'x = 5')
    s.line('def f():')
    s.line('return x')
    s.keys(KEY.enter)
    s.expect_prompt(3)
    s.keys(ESC + 'k')
    s.expect_screen('In [3]: def f():\n   ...:     return x')
    s.keys('jfxr7' + KEY.enter)
    s.expect_prompt(4)
    s.run(4, 'f()', 'Out[4]: 7')
    s.keys(ESC + '/x = ' + KEY.enter)
    s.wait(lambda: s.cursor_line() == 'In [5]: x = 5', 'expected it found')
    s.keys(C('c'))
    s.expect_prompt(5)


def test_search_stays_in_command_mode(case):
    s = session(case)
    for number, line in enumerate(('aa1 = 1', 'other = 2', 'aa2 = 3', 'aa3 = 4'), 1):
        s.run(number, line)
    s.keys(ESC + '/aa' + KEY.enter)
    s.wait(lambda: s.cursor_line() == 'In [5]: aa3 = 4', 'expected the newest one')
    s.keys('n')
    s.wait(lambda: s.cursor_line() == 'In [5]: aa2 = 3', 'expected the next older one')
    s.keys('n')
    s.wait(lambda: s.cursor_line() == 'In [5]: aa1 = 1', 'expected the oldest one')
    s.keys('nN')
    s.wait(lambda: s.cursor_line() == 'In [5]: aa2 = 3', 'expected a newer one again')
    s.keys('0x')
    s.wait(lambda: s.cursor_line() == 'In [5]: a2 = 3', 'expected a letter gone')
    s.keys('u$a5' + KEY.enter)
    s.expect_prompt(6)
    s.run(6, 'aa2', 'Out[6]: 35')


def test_the_cursor_shows_the_mode(case):
    s = session(case)
    s.keys('a' + ESC)
    s.wait(lambda: s.received.count(b'\x1b[2 q') == 1, 'expected a block')
    s.keys('i')
    s.wait(lambda: b'\x1b[6 q' in s.received[s.received.index(b'\x1b[2 q'):], 'expected a bar')


def test_inputrc_is_read(case):
    with open(case.folder + '/.inputrc', 'w') as file:
        file.write('# mine\nset bell-style none\nset editing-mode vi\n')
    s = case.session()
    s.expect_prompt(1)
    s.keys('ab' + ESC + 'x')
    s.wait(lambda: s.cursor_line() == 'In [1]: a', 'expected a letter gone')
    t = case.session(env={'TESSERA_KEYS': 'emacs'})
    t.expect_prompt(1)
    t.keys('ab' + C('a') + 'x')
    t.expect_prompt(1, 'xab')


def test_visual_mode(case):
    s = session(case)
    s.keys('one two three' + ESC + '0wve')
    s.wait(lambda: s.cursor() == (1, 8 + 6) and s.style_at(1, 8 + 4).reverse and s.style_at(1, 8 + 6).reverse, 'expected a word marked')
    assert not s.style_at(1, 8 + 3).reverse and not s.style_at(1, 8 + 7).reverse
    s.keys('d')
    s.wait(lambda: s.cursor_line() == 'In [1]: one  three', 'expected it gone')
    assert not s.style_at(1, 8 + 4).reverse
