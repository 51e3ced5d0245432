"""What holds for every prompt: blocks, results, errors, the ends."""
import signal

from driver import KEY


def test_results_have_numbers(case):
    s = case.session()
    s.run(1, '6 * 7', 'Out[1]: 42')
    s.run(2, 'x = _ + 1')
    s.run(3, 'x', 'Out[3]: 43')
    s.run(4, 'None')
    assert 'Out[4]' not in s.text()


def test_an_error_leaves_the_session(case):
    s = case.session()
    s.run(1, 'kept = 5')
    s.run(2, '1 / 0', 'ZeroDivisionError: division by zero')
    s.run(3, 'kept', 'Out[3]: 5')


def test_end_of_input_leaves(case):
    s = case.session()
    s.run(1, 'import atexit; nothing = atexit.register(print, "gone")')
    s.keys(KEY.control('d'))
    s.expect_end(0)
    s.expect('gone')


def test_exit_has_a_status(case):
    s = case.session()
    s.expect_prompt(1)
    s.line('exit(3)')
    s.expect_end(3)


def test_interrupt_at_an_idle_prompt(case):
    s = case.session()
    s.run(1, 'kept = 5')
    s.keys(KEY.control('c'))
    s.expect_prompt(2)
    s.run(2, 'kept', 'Out[2]: 5')


def test_interrupt_of_a_loop(case):
    s = case.session()
    s.run(1, 'kept = 5')
    s.line('print("be" + "gun"); x = sum(1 for i in range(10**9))')
    s.expect('begun')
    s.keys(KEY.control('c'))
    s.expect('KeyboardInterrupt')
    s.expect_prompt(3)
    s.run(3, 'kept', 'Out[3]: 5')


def test_input_is_read_in_the_middle(case):
    s = case.session()
    s.expect_prompt(1)
    s.line('name = input("who? ")')
    s.expect('who? ')
    s.line('Ada')
    s.expect_prompt(2)
    s.run(2, 'name', "Out[2]: 'Ada'")


def test_a_prompt_after_a_script(case):
    with open(case.folder + '/made.tsr', 'w') as script:
        script.write('made = 11\n')
    s = case.session('-i', 'made.tsr')
    s.run(1, 'made', 'Out[1]: 11')
    s.signal(signal.SIGTERM)
    s.expect_end(-signal.SIGTERM)
