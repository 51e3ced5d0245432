"""Stand-in for test.support.threading_helper."""
import contextlib
import functools
import threading
import time
import unittest


def threading_setup():
    return (threading.active_count(),)


def threading_cleanup(*before):
    for _ in range(100):
        if threading.active_count() <= before[0]:
            return
        time.sleep(0.01)


def reap_threads(func):
    @functools.wraps(func)
    def decorated(*args):
        key = threading_setup()
        try:
            return func(*args)
        finally:
            threading_cleanup(*key)
    return decorated


@contextlib.contextmanager
def wait_threads_exit(timeout=None):
    before = threading.active_count()
    try:
        yield
    finally:
        end = time.monotonic() + (timeout or 30)
        while threading.active_count() > before and time.monotonic() < end:
            time.sleep(0.01)


def join_thread(thread, timeout=None):
    thread.join(30 if timeout is None else timeout)
    if thread.is_alive():
        raise AssertionError("failed to join the thread")


@contextlib.contextmanager
def start_threads(threads, unlock=None):
    started = []
    try:
        for thread in threads:
            thread.start()
            started.append(thread)
        yield
    finally:
        if unlock:
            unlock()
        for thread in started:
            thread.join(30)
        if any(t.is_alive() for t in started):
            raise AssertionError("unable to join all threads")


class catch_threading_exception:
    def __init__(self):
        self.exc_type = self.exc_value = self.exc_traceback = self.thread = None

    def _hook(self, args):
        self.exc_type, self.exc_value, self.exc_traceback, self.thread = args.exc_type, args.exc_value, args.exc_traceback, args.thread

    def __enter__(self):
        self._old = threading.excepthook
        threading.excepthook = self._hook
        return self

    def __exit__(self, *info):
        threading.excepthook = self._old
        self.exc_type = self.exc_value = self.exc_traceback = self.thread = None


can_start_thread = True


def requires_working_threading(*, module=False):
    return (lambda test: test) if not module else None


def run_concurrently(worker_func, nthreads, args=(), kwargs={}):
    threads = [threading.Thread(target=worker_func, args=args, kwargs=kwargs) for _ in range(nthreads)]
    with start_threads(threads):
        pass
