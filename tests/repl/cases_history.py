"""The blocks that were run before: up and down, by beginning, Ctrl-R, the suggestion, and the file that keeps them."""
import os
import pathlib
import re

from driver import KEY

C = KEY.control


def file_of(case):
    return pathlib.Path(case.folder) / 'history'


def blocks_of(case):
    return [re.sub(r'\\(.)', lambda m: '\n' if m[1] == 'n' else m[1], line) for line in file_of(case).read_text().splitlines()]


def test_up_and_down(case):
    s = case.session()
    s.run(1, 'a = 1')
    s.run(2, 'b = 2')
    s.keys('draft')
    s.keys(C('a') + KEY.up)
    s.expect_prompt(3, 'b = 2')
    s.keys(KEY.up)
    s.expect_prompt(3, 'a = 1')
    s.keys(KEY.up)
    s.keys(KEY.down)
    s.expect_prompt(3, 'b = 2')
    s.keys(KEY.down)
    s.expect_prompt(3, 'draft')
    s.keys(C('u') + C('k') + KEY.up + KEY.enter)
    s.expect_prompt(4)
    assert blocks_of(case) == ['a = 1', 'b = 2']  # one like the last is kept once


def test_up_brings_the_block_and_enter_runs_it(case):
    s = case.session()
    s.expect_prompt(1)
    s.line('for i in range(2):')
    s.line('print("ran", i)')
    s.keys(KEY.enter)
    s.run(2, 'x = 1')
    s.keys(KEY.up * 2)
    s.expect_screen('In [3]: for i in range(2):\n   ...:     print("ran", i)')
    s.keys(KEY.enter)
    s.expect_prompt(4)
    assert s.scrolled().count('ran 1') == 2


def test_up_goes_by_what_is_typed(case):
    s = case.session()
    s.run(1, 'x = 1')
    s.run(2, 'y = 2')
    s.run(3, 'x = 3')
    s.keys('x')
    s.keys(KEY.up)
    s.expect_prompt(4, 'x = 3')
    s.keys(KEY.up)
    s.expect_prompt(4, 'x = 1')
    s.keys(KEY.down + KEY.down)
    s.wait(lambda: s.cursor_line().startswith('In [4]: x'), 'expected what was typed')


def test_suggestion(case):
    s = case.session()
    s.run(1, 'value = 12 + 30')
    s.keys('val')
    s.wait(lambda: s.cursor_line() == 'In [2]: value = 12 + 30' and s.cursor()[1] == 8 + 3, 'expected the rest behind the cursor')
    faint = s.style_at(s.cursor()[0], 12).fg
    assert faint not in ('default', s.style_at(s.cursor()[0], 9).fg)
    s.keys(KEY.control_right)
    s.wait(lambda: s.cursor()[1] == 8 + 5, 'expected a word of it taken')
    s.keys(KEY.right)
    s.wait(lambda: s.cursor()[1] == 8 + 15, 'expected it taken')
    s.keys(KEY.enter)
    s.expect_prompt(3)
    s.keys('value')
    s.keys(KEY.enter)  # what is not taken does not run
    s.expect('Out[3]: 42')
    s.expect_prompt(4)
    s.keys('value =' + C('e'))
    s.expect_prompt(4, 'value = 12 + 30')


def test_search(case):
    s = case.session()
    s.expect_prompt(1)
    s.line('def needle():')
    s.line('return 1')
    s.keys(KEY.enter)
    s.run(2, 'a = "needle two"')
    s.run(3, 'b = 3')
    s.keys('typed' + C('r'))
    s.expect('search:')
    s.keys('needle')
    s.expect_screen('In [4]: a = "needle two"\nsearch: needle')
    s.keys(C('r'))
    s.expect_screen('In [4]: def needle():\n   ...:     return 1\nsearch: needle')
    s.keys(C('s'))
    s.expect_screen('In [4]: a = "needle two"\nsearch: needle')
    s.keys('zz')
    s.expect('not found: needlezz')
    s.keys(KEY.backspace * 2)
    s.expect('search: needle')
    s.keys(C('g'))
    s.expect_prompt(4, 'typed')
    s.keys(C('r') + 'needle' + C('r') + KEY.enter)
    s.expect_screen('In [4]: def needle():\n   ...:     return 1')
    assert 'search' not in s.text()
    s.keys(KEY.enter)
    s.run(5, 'needle()', 'Out[5]: 1')


def test_kept_from_session_to_session(case):
    s = case.session()
    s.expect_prompt(1)
    s.line('def back(s):')
    s.line(r'return s + "\n" + "\\"')
    s.keys(KEY.enter)
    s.run(2, '1 / 0')  # what failed is kept as well
    s.keys(C('d'))
    s.expect_end(0)
    assert blocks_of(case) == ['def back(s):\n    return s + "\\n" + "\\\\"', '1 / 0']
    assert os.stat(file_of(case)).st_mode & 0o777 == 0o600
    t = case.session()
    t.expect_prompt(1)
    t.keys(KEY.up * 2)
    t.expect_screen('In [1]: def back(s):\n   ...:     return s + "\\n" + "\\\\"')


