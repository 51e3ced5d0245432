"""A small stand-in of pytest: the marks, fixtures and assertions that NumPy's own tests use."""
import contextlib
import re
import warnings


class Skipped(Exception):
    pass


class Failed(AssertionError):
    pass



class Mark:
    def __init__(self, name, args=(), kwargs=None):
        self.name, self.args, self.kwargs = name, args, kwargs or {}

    def __call__(self, *args, **kwargs):
        if len(args) == 1 and not kwargs and not self.args and (isinstance(args[0], type) or hasattr(args[0], '__code__')):
            marked = args[0]
            before = marked.__dict__.get('pytestmark', [])
            marked.pytestmark = [*before, self]
            return marked
        return _Made(self.name, args, kwargs)


class _Made(Mark):
    def __call__(self, marked):
        before = marked.__dict__.get('pytestmark', [])
        marked.pytestmark = [*before, self]
        return marked


class _Marks:
    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return Mark(name)


mark = _Marks()


class Param:
    def __init__(self, values, marks=(), id=None):
        self.values = values
        self.marks = list(marks) if isinstance(marks, (list, tuple)) else [marks]
        self.id = id


def param(*values, marks=(), id=None):
    return Param(values, marks, id)


class Lost:
    """Stands for a value of a test's parameters that could not be made."""

    def __init__(self, error):
        self.error = error


def apart(*makers):
    made = []
    for make in makers:
        try:
            made.append(make())
        except Exception as error:
            made.append(Lost(error))
    return made


class Fixture:
    def __init__(self, function, scope='function', params=None, autouse=False, ids=None, name=None):
        self.function, self.scope, self.params, self.autouse = function, scope, params, autouse
        self.name = name or function.__name__

    def __get__(self, instance, owner=None):
        return self


def fixture(function=None, **options):
    if function is not None:
        return Fixture(function)
    return lambda f: Fixture(f, **options)


def skip(reason='', allow_module_level=False):
    raise Skipped(reason)


def xfail(reason=''):
    raise Skipped(reason)


def fail(reason='', pytrace=True):
    raise Failed(reason)


def importorskip(name, minversion=None, reason=None):
    import importlib
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Skipped(f'could not import {name!r}') from None


class ExceptionInfo:
    value = None

    @property
    def type(self):
        return type(self.value)

    @property
    def tb(self):
        return self.value.__traceback__

    def match(self, pattern):
        if not re.search(pattern, str(self.value)):
            raise Failed(f'Regex pattern did not match: {pattern!r} in {str(self.value)!r}')
        return True


class _Raises:
    def __init__(self, expected, match=None, check=None):
        self.expected, self.match, self.info = expected, match, ExceptionInfo()

    def __enter__(self):
        return self.info

    def __exit__(self, kind, value, trace):
        if kind is None:
            raise Failed(f'DID NOT RAISE {self.expected!r}')
        if not issubclass(kind, self.expected):
            return False
        self.info.value = value
        if self.match is not None:
            self.info.match(self.match)
        return True


def raises(expected, *args, match=None, check=None, **kwargs):
    if not args:
        return _Raises(expected, match)
    with _Raises(expected) as info:
        args[0](*args[1:], **kwargs)
    return info


class _Warns:
    def __init__(self, expected, match=None):
        self.expected, self.match = expected, match

    def __enter__(self):
        self._catcher = warnings.catch_warnings(record=True)
        self.list = self._catcher.__enter__()
        warnings.simplefilter('always')
        return self.list

    def __exit__(self, kind, value, trace):
        self._catcher.__exit__(kind, value, trace)
        if kind is not None:
            return False
        told = [w for w in self.list if issubclass(w.category, self.expected)
                and (self.match is None or re.search(self.match, str(w.message)))]
        if not told:
            raise Failed(f'DID NOT WARN {self.expected!r}: {[str(w.message) for w in self.list]}')
        return False


def warns(expected=Warning, *args, match=None, **kwargs):
    if not args:
        return _Warns(expected, match)
    with _Warns(expected):
        return args[0](*args[1:], **kwargs)


def deprecated_call(*args, match=None, **kwargs):
    return warns((DeprecationWarning, PendingDeprecationWarning), *args, match=match, **kwargs)


class approx:
    def __init__(self, expected, rel=None, abs=None, nan_ok=False):
        self.expected = expected
        self.rel, self.abs = 1e-6 if rel is None else rel, 1e-12 if abs is None else abs

    def __eq__(self, other):
        difference = other - self.expected
        size = -self.expected if self.expected < 0 else self.expected
        return (-difference if difference < 0 else difference) <= max(self.rel * size, self.abs)


class MonkeyPatch:
    _MISSING = object()

    def __init__(self):
        self._undo = []

    def setattr(self, target, name, value=_MISSING, raising=True):
        if value is MonkeyPatch._MISSING:
            import importlib
            value = name
            owner, _, name = target.rpartition('.')
            target = importlib.import_module(owner)
        old = getattr(target, name, MonkeyPatch._MISSING)
        self._undo.append(lambda: delattr(target, name) if old is MonkeyPatch._MISSING else setattr(target, name, old))
        setattr(target, name, value)

    def setenv(self, name, value):
        import os
        old = os.environ.get(name)
        self._undo.append(lambda: os.environ.pop(name, None) if old is None else os.environ.__setitem__(name, old))
        os.environ[name] = value

    def delenv(self, name, raising=True):
        import os
        old = os.environ.pop(name, None)
        if old is not None:
            self._undo.append(lambda: os.environ.__setitem__(name, old))

    def chdir(self, path):
        import os
        here = os.getcwd()
        self._undo.append(lambda: os.chdir(here))
        os.chdir(path)

    def undo(self):
        while self._undo:
            self._undo.pop()()

    @classmethod
    @contextlib.contextmanager
    def context(cls):
        made = cls()
        try:
            yield made
        finally:
            made.undo()
