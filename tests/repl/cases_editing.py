"""The block as it is typed: lines, indentation, words, undo, paste, brackets, colours, wide characters."""
from driver import KEY

C = KEY.control


def test_a_block_of_several_lines(case):
    s = case.session()
    s.expect_prompt(1)
    s.line('def twice(x):')
    s.expect_line('   ...:')
    assert s.cursor()[1] == 12  # the indentation is there
    s.line('return 2 * x')
    s.expect_line('   ...:')
    s.wait(lambda: s.cursor()[1] == 8, 'expected the margin behind return')
    s.keys(KEY.enter)
    s.run(2, 'twice(21)', 'Out[2]: 42')
    assert s.lines()[1:4] == ['In [1]: def twice(x):', '   ...:     return 2 * x', '']


def test_a_line_that_a_backslash_joins(case):
    s = case.session()
    s.expect_prompt(1)
    s.line('x = 1 \\')
    s.expect_line('   ...:')
    s.keys('+ 2' + KEY.enter)
    s.expect_prompt(2)
    s.run(2, 'x', 'Out[2]: 3')
    s.run(3, "'a' # \\", "Out[3]: 'a'")
    s.line('y = 7 \\')
    s.expect_line('   ...:')
    s.keys(KEY.enter)
    s.expect_prompt(5)
    s.run(5, 'y', 'Out[5]: 7')


def test_indentation(case):
    s = case.session()
    s.expect_prompt(1)
    for typed, column in (('class A:', 12), ('def f(self, a,', 18), ('b):', 16), ('if a:', 20), ('return 1', 16), ('pass', 12)):
        s.line(typed)
        s.wait(lambda: s.cursor()[1] == column and s.cursor_line() == '   ...:', f'expected column {column} after {typed!r}')
    s.keys(KEY.backspace)
    s.wait(lambda: s.cursor()[1] == 8, 'expected one level less')
    s.keys(KEY.tab)
    s.wait(lambda: s.cursor()[1] == 12, 'expected one level more')
    s.keys(KEY.back_tab)
    s.wait(lambda: s.cursor()[1] == 8, 'expected one level less')
    s.keys(KEY.enter)
    s.run(2, 'A().f(0, 1)')
    s.line('t = [')
    s.wait(lambda: s.cursor()[1] == 12, 'expected a hanging indentation')
    s.line('1, 2,')
    s.wait(lambda: s.cursor() == (s.cursor()[0], 12) and s.cursor_line() == '   ...:', 'expected the same')
    s.line(']')
    s.run(4, 't', 'Out[4]: [1, 2]')
    assert '   ...: ]' in s.lines()  # the bracket went below its line


def test_a_clause_goes_to_its_statement(case):
    s = case.session()
    s.expect_prompt(1)
    for line in ('for i in range(3):', 'if i == 1:', 'print("one")', 'else:', 'print("other", i)', ''):
        s.line(line)
    s.expect_prompt(2)
    s.expect('   ...:     else:')
    s.expect('other 2')


