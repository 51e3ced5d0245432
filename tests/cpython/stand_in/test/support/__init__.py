"""Stand-in for CPython's test.support: the names that its test files import, written anew and small, so that both sides run the same text."""
import contextlib
import functools
import gc
import io
import os
import sys
import time
import types
import unittest

verbose = 0
failfast = False
max_memuse = 0
real_max_memuse = 0
junit_xml_list = None
LOOPBACK_TIMEOUT = 5.0
INTERNET_TIMEOUT = 60.0
TEST_HTTP_URL = "http://www.pythontest.net"
SHORT_TIMEOUT = 30.0
LONG_TIMEOUT = 300.0
PGO = False
PIPE_MAX_SIZE = 4 * 1024 * 1024 + 1
SOCK_MAX_SIZE = 16 * 1024 * 1024 + 1
_1M, _1G, _2G, _4G = 2**20, 2**30, 2**31, 2**32
MAX_Py_ssize_t = sys.maxsize
is_jython = False
is_android = False
is_emscripten = False
is_wasi = False
is_apple = False
MS_WINDOWS = False
has_fork_support = True
has_subprocess_support = True
has_socket_support = True
has_strftime_extensions = True
unix_shell = '/bin/sh'
Py_DEBUG = False
HAVE_DOCSTRINGS = True
MISSING_C_DOCSTRINGS = False
use_resources = None
requires_resource_names = ()
TEST_HOME_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TEST_DATA_DIR = os.path.join(TEST_HOME_DIR, "data")
REPO_ROOT = os.path.dirname(TEST_HOME_DIR)
STDLIB_DIR = os.path.dirname(os.__file__) if hasattr(os, "__file__") else REPO_ROOT
SAVEDCWD = os.getcwd()


class Error(Exception):
    pass


class TestFailed(Error):
    pass


class ResourceDenied(unittest.SkipTest):
    pass


class TestDidNotRun(Error):
    pass


def findfile(filename, subdir=None):
    if os.path.isabs(filename):
        return filename
    if subdir is not None:
        filename = os.path.join(subdir, filename)
    found = os.path.join(TEST_HOME_DIR, filename)
    return found if os.path.exists(found) else filename


def sortdict(d):
    return "{" + ", ".join("%r: %r" % pair for pair in sorted(d.items())) + "}"


def gc_collect():
    for _ in range(3):
        gc.collect()


@contextlib.contextmanager
def disable_gc():
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def is_resource_enabled(resource):
    return False


def requires(resource, msg=None):
    raise ResourceDenied(msg or "Use of the %r resource not enabled" % resource)


def requires_resource(resource):
    return unittest.skip("resource %r is not enabled" % resource)


def cpython_only(test):
    return unittest.skip("a detail of CPython's implementation")(test)


def impl_detail(msg=None, **guards):
    if guards and not guards.get("cpython", True):
        return _identity
    return unittest.skip(msg or "a detail of an implementation")


def check_impl_detail(**guards):
    return not guards.get("cpython", not guards) if guards else False


def _identity(x):
    return x


refcount_test = cpython_only
no_tracing = _identity
requires_IEEE_754 = _identity
requires_zlib = lambda reason="": _identity
requires_gzip = lambda reason="": _identity
requires_bz2 = lambda reason="": unittest.skip("no bz2")
requires_lzma = lambda reason="": unittest.skip("no lzma")
requires_docstrings = _identity
requires_debug_ranges = lambda reason="": _identity
requires_legacy_unicode_capi = unittest.skip("C API")
requires_limited_api = unittest.skip("C API")
skip_if_buildbot = lambda reason=None: _identity
skip_if_sanitizer = lambda reason=None, **kinds: _identity
requires_fork = lambda: _identity
requires_subprocess = lambda: _identity
requires_working_socket = lambda **kinds: _identity
requires_venv_with_pip = lambda: unittest.skip("needs pip")
requires_freebsd_version = requires_linux_version = requires_mac_ver = lambda *version: _identity
skip_if_broken_multiprocessing_synchronize = lambda: None
skip_on_s390x = _identity
skip_if_buggy_ucrt_strfptime = _identity
bigaddrspacetest = unittest.skip("needs much memory")


def anticipate_failure(condition):
    return unittest.expectedFailure if condition else _identity


def bigmemtest(size, memuse, dry_run=True):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(self):
            wrapper.size, wrapper.memuse = size, memuse
            if not dry_run:
                raise unittest.SkipTest("not enough memory")
            return f(self, 5147)
        wrapper.size, wrapper.memuse = size, memuse
        return wrapper
    return decorate


def run_with_locale(category, *locales):
    return unittest.skip("needs other locales")


def run_with_tz(tz):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            if not hasattr(time, "tzset"):
                raise unittest.SkipTest("tzset required")
            old = os.environ.get("TZ")
            os.environ["TZ"] = tz
            time.tzset()
            try:
                return f(*args, **kwargs)
            finally:
                if old is None:
                    del os.environ["TZ"]
                else:
                    os.environ["TZ"] = old
                time.tzset()
        return wrapper
    return decorate


