"""Commands at a terminal: what is interrupted, what reads from the keyboard, an editor, a session that goes on later."""
import os

from driver import KEY


def write(case, name, text, mode=0o644):
    path = os.path.join(case.folder, name)
    with open(path, 'w') as file:
        file.write(text)
    os.chmod(path, mode)
    return path


def test_commands_are_interrupted(case):
    write(case, 'endless.py', 'print("be" + "gun 6")\nwhile True:\n    pass\n')
    s = case.session()
    s.run(1, 'kept = 5')
    # Each has a word of its own: that of an earlier one may still be on the screen.
    for number, command in ((2, ':timeit print("be" + "gun 2", end="", flush=True) or sum(range(10 ** 9))'),
                            (4, '!echo be""gun 4; sleep 60'), (6, '%run endless.py'),
                            (8, ':profile print("be" + "gun 8") or sum(range(10 ** 10))')):
        s.expect_prompt(number)
        s.line(command)
        s.expect(f'begun {number}')
        s.keys(KEY.control('c'))
        s.expect('KeyboardInterrupt')
        s.run(number + 1, 'kept', f'Out[{number + 1}]: 5')
        s.keys(KEY.control('l'))
        s.expect_gone('KeyboardInterrupt')


def test_a_line_of_the_shell_reads_the_keyboard(case):
    s = case.session()
    s.expect_prompt(1)
    s.line('!echo re""ady; read line; echo got $line')
    s.expect('ready')
    s.line('a word')
    s.expect('got a word')
    s.expect_prompt(2)


def test_an_editor_makes_the_block(case):
    editor = write(case, 'editor', '#!/bin/sh\nsed -i "s/40/41/" "$1"\n', 0o755)
    s = case.session(env={'EDITOR': editor, 'VISUAL': None})
    s.run(1, 'x = 40 + 1')
    s.expect_prompt(2)
    s.line(':edit 1')
    s.expect('x = 41 + 1')
    s.run(3, 'x', 'Out[3]: 42')


def test_an_edited_block_may_have_commands(case):
    editor = write(case, 'editor', '#!/bin/sh\nexit $FAIL\n', 0o755)
    s = case.session(env={'EDITOR': editor, 'VISUAL': None, 'FAIL': '0'})
    s.run(1, 'x = 41')
    s.run(2, '!echo {x + 1}', '42')
    s.run(3, ':edit 2', '!echo {x + 1}\n42')
    s.run(4, ':edit 99', 'there is no block 99')
    s.run(5, ':edit', '!echo {x + 1}\n42')
    s.expect_prompt(6)
    assert s.lines().count('42') == 3
    assert not any('SyntaxError' in line for line in s.lines())


def test_an_editor_that_fails(case):
    s = case.session(env={'EDITOR': 'false', 'VISUAL': None})
    s.run(1, ':edit new.py', 'there is no editor here, or it has failed: nothing was run')


def test_a_file_is_offered_for_the_next_block(case):
    write(case, 'part.py', 'print("from the file")\n6 * 7\n')
    s = case.session()
    s.expect_prompt(1)
    s.line(':load part.py')
    s.expect('In [2]: print("from the file")')
    s.keys(KEY.alt_enter)
    s.expect('Out[2]: 42')
    s.expect_prompt(3)


def test_a_session_goes_on_another_day(case):
    s = case.session()
    s.run(1, 'net = nn.Linear(2, 1); total = net.weight.sum().item()')
    s.run(2, 'def double(x): return 2 * x\n')
    s.expect_prompt(3)
    s.line(':save day.tsn')
    s.expect('blocks are in day.tsn')
    s.expect_prompt(4)
    s.keys(KEY.control('d'))
    s.expect_end(0)
    again = case.session()
    again.expect_prompt(1)
    again.line(':restore day.tsn')
    again.expect('blocks are back')
    again.run(4, 'net.weight.sum().item() == total, double(4)', 'Out[4]: (True, 8)')
    again.run(5, 'In[2]', "Out[5]: 'def double(x): return 2 * x'")


def test_help_and_sources(case):
    s = case.session()
    s.expect_prompt(1)
    s.line('nn.Linear.forward??')
    s.expect('return F.linear(input, self.weight, self.bias)')
    s.expect_prompt(2)
    s.line(':timeti 1')
    s.expect('did you mean :time')
    s.run(3, '1 + 1', 'Out[3]: 2')
