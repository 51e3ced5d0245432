"""Stand-in for test.support.os_helper."""
import contextlib
import os
import shutil
import sys
import tempfile
import unittest
import warnings

TESTFN_ASCII = "@test_%d_tmp" % os.getpid()
TESTFN_UNICODE = TESTFN_ASCII + "-\xe0\xf2\u0258\u0141\u011f"
TESTFN_UNENCODABLE = None
TESTFN_UNDECODABLE = os.fsencode(TESTFN_ASCII) + b"\xe7w\xf0"
TESTFN_NONASCII = TESTFN_ASCII + "\xe6"
FS_NONASCII = "\xe6"
TESTFN = TESTFN_ASCII
SAVEDCWD = os.getcwd()


def unlink(filename):
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(filename)


def rmdir(dirname):
    with contextlib.suppress(FileNotFoundError):
        os.rmdir(dirname)


def rmtree(path):
    shutil.rmtree(path, ignore_errors=True)


def make_bad_fd():
    file = open(TESTFN, "wb")
    try:
        return file.fileno()
    finally:
        file.close()
        unlink(TESTFN)


def create_empty_file(filename):
    os.close(os.open(filename, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))


def can_symlink():
    return True


def can_xattr():
    return False


def can_chmod():
    return True


def can_dac_override():
    return os.geteuid() == 0


skip_unless_symlink = skip_unless_working_chmod = lambda test: test
skip_unless_xattr = unittest.skip("no extended attributes")
skip_if_dac_override = unittest.skipIf(os.geteuid() == 0, "root may do everything")
skip_unless_dac_override = lambda test: test


def fs_is_case_insensitive(directory):
    return False


@contextlib.contextmanager
def temp_dir(path=None, quiet=False):
    made = False
    if path is None:
        path, made = os.path.realpath(tempfile.mkdtemp()), True
    else:
        try:
            os.mkdir(path)
            made = True
        except OSError as error:
            if not quiet:
                raise
            warnings.warn("tests may fail, unable to create temporary directory %r: %s" % (path, error), RuntimeWarning, stacklevel=3)
    pid = os.getpid()
    try:
        yield path
    finally:
        if made and pid == os.getpid():
            rmtree(path)


@contextlib.contextmanager
def change_cwd(path, quiet=False):
    saved = os.getcwd()
    try:
        os.chdir(os.path.realpath(path))
    except OSError as error:
        if not quiet:
            raise
        warnings.warn("tests may fail, unable to change the current working directory to %r: %s" % (path, error), RuntimeWarning, stacklevel=3)
    try:
        yield os.getcwd()
    finally:
        os.chdir(saved)


@contextlib.contextmanager
def temp_cwd(name="tempcwd", quiet=False):
    with temp_dir(path=name, quiet=quiet) as path:
        with change_cwd(path, quiet=quiet) as there:
            yield there


@contextlib.contextmanager
def temp_umask(umask):
    old = os.umask(umask)
    try:
        yield
    finally:
        os.umask(old)


@contextlib.contextmanager
def open_dir_fd(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        yield fd
    finally:
        os.close(fd)


def fd_count():
    return len(os.listdir("/proc/self/fd")) - 1


class FakePath:
    def __init__(self, path):
        self.path = path

    def __repr__(self):
        return "<FakePath %r>" % self.path

    def __fspath__(self):
        if isinstance(self.path, BaseException) or isinstance(self.path, type) and issubclass(self.path, BaseException):
            raise self.path
        return self.path


class EnvironmentVarGuard:
    def __init__(self):
        self._environ = os.environ
        self._changed = {}

    def __getitem__(self, key):
        return self._environ[key]

    def __setitem__(self, key, value):
        self._changed.setdefault(key, self._environ.get(key))
        self._environ[key] = value

    def __delitem__(self, key):
        self._changed.setdefault(key, self._environ.get(key))
        self._environ.pop(key, None)

    def keys(self):
        return self._environ.keys()

    def __iter__(self):
        return iter(self._environ)

    def __len__(self):
        return len(self._environ)

    def get(self, key, default=None):
        return self._environ.get(key, default)

    def set(self, key, value):
        self[key] = value

    def unset(self, *keys):
        for key in keys:
            del self[key]

    def copy(self):
        return dict(self)

    def __enter__(self):
        return self

    def __exit__(self, *info):
        for key, value in self._changed.items():
            if value is None:
                self._environ.pop(key, None)
            else:
                self._environ[key] = value
        os.environ = self._environ
