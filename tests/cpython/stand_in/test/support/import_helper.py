"""Stand-in for test.support.import_helper."""
import contextlib
import importlib
import os
import sys
import unittest

from .os_helper import unlink


def _save_and_remove(name, saved):
    for each in list(sys.modules):
        if each == name or each.startswith(name + "."):
            saved[each] = sys.modules.pop(each)


def import_module(name, deprecated=False, *, required_on=()):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise unittest.SkipTest(str(error))


def import_fresh_module(name, fresh=(), blocked=(), deprecated=False):
    saved = {}
    for each in (name, *fresh, *blocked):
        _save_and_remove(each, saved)
    for each in blocked:
        sys.modules[each] = None
    try:
        for each in fresh:
            try:
                importlib.import_module(each)
            except ImportError:
                return None
        try:
            return importlib.import_module(name)
        except ImportError:
            return None
    finally:
        for each in (name, *fresh, *blocked):
            sys.modules.pop(each, None)
        sys.modules.update(saved)


def ensure_lazy_imports(*args, **kwargs):
    raise unittest.SkipTest("laziness of imports is CPython's")


def unload(name):
    sys.modules.pop(name, None)


def forget(modname):
    unload(modname)


def make_legacy_pyc(source):
    raise unittest.SkipTest("needs .pyc files")


class CleanImport:
    def __init__(self, *names, usefrozen=False):
        self.saved = sys.modules.copy()
        for name in names:
            module = sys.modules.get(name)
            if module is not None:
                if module.__name__ != name:
                    sys.modules.pop(module.__name__, None)
                del sys.modules[name]

    def __enter__(self):
        return self

    def __exit__(self, *info):
        sys.modules.update(self.saved)


class DirsOnSysPath:
    def __init__(self, *paths):
        self.value = sys.path[:]
        self.object = sys.path
        sys.path.extend(paths)

    def __enter__(self):
        return self

    def __exit__(self, *info):
        sys.path = self.object
        sys.path[:] = self.value


def modules_setup():
    return (sys.modules.copy(),)


def modules_cleanup(saved):
    sys.modules.clear()
    sys.modules.update(saved)


@contextlib.contextmanager
def ready_to_import(name=None, source=""):
    import tempfile
    name = name or "spam"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name + ".py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        saved = sys.modules.pop(name, None)
        sys.path.insert(0, folder)
        try:
            yield name, path
        finally:
            sys.path.remove(folder)
            sys.modules.pop(name, None)
            if saved is not None:
                sys.modules[name] = saved


@contextlib.contextmanager
def isolated_modules():
    (saved,) = modules_setup()
    try:
        yield
    finally:
        modules_cleanup(saved)
