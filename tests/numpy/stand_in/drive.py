"""Runs the test functions of one file, each of their cases for itself, and notes what each came to.

    drive.py FILE NOTES [--after CASE] [--only WORD...]

NOTES gets `BEGIN case` and `END case outcome words` for each, and DONE; so whoever started this program knows where it ended.
"""
import contextlib
import importlib.util
import inspect
import io
import itertools
import os
import pathlib
import shutil
import sys
import tempfile
import warnings

import pytest

BUILT_IN = ('tmp_path', 'tmpdir', 'monkeypatch', 'request', 'capsys', 'recwarn')


def marks_of(thing):
    found = getattr(thing, 'pytestmark', [])
    return list(found) if isinstance(found, (list, tuple)) else [found]


def all_marks(module, cls, function):
    of_class = []
    for base in reversed(cls.__mro__ if cls else ()):
        of_class += [m for m in base.__dict__.get('pytestmark', [])] if isinstance(base.__dict__.get('pytestmark', []), list) \
            else [base.__dict__['pytestmark']]
    return marks_of(module) + of_class + marks_of(function)


def skipped(marks):
    """Why a test is not to run, or None."""
    for m in marks:
        if m.name == 'skip':
            return 'skip'
        if m.name == 'skipif' and m.args and m.args[0] and not isinstance(m.args[0], str):
            return str(m.kwargs.get('reason', 'skipif'))
        if m.name == 'xfail' and (not m.args or m.args[0]):
            return 'xfail'
        if m.name == 'slow':
            return 'slow'
    return None


def parameter_sets(marks):
    """For each case of a test: its arguments by name, and the marks of their own that some have."""
    axes = []
    for m in marks:
        if m.name != 'parametrize':
            continue
        names, values = (list(m.args) + [m.kwargs.get('argvalues')])[:2] if m.args else (m.kwargs['argnames'], m.kwargs['argvalues'])
        names = [n.strip() for n in names.split(',') if n.strip()] if isinstance(names, str) else list(names)
        axis = []
        for value in all_of(values):
            extra = []
            if isinstance(value, pytest.Lost):
                axis.append((dict.fromkeys(names, value), extra))
                continue
            if isinstance(value, pytest.Param):
                extra, value = value.marks, value.values if len(names) > 1 else value.values[0]
            axis.append((dict(zip(names, value)) if len(names) > 1 else {names[0]: value}, extra))
        axes.append(axis)
    for combination in itertools.product(*axes):
        arguments, extra = {}, []
        for given, own in combination:
            arguments.update(given)
            extra += own
        yield arguments, extra


def all_of(values):
    """The values, and one that is lost behind them when their generator fails."""
    try:
        yield from values
    except Exception as error:
        yield pytest.Lost(error)


class Request:
    def __init__(self, parameter=None, node=None):
        self.param, self.node = parameter, node
        self._finalizers = []

    def addfinalizer(self, function):
        self._finalizers.append(function)


class Setting:
    """The fixtures of one case."""

    def __init__(self, module, instance, arguments, chosen):
        self.module, self.instance, self.chosen = module, instance, chosen
        self.values, self.endings = dict(arguments), []

    def find(self, name):
        if self.instance is not None:
            found = getattr(type(self.instance), name, None)
            if isinstance(found, pytest.Fixture):
                return found
        for found in vars(self.module).values():
            if isinstance(found, pytest.Fixture) and found.name == name:
                return found
        return None

    def value(self, name):
        if name in self.values:
            return self.values[name]
        if name in ('tmp_path', 'tmpdir'):
            there = tempfile.mkdtemp()
            self.endings.append(lambda: shutil.rmtree(there, ignore_errors=True))
            made = pathlib.Path(there)
        elif name == 'monkeypatch':
            made = pytest.MonkeyPatch()
            self.endings.append(made.undo)
        elif name == 'request':
            made = Request()
        else:
            made = self.of_fixture(name)
        self.values[name] = made
        return made

    def of_fixture(self, name):
        fixture = self.find(name)
        if fixture is None:
            raise LookupError(f'fixture {name!r} not found')
        arguments, request = {}, Request(self.chosen.get(name))
        names = list(inspect.signature(fixture.function).parameters)
        method = bool(names) and names[0] == 'self'
        for each in names[1:] if method else names:
            arguments[each] = request if each == 'request' else self.value(each)
        made = fixture.function(self.instance, **arguments) if method else fixture.function(**arguments)
        if inspect.isgenerator(made):
            generator, made = made, next(made)
            self.endings.append(lambda: next(generator, None))
        self.endings += request._finalizers
        return made

    def end(self):
        while self.endings:
            self.endings.pop()()


def fixture_choices(setting, names, seen=()):
    """The fixtures with params that a test reaches, and their params."""
    found = {}
    for name in names:
        fixture = setting.find(name) if name not in setting.values and name not in seen else None
        if fixture is None:
            continue
        if fixture.params is not None:
            found[name] = list(fixture.params)
        inner = [n for n in inspect.signature(fixture.function).parameters if n != 'self']
        found.update(fixture_choices(setting, inner, (*seen, name)))
    return found