def test_movement_and_change_in_the_middle(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys('3 + 4')
    s.keys(KEY.home + '1')
    s.expect_prompt(1, '13 + 4')
    s.keys(KEY.control_right + KEY.control_right + '0')
    s.expect_prompt(1, '13 + 40')
    s.keys(KEY.left * 2 + KEY.delete + '5')
    s.expect_prompt(1, '13 + 50')
    s.keys(C('a') + KEY.alt('d') + '100')
    s.expect_prompt(1, '100 + 50')
    s.keys(C('e') + KEY.enter)
    s.expect('Out[1]: 150')


def test_up_goes_to_the_line_above_and_enter_opens_one(case):
    s = case.session()
    s.expect_prompt(1)
    s.line('def f():')
    s.keys('a = 1')
    s.keys(KEY.up + KEY.end + KEY.enter)
    s.wait(lambda: s.cursor() == (2, 12), 'expected an open line in the middle')
    s.keys('b = 2')
    s.expect_screen('In [1]: def f():\n   ...:     b = 2\n   ...:     a = 1')
    s.keys(KEY.down + KEY.end)
    s.line('')
    s.line('return a + b')
    s.keys(KEY.enter)
    s.run(2, 'f()', 'Out[2]: 3')


def test_kill_and_yank(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys('alpha beta' + C('w') + C('w'))
    s.expect_prompt(1)
    s.keys(C('y'))
    s.expect_prompt(1, 'alpha beta')  # two cuts one after another are one
    s.keys(C('a') + C('k') + C('y') + '.x ' + C('u') + C('y') + KEY.alt('y'))
    s.expect_prompt(1, 'alpha beta')
    s.keys(C('c'))
    s.expect('^C')
    s.expect_prompt(1)


def test_undo_and_redo(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys('one two')
    s.keys(C('_'))
    s.expect_prompt(1, 'one')
    s.keys(C('_'))
    s.wait(lambda: s.cursor_line() == 'In [1]:', 'expected nothing')
    s.keys(KEY.alt('_') * 2)
    s.expect_prompt(1, 'one two')


def test_words_and_letters(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys('abc DEF ghi' + C('a') + KEY.alt('u') + KEY.alt('l') + KEY.alt('c'))
    s.expect_prompt(1, 'ABC def Ghi')
    s.keys(C('t'))
    s.expect_prompt(1, 'ABC def Gih')


def test_a_key_that_means_nothing_leaves_nothing(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys('12' + '\x1b[24~' + '\x1b[99;5;7x' + '\x1b]11;rgb:0000/0000/0000\x07' + '\x1b[I' + '\x1bOz' + C('g') + '\x1b[[A' + '34')
    s.expect_prompt(1, '1234')


def test_paste_of_200_lines_is_one_block(case):
    s = case.session()
    s.expect_prompt(1)
    lines = ['def f():', '    total = 0', '']
    for i in range(98):
        lines += [f'    total += {i}', '']
    lines += ['    return total', '', 'print("pasted", f())']
    assert len(lines) >= 200
    s.keys(KEY.paste('\n'.join(lines) + '\n'))
    s.expect('print("pasted", f())')
    assert 'pasted 4753' not in s.text()  # nothing runs before Enter
    s.keys(KEY.enter)
    s.expect('pasted 4753')
    s.expect_prompt(2)
    shown = s.scrolled()
    assert 'In [1]: def f():' in shown  # the whole block is above, once
    assert sum('total += 50' in line for line in shown) == 1


def test_paste_takes_prompts_tabs_and_line_ends(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys('\x1b[200~>>> for i in range(2):\r\n...     print("got", i)\r\n... \r\ngot 0\r\ngot 1\r\n>>> x = 5\r\n\x1b[201~' + KEY.enter)
    s.expect_prompt(2)
    assert 'got 1' in s.lines()
    s.keys(KEY.paste('In [7]: def g():\n   ...: \treturn 8\n   ...: \n\nOut[7]: 3\n\nIn [8]: y = g()\n') + KEY.enter)
    s.expect_prompt(3)
    s.run(3, 'x, y', 'Out[3]: (5, 8)')
    s.keys(KEY.paste('    a = 1\n    b = 2') + KEY.enter)  # cut out of a function
    s.expect_prompt(5)
    s.run(5, 'a + b', 'Out[5]: 3')


def test_paste_into_a_line(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys('f()' + KEY.left + KEY.paste('1, 2'))
    s.expect_prompt(1, 'f(1, 2)')
    assert s.cursor() == (1, 8 + 6)


def test_lines_that_come_with_their_indentation(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys('def f(n):\r    if n:\r        n += 1\r    else:\r        n -= 1\r    return n\r\rf(1)\r')  # no marks around it
    s.expect('Out[2]: 2')
    s.keys('for i in range(2):\rprint("got", i)\r\r')  # typed fast, without
    s.expect('got 1')
    s.expect_prompt(4)


def test_control_o_opens_a_line_and_alt_enter_runs(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys('a = 1' + C('o') + 'b = a + 1' + C('o') + 'b')
    s.expect_screen('In [1]: a = 1\n   ...: b = a + 1\n   ...: b')
    s.keys(KEY.up + KEY.alt_enter)
    s.expect('Out[1]: 2')


def test_colours(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys('def f(x): return "a" # b')
    s.expect_prompt(1, 'def f(x): return "a" # b')
    colour = [s.style_at(1, 8 + x).fg for x in range(24)]
    assert colour[0] == colour[1] == colour[10] != 'default'      # def, return
    assert colour[4] not in ('default', colour[0])                 # the name
    assert colour[6] == 'default'
    assert colour[17] not in ('default', colour[0], colour[4])     # the string
    assert colour[21] not in ('default', colour[0], colour[17])    # the comment
    s.keys(C('a') + KEY.right * 5)
    s.wait(lambda: s.style_at(1, 8 + 5).bold and s.style_at(1, 8 + 7).bold, 'expected both brackets marked')
    assert not s.style_at(1, 8 + 6).bold


def test_no_colours(case):
    for names in ({'NO_COLOR': '1'}, {'TERM': 'vt100'}):
        s = case.session(env=names)
        s.expect_prompt(1)
        s.line('1 / 0')
        s.expect_prompt(2, '')
        colours = {s.style_at(y, x).fg for y in range(12) for x in range(60)}
        assert colours == {'default'}, colours
        assert b'\x1b[3' not in s.received


def test_wide_and_combining_characters(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys('x = "日本e\u0301ß"')
    s.wait(lambda: s.cursor() == (1, 8 + 5 + 4 + 1 + 1 + 1), 'expected columns counted')
    s.keys(KEY.left * 3)
    s.wait(lambda: s.cursor()[1] == 8 + 5 + 4, 'expected the combined letter passed as one')
    s.keys(KEY.left)
    s.wait(lambda: s.cursor()[1] == 8 + 5 + 2, 'expected a wide letter passed as one')
    s.keys(KEY.delete + KEY.delete + KEY.end + KEY.enter)
    s.run(2, 'x, len(x)', "Out[2]: ('日ß', 2)")
    s.keys('"' + '語' * 60 + '"')
    s.wait(lambda: '語' * 45 in s.text().replace('語 ', '語') and s.cursor()[1] < 60, 'expected a wrapped line')
    s.keys(C('a') + C('k') + '5' + KEY.enter)
    s.expect('Out[3]: 5')


def test_a_long_line_wraps(case):
    s = case.session(columns=40, rows=10)
    s.expect_prompt(1)
    text = 'x = [' + ', '.join(str(i) for i in range(30)) + ']'
    s.keys(text)
    s.wait(lambda: s.lines()[-1].endswith('29]'), 'expected the whole list')
    shown = s.lines()[2:]
    assert shown[0] == 'In [1]: ' + text[:32].rstrip() and all(line.startswith(' ' * 8) for line in shown[1:]), shown
    assert ''.join(line[8:] for line in shown).replace(' ', '') == text.replace(' ', ''), shown
    s.keys(KEY.home)
    s.expect_cursor(2, 8)
    s.keys(C('k') + '1' * 32)  # fills the row to its end
    s.expect_cursor(3, 8)
    s.keys(KEY.backspace)
    s.expect_cursor(2, 39)
    assert s.lines()[2:] == ['In [1]: ' + '1' * 31]


def test_a_block_higher_than_the_screen(case):
    s = case.session(rows=8, columns=40)
    s.expect_prompt(1)
    s.keys(KEY.paste('\n'.join(f'v{i} = {i}' for i in range(30))))
    s.wait(lambda: s.lines()[-1].endswith('v29 = 29'), 'expected its end')
    assert len(s.lines()) == 8
    s.keys(KEY.alt('<'))
    s.wait(lambda: s.lines()[0] == 'In [1]: v0 = 0' and s.cursor() == (0, 8), 'expected its beginning')
    s.keys(KEY.down * 10)
    s.wait(lambda: 'v10 = 10' in s.cursor_line(), 'expected line 10')
    s.keys('#' + KEY.alt('>') + KEY.enter)
    s.expect_prompt(2)
    shown = [line for line in s.scrolled() if ' = ' in line]
    assert shown == [('In [1]: ' if i == 0 else '   ...: ') + ('#' if i == 10 else '') + f'v{i} = {i}' for i in range(30)], shown
    s.run(2, 'v29', 'Out[2]: 29')


def test_tabs_and_control_characters_are_seen(case):
    s = case.session()
    s.expect_prompt(1)
    s.keys(KEY.paste('x = "a\tb"'))
    s.expect_prompt(1, 'x = "a  b"')
    s.keys(KEY.enter)
    s.run(2, 'x', r"Out[2]: 'a\tb'")


def test_an_editor_of_ones_own(case):
    with open(case.folder + '/ed', 'w') as editor:
        editor.write('#!/bin/sh\nsed s/one/two/ "$1" > "$1.x" && mv "$1.x" "$1"\n')
    import os
    os.chmod(case.folder + '/ed', 0o755)
    s = case.session(env={'EDITOR': case.folder + '/ed'})
    s.expect_prompt(1)
    s.keys('x = "one"' + C('x') + C('e'))
    s.expect_prompt(1, 'x = "two"')
    s.keys(KEY.enter)
    s.run(2, 'x', "Out[2]: 'two'")


def test_what_was_typed_survives_an_editor_that_cannot_have_it(case):
    s = case.session(env={'EDITOR': 'true', 'TMPDIR': '/nonexistent'})
    s.expect_prompt(1)
    s.keys('x = "kept"' + C('x') + C('e'))
    s.expect('there is no folder for temporary files')
    s.expect_prompt(1, 'x = "kept"')
    s.keys(KEY.enter)
    s.run(2, 'x', "Out[2]: 'kept'")
    s = case.session(env={'EDITOR': 'rm'})
    s.expect_prompt(1)
    s.keys('y = "kept"' + C('x') + C('e'))
    s.expect_prompt(1, 'y = "kept"')
    s.keys(KEY.enter)
    s.run(2, 'y', "Out[2]: 'kept'")
