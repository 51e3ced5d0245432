"""Stand-in for test.support.warnings_helper."""
import contextlib
import functools
import re
import sys
import warnings


class WarningsRecorder:
    def __init__(self, recorded):
        self._warnings = recorded
        self._last = 0

    def __getattr__(self, name):
        if len(self._warnings) > self._last:
            return getattr(self._warnings[-1], name)
        if name in ("message", "category", "filename", "lineno", "file", "line", "source"):
            return None
        raise AttributeError("%r has no attribute %r" % (self, name))

    @property
    def warnings(self):
        return self._warnings[self._last:]

    def reset(self):
        self._last = len(self._warnings)


@contextlib.contextmanager
def _filtered(filters, quiet=False):
    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always")
        yield WarningsRecorder(recorded)
    left, missing = list(recorded), []
    for message, category in filters:
        matching = [w for w in left if re.match(message, str(w.message), re.I) and issubclass(w.category, category)]
        if not matching and not quiet:
            missing.append((message, category.__name__))
        left = [w for w in left if w not in matching]
    if left:
        raise AssertionError("unhandled warning %s" % left[0])
    if missing:
        raise AssertionError("filter (%r, %s) did not catch any warning" % missing[0])


def check_warnings(*filters, quiet=None):
    if not filters:
        filters = (("", Warning),)
        if quiet is None:
            quiet = True
    return _filtered(filters, bool(quiet))


@contextlib.contextmanager
def check_no_warnings(testcase, message="", category=Warning, force_gc=False):
    with warnings.catch_warnings(record=True) as recorded:
        warnings.filterwarnings("always", message=message, category=category)
        yield
    testcase.assertEqual(recorded, [])


def check_no_resource_warning(testcase):
    return check_no_warnings(testcase, category=ResourceWarning, force_gc=True)


def check_syntax_warning(testcase, statement, errtext="", *, lineno=1, offset=None):
    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always", SyntaxWarning)
        compile(statement, "<testcase>", "exec")
    testcase.assertEqual(len(recorded), 1, recorded)
    testcase.assertTrue(issubclass(recorded[0].category, SyntaxWarning))
    if errtext:
        testcase.assertRegex(str(recorded[0].message), errtext)
    testcase.assertEqual(recorded[0].lineno, lineno)


def ignore_warnings(*, category):
    def decorator(test):
        @functools.wraps(test)
        def wrapper(self, *args, **kwargs):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", category=category)
                return test(self, *args, **kwargs)
        return wrapper
    return decorator


def ignore_fork_in_thread_deprecation_warnings(test):
    return test


@contextlib.contextmanager
def save_restore_warnings_filters():
    old = warnings.filters[:]
    try:
        yield
    finally:
        warnings.filters[:] = old


def import_deprecated(name):
    import importlib
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=DeprecationWarning)
        return importlib.import_module(name)
