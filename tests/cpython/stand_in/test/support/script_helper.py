"""Stand-in for test.support.script_helper: runs sys.executable, whichever program that is."""
import collections
import contextlib
import os
import subprocess
import sys
import unittest
import zipfile

Result = collections.namedtuple("_PythonRunResult", ("rc", "out", "err"))


def interpreter_requires_environment():
    return True


def run_python_until_end(*args, **env_vars):
    env = os.environ.copy()
    env_vars.pop("__isolated", None)
    if env_vars.pop("__cleanenv", None):
        env = {}
    cwd = env_vars.pop("__cwd", None)
    env.update(env_vars)
    process = subprocess.Popen([sys.executable, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=cwd)
    with process:
        out, err = process.communicate()
    return Result(process.returncode, out, err), [sys.executable, *args]


def _assert_python(expected_success, /, *args, **env_vars):
    result, command = run_python_until_end(*args, **env_vars)
    if bool(result.rc) == expected_success:
        raise AssertionError("Process return code is %d\ncommand line: %r\n\nstdout:\n%s\n\nstderr:\n%s" % (
            result.rc, command, result.out.decode("ascii", "replace"), result.err.decode("ascii", "replace")))
    return result


def assert_python_ok(*args, **env_vars):
    return _assert_python(True, *args, **env_vars)


def assert_python_failure(*args, **env_vars):
    return _assert_python(False, *args, **env_vars)


def spawn_python(*args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kw):
    env = kw.setdefault("env", dict(os.environ))
    env["TERM"] = "vt100"
    return subprocess.Popen([sys.executable, *args], stdin=subprocess.PIPE, stdout=stdout, stderr=stderr, **kw)


def kill_python(p):
    p.stdin.close()
    data = p.stdout.read()
    p.stdout.close()
    p.wait()
    return data


def make_script(script_dir, script_basename, source, omit_suffix=False):
    name = script_basename if omit_suffix else script_basename + ".py"
    path = os.path.join(script_dir, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    return path


def make_pkg(pkg_dir, init_source=""):
    os.mkdir(pkg_dir)
    make_script(pkg_dir, "__init__", init_source)


def make_zip_script(zip_dir, zip_basename, script_name, name_in_zip=None):
    path = os.path.join(zip_dir, zip_basename + ".zip")
    name_in_zip = name_in_zip or os.path.basename(script_name)
    with zipfile.ZipFile(path, "w") as file:
        file.write(script_name, name_in_zip)
    return path, os.path.join(path, name_in_zip)


@contextlib.contextmanager
def temp_dir():
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        yield os.path.realpath(folder)


def make_zip_pkg(zip_dir, zip_basename, pkg_name, script_basename, source, depth=1, compiled=False):
    """A zip file with `depth` nested packages and a script in the innermost one; returns its path and the path of the script inside."""
    if compiled:
        raise unittest.SkipTest("compiled files are CPython's")
    path = os.path.join(zip_dir, zip_basename + ".zip")
    folders = [os.sep.join([pkg_name] * level) for level in range(1, depth + 1)]
    inside = os.path.join(folders[-1], script_basename + ".py")
    with zipfile.ZipFile(path, "w") as file:
        for folder in folders:
            file.writestr(os.path.join(folder, "__init__.py"), "")
        file.writestr(inside, source)
    return path, os.path.join(path, inside)


def run_test_script(script):
    """Runs a script whose failure is the failure of the test."""
    assert_python_ok("-u", script, "-v")