def run_unittest(*classes):
    raise unittest.SkipTest("programs run one method")


def run_doctest(module, verbosity=None, optionflags=0):
    import doctest
    failed, tried = doctest.testmod(module, verbose=verbosity, optionflags=optionflags)
    if failed:
        raise TestFailed("%d of %d doctests failed" % (failed, tried))
    return failed, tried


def load_package_tests(pkg_dir, loader, standard_tests, pattern):
    return standard_tests


def check__all__(test_case, module, name_of_module=None, extra=(), not_exported=()):
    if name_of_module is None:
        name_of_module = (module.__name__,)
    elif isinstance(name_of_module, str):
        name_of_module = (name_of_module,)
    expected = set(extra)
    for name in dir(module):
        if name.startswith("_") or name in not_exported:
            continue
        thing = getattr(module, name)
        if getattr(thing, "__module__", None) in name_of_module or \
                (not hasattr(thing, "__module__") and not isinstance(thing, types.ModuleType)):
            expected.add(name)
    test_case.assertCountEqual(module.__all__, expected)


def check_syntax_error(testcase, statement, errtext="", *, lineno=None, offset=None):
    with testcase.assertRaisesRegex(SyntaxError, errtext) as caught:
        compile(statement, "<test string>", "exec")
    error = caught.exception
    testcase.assertIsNotNone(error.lineno)
    if lineno is not None:
        testcase.assertEqual(error.lineno, lineno)
    testcase.assertIsNotNone(error.offset)
    if offset is not None:
        testcase.assertEqual(error.offset, offset)


def check_sizeof(test, o, size):
    raise unittest.SkipTest("sizes of objects are CPython's")


def check_disallow_instantiation(testcase, tp, *args, **kwds):
    mod, name = tp.__module__, tp.__name__
    qualname = name if mod == "builtins" else mod + "." + name
    testcase.assertRaisesRegex(TypeError, "cannot create '%s' instances" % qualname.replace(".", r"\."), tp, *args, **kwds)


def check_free_after_iterating(test, iter, cls, args=()):
    done = False

    class A(cls):
        def __del__(self):
            nonlocal done
            done = True
            try:
                next(it)
            except StopIteration:
                pass

    it = iter(A(*args))
    test.assertRaises(StopIteration, next, it)
    gc_collect()
    test.assertTrue(done)


def open_urlresource(url, *args, **kw):
    raise ResourceDenied("no network")


@contextlib.contextmanager
def captured_output(stream_name):
    old = getattr(sys, stream_name)
    setattr(sys, stream_name, io.StringIO())
    try:
        yield getattr(sys, stream_name)
    finally:
        setattr(sys, stream_name, old)


def captured_stdout():
    return captured_output("stdout")


def captured_stderr():
    return captured_output("stderr")


def captured_stdin():
    return captured_output("stdin")


@contextlib.contextmanager
def swap_attr(obj, attr, new_val):
    missing = object()
    old = getattr(obj, attr, missing)
    setattr(obj, attr, new_val)
    try:
        yield None if old is missing else old
    finally:
        if old is missing:
            if hasattr(obj, attr):
                delattr(obj, attr)
        else:
            setattr(obj, attr, old)


@contextlib.contextmanager
def swap_item(obj, item, new_val):
    if item in obj:
        old = obj[item]
        obj[item] = new_val
        try:
            yield old
        finally:
            obj[item] = old
    else:
        obj[item] = new_val
        try:
            yield
        finally:
            if item in obj:
                del obj[item]


def patch(test_instance, object_to_patch, attr_name, new_value):
    old = getattr(object_to_patch, attr_name)
    test_instance.addCleanup(setattr, object_to_patch, attr_name, old)
    setattr(object_to_patch, attr_name, new_value)


def patch_list(orig):
    """Restores the contents of a list, in place."""
    @contextlib.contextmanager
    def restored():
        kept = orig[:]
        try:
            yield
        finally:
            orig[:] = kept
    return restored()


def get_attribute(obj, name):
    """The attribute; a test that needs one that is missing is skipped."""
    try:
        return getattr(obj, name)
    except AttributeError:
        raise unittest.SkipTest("object %r has no attribute %r" % (obj, name))


def detect_api_mismatch(ref_api, other_api, *, ignore=()):
    missing = set(dir(ref_api)) - set(dir(other_api)) - set(ignore)
    return {name for name in missing if not name.startswith("_") or name.endswith("__")}


@contextlib.contextmanager
def adjust_int_max_str_digits(max_digits):
    current = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(max_digits)
        yield
    finally:
        sys.set_int_max_str_digits(current)


@contextlib.contextmanager
def set_recursion_limit(limit):
    old = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(limit)
        yield
    finally:
        sys.setrecursionlimit(old)


def infinite_recursion(max_depth=75):
    return set_recursion_limit(max(max_depth * 4, 300))


@contextlib.contextmanager
def catch_unraisable_exception_context():
    yield