def automatic(module, cls):
    spaces = [vars(module)] + [vars(base) for base in (cls.__mro__ if cls else ())]
    return [f.name for space in spaces for f in space.values() if isinstance(f, pytest.Fixture) and f.autouse]


def tests_of(module):
    for name, value in list(vars(module).items()):
        if isinstance(value, type) and name.startswith('Test') and getattr(value, '__test__', True):
            seen = {}
            for base in reversed(value.__mro__):
                for key in vars(base):
                    if key.startswith('test'):
                        seen[key] = getattr(value, key)
            for key, function in seen.items():
                if callable(function) and not isinstance(function, type):
                    yield f'{name}.{key}', value, function
        elif name.startswith('test') and callable(value) and hasattr(value, '__code__'):
            yield name, None, value


def cases_of(module):
    for name, cls, function in tests_of(module):
        marks = all_marks(module, cls, function)
        try:
            names = [n for n in inspect.signature(function).parameters if n != 'self']
            sets = list(parameter_sets(marks))
            arguments = sets[0][0] if sets else {}
            # Which fixtures have params may depend on no instance: the class is asked.
            blank = object.__new__(cls) if cls is not None and not is_unittest(cls) else None
            wanted = names + automatic(module, cls)
            wanted += [n for m in marks if m.name == 'usefixtures' for n in m.args]
            choices = fixture_choices(Setting(module, blank, arguments, {}), wanted)
        except Exception as error:
            yield f'{name}[0]', lambda error=error: fail_with(error)
            continue
        keys = list(choices)
        number = 0
        for given, extra in sets:
            for combination in itertools.product(*[choices[k] for k in keys]):
                chosen, more = {}, []
                for key, value in zip(keys, combination):
                    if isinstance(value, pytest.Param):
                        more += value.marks
                        value = value.values[0]
                    chosen[key] = value
                yield f'{name}[{number}]', bound_call(run_case, module, cls, function, names, wanted, given, chosen,
                                                             marks + extra + more)
                number += 1


def bound_call(function, *args):
    return lambda: function(*args)


def fail_with(error):
    raise error


def is_unittest(cls):
    import unittest
    return issubclass(cls, unittest.TestCase)


def run_case(module, cls, function, names, wanted, given, chosen, marks):
    reason = skipped(marks)
    if reason:
        raise pytest.Skipped(reason)
    for value in given.values():
        if isinstance(value, pytest.Lost):
            raise value.error
    instance = None
    if cls is not None:
        instance = cls(function.__name__) if is_unittest(cls) else cls()
    # Arguments that a fixture of the same name takes through `request.param`.
    indirect = {m.args[0]: True for m in marks if m.name == 'parametrize' and m.kwargs.get('indirect')}
    for name in indirect:
        chosen = {**chosen, name: given.get(name)}
    setting = Setting(module, instance, {k: v for k, v in given.items() if k not in indirect}, chosen)
    try:
        if instance is not None:
            for start in ('setup_class', 'setup_method', 'setUp'):
                if hasattr(instance, start):
                    begin = getattr(instance, start)
                    begin(function) if start == 'setup_method' and len(inspect.signature(begin).parameters) else begin()
        for name in wanted:
            setting.value(name)
        arguments = {name: setting.value(name) for name in names}
        with warnings.catch_warnings():
            for m in marks:
                if m.name == 'filterwarnings' and m.args[0].startswith('ignore'):
                    warnings.simplefilter('ignore')
            bound = function if instance is None or isinstance(getattr(cls, '__dict__', {}).get(function.__name__), staticmethod) \
                else getattr(instance, function.__name__)
            bound(**arguments)
    finally:
        if instance is not None:
            for last in ('teardown_method', 'tearDown', 'teardown_class'):
                if hasattr(instance, last):
                    getattr(instance, last)()
        setting.end()


def words_of(error):
    lines = [line for line in str(error).splitlines() if line.strip()]
    return (f'{type(error).__name__}: ' + ' | '.join(lines[:3]))[:200]


def load(path):
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


def main(path, notes, *rest):
    rest = list(rest)
    after = rest[rest.index('--after') + 1] if '--after' in rest else None
    only = rest[rest.index('--only') + 1:] if '--only' in rest else []
    sys.path.insert(0, os.path.dirname(path))
    with open(notes, 'a', encoding='utf-8', errors='backslashreplace') as out:
        def note(line):
            out.write(line.replace('\n', ' ') + '\n')
            out.flush()
        try:
            module = load(path)
        except BaseException as error:
            note('LOAD ' + words_of(error))
            return
        for case, run in cases_of(module):
            if after is not None:
                after = None if case == after else after
                continue
            if only and not any(word in case for word in only):
                continue
            note('BEGIN ' + case)
            quiet = io.StringIO()
            try:
                with contextlib.redirect_stdout(quiet), warnings.catch_warnings():
                    run()
                note(f'END {case} passed')
            except pytest.Skipped as error:
                note(f'END {case} skipped {error}')
            except BaseException as error:
                if type(error).__name__ == 'SkipTest':
                    note(f'END {case} skipped {error}')
                else:
                    note(f'END {case} failed ' + words_of(error))
        note('DONE')


if __name__ == '__main__':
    main(*sys.argv[1:])
