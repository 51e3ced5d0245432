"""The end of a kernel: asked for, by a signal, by its parent's death. Nothing stays behind."""
import os
import signal
import subprocess
import sys

from driver import until

BEYOND = 'for i in range(6000):\n    print("x" * 1000)'  # into the temporary folder


def check_nothing_left(k):
    k.wait_for_end()
    assert k.scratch() == [], k.scratch()


def test_shutdown(case):
    k = case.kernel()
    k.good(BEYOND)
    assert k.scratch()
    k.good(f'import atexit\natexit.register(lambda: open("{case.folder}/left", "w").write("x"))')
    name = k.send('shutdown_request', {'restart': True}, 'control')
    assert k.reply_to(name, 'control')['content'] == {'status': 'ok', 'restart': True}
    check_nothing_left(k)
    assert os.path.exists(case.folder + '/left'), "what atexit has runs"


def test_shutdown_while_a_cell_runs(case):
    k = case.kernel()
    k.start('try:\n    while True:\n        pass\nexcept KeyboardInterrupt:\n    while True:\n        pass')
    until(lambda: k.client.get_iopub_msg(timeout=5)['msg_type'] == 'execute_input')
    name = k.send('shutdown_request', {'restart': False}, 'control')
    assert k.reply_to(name, 'control')['content']['status'] == 'ok'
    check_nothing_left(k)


def test_shutdown_on_the_shell(case):
    k = case.kernel()
    assert k.ask('shutdown_request', restart=False) == {'status': 'ok', 'restart': False}
    check_nothing_left(k)


def test_restart(case):
    k = case.kernel()
    k.good('x = 1')
    k.manager.restart_kernel()
    k.client.wait_for_ready(timeout=30)
    assert k.run('x').reply['ename'] == 'NameError'


def test_signals(case):
    for number in (signal.SIGTERM, signal.SIGHUP):
        for running in (None, 'while True:\n    pass', 'import time; time.sleep(60)', 'input()', '!sleep 60'):
            k = case.kernel()
            k.good(BEYOND)
            if running:
                k.start(running, allow_stdin=True)
                until(lambda: k.client.get_iopub_msg(timeout=5)['content'].get('code') == running)
            os.kill(k.pid, number)
            check_nothing_left(k)


def test_a_killed_kernels_folder_goes_with_the_next(case):
    k = case.kernel()
    k.good(BEYOND)
    other = case.kernel()
    other.good(BEYOND)
    os.kill(k.pid, signal.SIGKILL)
    k.wait_for_end()
    assert len(k.scratch()) == 2
    third = case.kernel()
    third.good(BEYOND)
    assert len(k.scratch()) == 2, 'its own and that of the one that lives'
    other.close()
    third.close()
    assert k.scratch() == []


def test_a_dead_parent(case):
    program = ('import os, sys\nsys.path.insert(0, sys.argv[1])\nimport driver\n'
               'k = driver.Kernel(dict(os.environ))\nk.good("import time")\nk.start("time.sleep(600)")\n'
               'print(k.pid, flush=True)\nos.kill(os.getpid(), 9)\n')
    done = subprocess.run([sys.executable, '-c', program, os.path.dirname(os.path.abspath(__file__))], env=case.env, text=True,
                          stdout=subprocess.PIPE, timeout=60)
    pid = int(done.stdout)

    def is_gone():
        try:
            with open(f'/proc/{pid}/stat') as file:
                return file.read().rpartition(')')[2].split()[0] == 'Z'
        except FileNotFoundError:
            return True

    until(is_gone)
    assert not [each for each in os.listdir(case.env['TMPDIR']) if each.startswith('tessera-')]


def test_leaving(case):
    for code in ('quit()', 'exit', 'x = 1\nexit()', ':quit'):
        k = case.kernel()
        reply = k.run(code).reply
        assert reply['status'] == 'ok' and reply['payload'] == [{'source': 'ask_exit', 'keepkernel': False}], reply
        check_nothing_left(k)


def test_a_program_that_ends_does_not_end_the_kernel(case):
    k = case.kernel()
    k.good('kept = 5')
    reply = k.run('import sys\nsys.exit(3)').reply
    assert reply['ename'] == 'SystemExit' and reply['evalue'] == '3', reply
    result = k.run('raise SystemExit("too bad")')
    assert 'too bad' in result.reply['evalue'] and len(result.of('error')) == 1
    assert k.value('kept') == '5'


def test_a_folder_that_is_gone(case):
    k = case.kernel()
    for each in k.scratch():
        for name in os.listdir(os.path.join(k.env['TMPDIR'], each)):
            os.remove(os.path.join(k.env['TMPDIR'], each, name))
        os.rmdir(os.path.join(k.env['TMPDIR'], each))
    k.good(BEYOND)
    k.close()
    assert k.scratch() == []