def test_two_sessions_share_it(case):
    a, b = case.session(), case.session()
    a.expect_prompt(1)
    b.expect_prompt(1)
    for i in range(1, 16):
        a.run(i, f'a{i} = {i}')
        b.run(i, f'b{i} = {i}')
    kept = blocks_of(case)
    assert sorted(kept) == sorted([f'a{i} = {i}' for i in range(1, 16)] + [f'b{i} = {i}' for i in range(1, 16)])
    a.keys(KEY.enter)  # a new prompt has read what the other one ran meanwhile
    a.keys(KEY.up)
    a.expect_prompt(16, 'a15 = 15')  # its own first
    a.keys(KEY.up * 14)
    a.expect_prompt(16, 'a1 = 1')
    a.keys(KEY.up)
    a.expect_prompt(16, 'b15 = 15')  # then the other's


def test_two_sessions_at_once_do_not_mix(case):
    sessions = [case.session() for _ in range(3)]
    for s in sessions:
        s.expect_prompt(1)
    for s, name in zip(sessions, 'abc'):
        s.keys(''.join(f'{name}{i} = "{name * 300}"\r' for i in range(30)))
    for s in sessions:
        s.expect_prompt(31)
    kept = blocks_of(case)
    assert len(kept) == 90
    for name in 'abc':
        assert [line for line in kept if line[0] == name] == [f'{name}{i} = "{name * 300}"' for i in range(30)]


def test_bounded(case):
    file_of(case).write_text(''.join(f'old{i}\n' for i in range(13_000)))
    s = case.session()
    s.run(1, 'new = 1')
    kept = blocks_of(case)
    assert len(kept) == 10_001 and kept[0] == 'old3000' and kept[-1] == 'new = 1', (len(kept), kept[0])
    s.keys(KEY.up * 2)
    s.expect_prompt(2, 'old12999')
    assert [name for name in os.listdir(case.folder) if name != 'history'] == []


def test_a_line_that_was_cut_off_spoils_no_other(case):
    file_of(case).write_bytes(b'good = 1\nhalf = "was cut')
    s = case.session()
    s.run(1, 'next = 2')
    assert blocks_of(case) == ['good = 1', 'half = "was cut', 'next = 2']


def test_a_file_that_is_none_of_ours(case):
    file_of(case).write_bytes(os.urandom(20000) + b'\n\0\0\0\n' + b'fine = 1\n')
    s = case.session()
    s.expect_prompt(1)
    s.keys(KEY.up)
    s.expect_prompt(1, 'fine = 1')


def test_no_home(case):
    s = case.session(env={'HOME': None, 'TESSERA_HISTORY': None})
    s.run(1, '6 * 7', 'Out[1]: 42')
    assert 'history' not in s.text()
    s.keys(KEY.up)
    s.expect_prompt(2, '6 * 7')


def test_a_home_of_its_own_folders(case):
    s = case.session(env={'TESSERA_HISTORY': None})
    s.run(1, '6 * 7')
    assert (pathlib.Path(case.folder) / '.local/state/tessera/history').read_text() == '6 * 7\n'
    t = case.session(env={'TESSERA_HISTORY': None, 'XDG_STATE_HOME': case.folder + '/state'})
    t.run(1, '7 * 7')
    assert (pathlib.Path(case.folder) / 'state/tessera/history').read_text() == '7 * 7\n'


def test_a_home_that_cannot_be_written(case):
    for home in ('/proc', '/dev/null'):
        s = case.session(env={'HOME': home, 'TESSERA_HISTORY': None})
        s.run(1, '6 * 7', 'Out[1]: 42')
        s.run(2, '6 * 8', 'Out[2]: 48')
        assert s.text().count('history cannot be kept') == 1
        s.keys(KEY.up)
        s.expect_prompt(3, '6 * 8')


def test_a_full_disk(case):
    os.symlink('/dev/full', file_of(case))
    s = case.session()
    s.run(1, '6 * 7', 'Out[1]: 42')
    s.expect_prompt(2)
    s.run(2, '6 * 8', 'Out[2]: 48')
    assert s.text().count('history is not kept any more: No space left on device') == 1
    s.keys(KEY.up * 2)
    s.expect_prompt(3, '6 * 7')


def test_a_file_beside_stays_there(case):
    s = case.session(env={'TESSERA_HISTORY': 'mine'})
    s.run(1, 'import os; os.chdir("/")')
    s.run(2, '6 * 7')
    assert (pathlib.Path(case.folder) / 'mine').read_text() == 'import os; os.chdir("/")\n6 * 7\n'


def test_none_wanted(case):
    s = case.session(env={'TESSERA_HISTORY': ''})
    s.run(1, '6 * 7')
    assert os.listdir(case.folder) == []
