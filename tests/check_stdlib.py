#!/usr/bin/env python3
"""Try stdlib/python/*.tsr under CPython: every golden script runs twice, with CPython's modules and with ours, and both must agree.

Native halves that do more than CPython's are emulated here and only here.
Usage: check_stdlib.py [SCRIPT...]          all of tests/scripts/lang/lib by default
       check_stdlib.py --ours SCRIPT [ARGS] run one script with our modules and show what it prints
"""
import builtins
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import operator
import pathlib
import subprocess
import sys

PLAIN_LRU = functools.lru_cache
ROOT = pathlib.Path(__file__).resolve().parent.parent
STDLIB = ROOT / "stdlib" / "python"
GOLDEN = ROOT / "tests" / "scripts" / "lang" / "lib"


def our_modules():
    """Module name -> file, for flat modules and packages."""
    found = {}
    for path in STDLIB.rglob("*.tsr"):
        parts = list(path.relative_to(STDLIB).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path
    return found


class OurFinder(importlib.abc.MetaPathFinder):
    def __init__(self, files):
        self.files = files

    def find_spec(self, name, path=None, target=None):
        if name not in self.files:
            return None
        file = self.files[name]
        loader = importlib.machinery.SourceFileLoader(name, str(file))
        where = [str(file.parent)] if file.name == "__init__.tsr" else None
        return importlib.util.spec_from_file_location(name, str(file), loader=loader, submodule_search_locations=where)


def emulate_natives():
    """Native halves that do more than CPython's module of the same name."""
    import _random
    import hashlib

    class Random(_random.Random):
        def seed(self, a=None):
            if isinstance(a, str):
                text = a.encode()
                a = int.from_bytes(text + hashlib.sha512(text).digest(), "big")
            super().seed(a)

        def _randbelow(self, n):
            r = self.getrandbits(n.bit_length())
            while r >= n:
                r = self.getrandbits(n.bit_length())
            return r

        def _shuffle(self, x):
            for i in reversed(range(1, len(x))):
                j = self._randbelow(i + 1)
                x[i], x[j] = x[j], x[i]

    def caller(depth):
        frame = sys._getframe(depth + 1)
        return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, frame.f_globals["__name__"]

    class CachedFunction:
        def __init__(self, function, maxsize, typed):
            self.__dict__["_typed"] = lambda: typed
            self.__dict__["_inner"] = PLAIN_LRU(maxsize, typed)(function)

        def __call__(self, *args, **kwargs):
            return self._inner(*args, **kwargs)

        def __get__(self, obj, cls=None):
            return self if obj is None else type(self.__get__)(self, obj)

        def _counts(self):
            return tuple(self._inner.cache_info())

        def cache_clear(self):
            self._inner.cache_clear()

    def assign(obj, names, values, plainly):
        for name, value in zip(names, values):
            object.__setattr__(obj, name, value) if plainly else setattr(obj, name, value)

    def ordered(a, b, names, op):
        compare = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge)[op]
        return compare(tuple([getattr(a, n) for n in names]), tuple([getattr(b, n) for n in names]))

    import _collections
    add_module("_collections", deque=_collections.deque, _tuplegetter=_collections._tuplegetter,
               _count_elements=_collections._count_elements,
               _tuplemaker=lambda size, function: function)
    add_module("_dataclasses", assign=assign, values=lambda obj, names: tuple([getattr(obj, name) for name in names]),
               initialise=lambda *args: False, ordered=ordered)
    add_module("_functools", CachedFunction=CachedFunction, cmp_to_key=functools.cmp_to_key, partial=functools.partial,
               reduce=functools.reduce)
    add_module("_random", Random=Random)
    add_module("_caller", caller=caller)
    for name in ("sys", "io", "time", "os", "os.path", "posixpath", "re", "json", "json.decoder", "json.encoder", "shutil", "traceback",
                 "datetime", "_strptime", "csv", "zlib", "struct", "binascii", "hashlib", "hmac", "copyreg", "_codecs", "importlib",
                 "ast", "contextvars", "codecs", "importlib.util", "importlib.metadata"):
        NATIVE_BELOW.add(name)


NATIVE_BELOW = set()  # ours stand on natives that CPython has in another form: CPython's stay


def add_module(name, **members):
    module = type(sys)(name)
    module.__dict__.update(members)
    sys.modules[name] = module


def run_ours(script, args):
    import traceback  # noqa: F401  (CPython's own modules are loaded before ours replace them)
    import ast  # noqa: F401
    import tokenize  # noqa: F401
    emulate_natives()
    files = {name: path for name, path in our_modules().items() if name not in NATIVE_BELOW}
    for name in list(sys.modules):
        if name in files:
            del sys.modules[name]
    sys.meta_path.insert(0, OurFinder(files))
    text = pathlib.Path(script).read_text()
    main = type(sys)("__main__")
    main.__file__ = script
    sys.modules["__main__"] = main
    sys.argv = [script] + args
    sys.path[0] = str(pathlib.Path(script).resolve().parent)
    sys.dont_write_bytecode = True
    exec(compile(text, script, "exec"), main.__dict__)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, cwd="/tmp", timeout=120)
    return done.stdout, done.returncode, done.stderr


def main():
    if sys.argv[1:2] == ["--ours"]:
        return run_ours(sys.argv[2], sys.argv[3:])
    scripts = [pathlib.Path(p).resolve() for p in sys.argv[1:]] or sorted(GOLDEN.glob("*.tsr"))
    bad = 0
    for script in scripts:
        want = run([sys.executable, str(script)])
        got = run([sys.executable, __file__, "--ours", str(script)])
        if want[:2] == got[:2]:
            continue
        bad += 1
        print(f"--- {script.name}: status {want[1]} {got[1]}")
        for a, b in zip(want[0].splitlines() + [""] * 999, got[0].splitlines() + [""] * 999):
            if a != b:
                print(f"  python: {a}\n  ours:   {b}")
                break
        if got[2]:
            print("  " + "\n  ".join(got[2].splitlines()[-4:]))
    print(f"{len(scripts) - bad} of {len(scripts)} agree")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