class catch_unraisable_exception:
    def __init__(self):
        self.unraisable = None

    def _hook(self, unraisable):
        self.unraisable = unraisable

    def __enter__(self):
        self._old = sys.unraisablehook
        sys.unraisablehook = self._hook
        return self

    def __exit__(self, *info):
        sys.unraisablehook = self._old
        self.unraisable = None


class SuppressCrashReport:
    def __enter__(self):
        return self

    def __exit__(self, *info):
        pass


class SaveSignals:
    def __init__(self):
        import signal
        self.signal = signal
        self.handlers = {}

    def save(self):
        for number in self.signal.valid_signals():
            handler = self.signal.getsignal(number)
            if handler is not None:
                self.handlers[number] = handler

    def restore(self):
        for number, handler in self.handlers.items():
            try:
                self.signal.signal(number, handler)
            except (OSError, ValueError):
                pass


def args_from_interpreter_flags():
    return []


def optim_args_from_interpreter_flags():
    return []


def darwin_malloc_err_warning(test_name):
    """Tells of noise that tests make on macOS alone."""


def python_is_optimized():
    return True


def has_no_debug_ranges():
    return False


def with_pymalloc():
    return False


def setswitchinterval(interval):
    sys.setswitchinterval(interval)


def run_in_subinterp(code):
    raise unittest.SkipTest("interpreters inside an interpreter are CPython's")


def check_cflags_pgo():
    return False


def missing_compiler_executable(cmd_names=()):
    return "cc"


def calcobjsize(fmt):
    raise unittest.SkipTest("sizes of objects are CPython's")


calcvobjsize = calcobjsize


def reap_children():
    pass


def wait_process(pid, *, exitcode, timeout=None):
    _, status = os.waitpid(pid, 0)
    got = os.waitstatus_to_exitcode(status)
    if got != exitcode:
        raise AssertionError("process %d ended with %r, not %r" % (pid, got, exitcode))


def busy_retry(timeout, err_msg=None, /, *, error=True):
    end = time.monotonic() + timeout
    while True:
        yield
        if time.monotonic() >= end:
            break
    if error:
        raise AssertionError(err_msg or "timeout (%.1f seconds)" % timeout)


def sleeping_retry(timeout, err_msg=None, /, *, init_delay=0.010, max_delay=1.0, error=True):
    delay = init_delay
    for _ in busy_retry(timeout, err_msg, error=error):
        yield
        time.sleep(delay)
        delay = min(delay * 2, max_delay)


def flush_std_streams():
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def print_warning(msg):
    print("Warning -- " + msg, file=sys.__stderr__, flush=True)


def iter_builtin_types():
    import builtins
    for obj in builtins.__dict__.values():
        if isinstance(obj, type):
            yield obj


def iter_slot_wrappers(cls):
    for name, value in sorted(vars(cls).items()):
        if name.startswith("__") and name.endswith("__") and isinstance(value, types.WrapperDescriptorType):
            yield name, True


def check_sanitizer(*, address=False, memory=False, ub=False, thread=False):
    return False


def subTests(arg_names, arg_values, /, *, _do_cleanups=False):
    names = tuple(arg_names.replace(",", " ").split()) if isinstance(arg_names, str) else arg_names
    single = len(names) == 1

    def decorator(func):
        @functools.wraps(func)
        def wrapper(self, /, *args, **kwargs):
            for values in arg_values:
                chosen = dict(zip(names, (values,) if single else values))
                with self.subTest(**chosen):
                    func(self, *args, **kwargs, **chosen)
                if _do_cleanups:
                    self.doCleanups()
        return wrapper
    return decorator


def skip_if_pgo_task(test):
    return test


def late_deletion(obj):
    pass


def clear_ignored_deprecations(*tokens):
    pass


def ignore_deprecations_from(module, *, like):
    return object()


class Matcher:
    _partial_matches = ("msg", "message")

    def matches(self, d, **kwargs):
        return all(self.match_value(k, d.get(k), v) for k, v in kwargs.items())

    def match_value(self, k, dv, v):
        if type(v) is not type(dv):
            return False
        if type(dv) is not str or k not in self._partial_matches:
            return v == dv
        return dv.find(v) >= 0


class _AlwaysEqual:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


class _NeverEqual:
    def __eq__(self, other):
        return False

    def __ne__(self, other):
        return True

    def __hash__(self):
        return 1


@functools.total_ordering
class _Largest:
    def __eq__(self, other):
        return isinstance(other, _Largest)

    def __lt__(self, other):
        return False


@functools.total_ordering
class _Smallest:
    def __eq__(self, other):
        return isinstance(other, _Smallest)

    def __gt__(self, other):
        return False


ALWAYS_EQ, NEVER_EQ, LARGEST, SMALLEST = _AlwaysEqual(), _NeverEqual(), _Largest(), _Smallest()


def maybe_get_event_loop_policy():
    import asyncio
    return asyncio.events._event_loop_policy


def control_characters_c0():
    """The control characters of ASCII."""
    return [chr(code) for code in (*range(0x20), 0x7f)]


def system_must_validate_cert(function):
    """A decorator of tests that need certificates; both sides run without any."""
    return unittest.skip('needs certificates of the network')(function)
