"""Questions to the person."""


def test_a_line_is_asked_for(case):
    k = case.kernel()
    name = k.start('who = input("who? ")\nprint("hello", who)\nline = input()', allow_stdin=True)
    assert k.answer('Zoë 😀') == {'prompt': 'who? ', 'password': False}
    assert k.answer('') == {'prompt': '', 'password': False}
    result = k.result(name)
    assert result.text() == 'hello Zoë 😀\n', result.outputs
    assert k.value('who, line') == "('Zoë 😀', '')"


def test_a_password_is_hidden(case):
    k = case.kernel()
    name = k.start('import getpass\nword = getpass.getpass("pw: ")\nprint(len(word))', allow_stdin=True)
    assert k.answer('secret') == {'prompt': 'pw: ', 'password': True}
    assert k.result(name).text() == '6\n'


def test_a_prompt_stands_behind_what_was_printed(case):
    k = case.kernel()
    name = k.start('print("first")\nprint("? ", end="")\ninput("name: ")', allow_stdin=True)
    assert k.answer('x')['prompt'] == '? name: '
    assert k.result(name).text() == 'first\n'


def test_nobody_can_be_asked(case):
    k = case.kernel()
    for code in ('input("x")', 'import getpass; getpass.getpass()', 'import sys; sys.stdin.readline()'):
        reply = k.run(code, allow_stdin=False).reply
        assert reply['ename'] == 'StdinNotImplementedError', (code, reply)
        assert reply['evalue'] == 'raw_input was called, but this frontend does not support input requests.', reply
    k.good('try:\n    input()\nexcept NotImplementedError:\n    print("caught")')
    assert k.nothing_asked()


def test_the_end_of_the_input(case):
    k = case.kernel()
    name = k.start('input()', allow_stdin=True)
    k.answer('\x04')
    assert k.result(name).reply['ename'] == 'EOFError'


def test_a_late_answer_is_no_answer(case):
    k = case.kernel()
    result = k.interrupted('input("x")', allow_stdin=True)
    assert result.reply['ename'] == 'KeyboardInterrupt'
    k.answer('late')
    name = k.start('input("y")', allow_stdin=True)
    assert k.answer('in time')['prompt'] == 'y'
    assert k.result(name).data['text/plain'] == "'in time'"
