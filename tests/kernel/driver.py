"""A kernel of this build in a world of its own: its kernelspec, connection files, history and temporary folder lie in one folder."""
import contextlib
import os
import queue
import signal
import subprocess
import time

from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

WAIT = 30  # seconds; for what has to come


def install(tsr, folder, *options):
    """The environment in which Jupyter finds the kernel "tessera"."""
    env = dict(os.environ)
    for name in ('runtime', 'tmp', 'data', 'config', 'home'):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    env.update(JUPYTER_PATH=os.path.join(folder, 'share', 'jupyter'), JUPYTER_RUNTIME_DIR=os.path.join(folder, 'runtime'),
               JUPYTER_DATA_DIR=os.path.join(folder, 'data'), JUPYTER_CONFIG_DIR=os.path.join(folder, 'config'),
               TMPDIR=os.path.join(folder, 'tmp'), HOME=os.path.join(folder, 'home'),
               TESSERA_HISTORY=os.path.join(folder, 'history'))
    env.pop('JPY_PARENT_PID', None)
    subprocess.run([tsr, 'kernel', 'install', '--prefix', folder, *options], env=env, check=True, stdout=subprocess.DEVNULL)
    return env


@contextlib.contextmanager
def environment(env):
    """Jupyter's own functions read os.environ."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class Result:
    """What came of a cell: `outputs` as (type, content), the `reply`'s content, `seconds` from the request to the reply."""

    def __init__(self, outputs, reply, seconds):
        self.outputs, self.reply, self.seconds = outputs, reply, seconds

    def of(self, kind):
        return [content for each, content in self.outputs if each == kind]

    def text(self, name='stdout'):
        return ''.join(each['text'] for each in self.of('stream') if each['name'] == name)

    @property
    def data(self):
        """Of the only result."""
        [result] = self.of('execute_result')
        return result['data']


class Kernel:
    def __init__(self, env, **options):
        self.env = env
        with environment(env):
            self.manager = KernelManager(kernel_name='tessera')
            self.log = open(os.path.join(env['TMPDIR'], '..', 'log'), 'a+')
            self.manager.start_kernel(stderr=self.log, stdout=self.log, env=dict(env, **options))
        self.client = self.connect()
        self.client.wait_for_ready(timeout=WAIT)

    def connect(self):
        """A frontend with a name of its own."""
        client = BlockingKernelClient()
        with environment(self.env):
            client.load_connection_file(self.manager.connection_file)
        client.start_channels()
        return client

    @property
    def pid(self):
        return self.manager.provisioner.pid

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def send(self, kind, content, channel='shell', metadata=None):
        """Any message. Answers its name."""
        message = self.client.session.msg(kind, content, metadata=metadata)
        getattr(self.client, f'{channel}_channel').send(message)
        return message['header']['msg_id']

    def reply_to(self, name, channel='shell', wait=WAIT):
        end = time.monotonic() + wait
        while True:
            reply = getattr(self.client, f'get_{channel}_msg')(timeout=max(end - time.monotonic(), 0.01))
            if reply['parent_header'].get('msg_id') == name:
                return reply

    def ask(self, kind, **content):
        """The content of the reply to a request on the shell channel."""
        return self.reply_to(self.send(kind, content))['content']

    def published(self, name, wait=WAIT):
        """What frontends are told about a request until the kernel is idle again, as messages."""
        end, messages = time.monotonic() + wait, []
        while True:
            message = self.client.get_iopub_msg(timeout=max(end - time.monotonic(), 0.01))
            if message['parent_header'].get('msg_id') != name:
                continue
            messages.append(message)
            if message['msg_type'] == 'status' and message['content']['execution_state'] == 'idle':
                return messages

    def start(self, code, **options):
        options.setdefault('allow_stdin', False)
        return self.client.execute(code, **options)

    def result(self, name, wait=WAIT, begin=None):
        begin = time.monotonic() if begin is None else begin
        reply = self.reply_to(name, wait=wait)
        seconds = time.monotonic() - begin
        outputs = [(each['msg_type'], each['content']) for each in self.published(name, wait)
                   if each['msg_type'] not in ('status', 'execute_input')]
        return Result(outputs, reply['content'], seconds)

    def run(self, code, wait=WAIT, **options):
        begin = time.monotonic()
        return self.result(self.start(code, **options), wait, begin)

    def good(self, code, **options):
        result = self.run(code, **options)
        assert result.reply['status'] == 'ok', (code, result.reply)
        return result

    def value(self, code):
        return self.good(code).data['text/plain']

    def answer(self, text, wait=WAIT):
        """Answers the next question; what it was."""
        question = self.client.get_stdin_msg(timeout=wait)
        self.client.input(text)
        return question['content']

    def nothing_asked(self):
        try:
            return self.client.get_stdin_msg(timeout=0.2) is None
        except queue.Empty:
            return True

    def wait_until_running(self, name, wait=WAIT):
        """Until the kernel has published that it begins with that request."""
        end = time.monotonic() + wait
        while True:
            message = self.client.get_iopub_msg(timeout=max(end - time.monotonic(), 0.01))
            if message['parent_header'].get('msg_id') == name and message['msg_type'] == 'execute_input':
                return

    def interrupted(self, code, after=0.4, by=None, **options):
        """Runs the code and interrupts it some seconds after it began: the result, whose seconds count from the interrupt."""
        name = self.start(code, **options)
        self.wait_until_running(name)
        time.sleep(after)
        begin = time.monotonic()
        if by is None:
            self.interrupt()
        else:
            by()
        return self.result(name, begin=begin)

    def interrupt(self):
        os.kill(self.pid, signal.SIGINT)

    def alive(self):
        return self.manager.is_alive()

    def wait_for_end(self, seconds=10):
        end = time.monotonic() + seconds
        while self.alive():
            assert time.monotonic() < end, 'the kernel goes on'
            time.sleep(0.01)

    def scratch(self):
        """What the kernel has in the temporary folder."""
        return [each for each in os.listdir(self.env['TMPDIR']) if each.startswith('tessera-')]

    def close(self):
        self.client.stop_channels()
        if self.alive():
            self.manager.shutdown_kernel()
        self.manager.cleanup_resources()
        self.log.close()


def until(look, seconds=10):
    end = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < end, 'it does not become so'
        time.sleep(0.01)
