"""Random programs of the language, seeded: each is a function of some statements that print what they compute.

A program is a list of top-level statements, each a list of lines; run.py may leave statements out to find the
smallest program that still differs. Every loop is bounded, nothing depends on addresses, hashes of strings or time.
"""
import random
import warnings

import calls
from expressions import LITERALS, SHOWN, Expressions
from features import EXCEPTIONS, Features, indent
from scopes import SCOPES_PRELUDE, Scopes
from walks import WALK_LITERALS, WALK_PRELUDE, Walks
from walks_more import MORE_LITERALS, MORE_PRELUDE

LITERALS.update(calls.LITERALS)
LITERALS.update(WALK_LITERALS)
LITERALS.update(MORE_LITERALS)

PRELUDE = '''import array
import ast
import asyncio
import binascii
import bisect
import cmath
import codecs
import collections
import collections.abc
import contextlib
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import gc
import heapq
import inspect
import io
import itertools
import json
import math
import numbers
import operator
import pickle
import queue
import random
import re
import statistics
import string
import struct
import textwrap
import threading
import types
import typing
import unicodedata
import weakref
import zlib
from concurrent import futures

gc.disable()


def tell(e):
    try:
        text = str(e)
    except BaseException as other:
        text = f'(its str raises {type(other).__name__})'
    print(type(e).__name__ + ':', text)


def attempt(f):
    print('@', f.__name__)
    try:
        f()
    except BaseException as e:
        tell(e)
    gc.collect()  # whatever a cycle that dies says is said here, by both


def show(f):
    try:
        print(repr(f()))
    except BaseException as e:
        tell(e)


def literal(text):
    try:
        return ast.literal_eval(text)
    except ValueError as e:     # its message may name a node by its address
        return str(e).partition(':')[0]


class Recorder:
    """A context manager that says what happens; it swallows what it is told to."""

    def __init__(self, name, swallow=()):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        print('enter', self.name)
        return self

    def __exit__(self, kind, value, trace):
        print('exit', self.name, kind.__name__ if kind else None)
        return kind is not None and issubclass(kind, self.swallow)

    async def __aenter__(self):
        await asyncio.sleep(0)
        return self.__enter__()

    async def __aexit__(self, kind, value, trace):
        await asyncio.sleep(0)
        return self.__exit__(kind, value, trace)


async def later(value):
    await asyncio.sleep(0)
    return value


async def each(values):
    try:
        for value in values:
            got = yield value
            if got is not None:
                print('each got', got)
            await asyncio.sleep(0)
    finally:
        print('each is over')


async def together(*coroutines):
    return await asyncio.gather(*coroutines, return_exceptions=True)


async def take(generator, count=4):
    taken = []
    async for item in generator:
        taken.append(item)
        if len(taken) == count:
            await generator.aclose()
            break
    return taken

''' + WALK_PRELUDE + SCOPES_PRELUDE + MORE_PRELUDE

warnings.simplefilter('ignore', SyntaxWarning)     # of oddities such as `3 is None`

def compiles(lines):
    try:
        compile('def f():\n' + '\n'.join(indent(lines)), 'program', 'exec')
        return True
    except SyntaxError:
        return False


class Program(Features, calls.Calls, Walks, Scopes):
    # Also what seldom stands in a program: walks.py, scopes.py, calls.py (run.py --wide).
    wide = False
    # Nothing but calls of native functions and methods (run.py --calls).
    calls_only = False

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.expressions = Expressions(self.random)
        self.scope = self.expressions.scope
        self.serial = 0

    # --- pieces

    def expr(self, kind, depth=2):
        while True:
            text = self.expressions.expression(kind, depth)
            if compiles([f'x = ({text})']):
                return text

    def fresh(self, prefix='a'):
        self.serial += 1
        return f'{prefix}{self.serial}'

    def kind(self):
        return self.random.choice(SHOWN[:-1])

    def define(self, kind, name=None):
        name = name or self.fresh()
        self.scope.setdefault(kind, []).append(name)
        return name

    def known(self, kind):
        names = self.scope.get(kind)
        return self.random.choice(names) if names else None

    def block(self, depth, count=None):
        """Some statements whose new names do not leak out."""
        saved = {k: list(v) for k, v in self.scope.items()}
        lines = []
        for _ in range(count or self.random.randint(1, 3)):
            lines += self.statement(depth)
        self.scope.clear()
        self.scope.update(saved)
        return lines

    def statement(self, depth):
        simple = [self.assign, self.assign, self.show, self.show, self.show, self.augment, self.mutate, self.unpack] + [self.native_call] * self.wide
        compound = [self.if_, self.for_, self.for_, self.while_, self.try_, self.try_, self.with_, self.function, self.function,
                    self.generator, self.coroutine, self.class_, self.class_, self.match_, self.closure, self.raises]
        for _ in range(20):
            if depth <= 0 or self.random.random() < 0.5:
                lines = self.random.choice(simple)()
            else:
                lines = self.random.choice(compound if self.random.random() < 0.7 else self.compound())(depth - 1)
            if lines and compiles(['while x:'] + indent(lines)):
                return lines
        return ['pass']

    # --- simple statements

    def assign(self):
        kind = self.kind()
        text = self.expr(kind)
        if kind == 'int':
            text = f'({text}) % 1009' if self.random.random() < 0.5 else text
        name = self.known(kind) if self.random.random() < 0.3 else None
        return [f'{name or self.define(kind)} = {text}']

    def show(self):
        choice = self.random.random()
        text = self.expr(self.kind(), 3)
        if choice < 0.5:
            return [f'show(lambda: {text})'] if ':=' not in text else [f'print({text})']
        if choice < 0.7:
            return [f'print({text}, {self.expr(self.kind())})']
        if choice < 0.8:
            name = self.known('any') or self.known('int')
            return [f"print(f'{{{name}!r:>6}}|')"] if name else None
        return [f'print(repr({text}))']

    def augment(self):
        kind = self.random.choice(['int', 'float', 'str', 'ints', 'strs', 'dict', 'tup'])
        name = self.known(kind)
        if not name:
            return None
        operators = {'int': ['+=', '-=', '*=', '//=', '%=', '&=', '|=', '^='], 'float': ['+=', '-=', '*=', '/='], 'dict': ['|=']}
        operator = self.random.choice(operators.get(kind, ['+=']))
        operand = self.expr('small' if operator == '*=' else kind, 1)
        lines = [f'{name} {operator} {operand}']
        if kind in ('str', 'ints', 'strs', 'tup'):
            lines.append(f'{name} = {name}[:12]')
        return lines

    def mutate(self):
        kind = self.random.choice(['ints', 'dict', 'strs'])
        name = self.known(kind)
        if not name:
            return None
        item = {'ints': 'int', 'strs': 'str', 'dict': 'int'}[kind]
        value, index = self.expr(item, 1), self.expr('small', 0)
        if kind == 'dict':
            key = self.expr('str', 1)
            forms = [f'{name}[{key}] = {value}', f'{name}.pop({key}, {value})', f'del {name}[{key}]', f'{name}.update({key}={value})',
                     f'{name}.setdefault({key}, {value})', f'{name}[{key}] += {value}', f'{name}.clear()', f'print({name}.popitem())',
                     f'{name}.update({self.expr("dict", 1)})', f'print({name}.pop({key}))']
        else:
            forms = [f'{name}[{index}] = {value}', f'{name}.append({value})', f'{name}.insert({index}, {value})', f'del {name}[{index}]',
                     f'{name}.remove({value})', f'{name}[{index}:] = [{value}]', f'{name}[::2] = {self.expr(kind, 1)}', f'print({name}.pop())',
                     f'{name}.sort(reverse=True)', f'{name}.extend({self.expr(kind, 1)})', f'{name}[{index}] += {value}', f'print({name}.pop({index}))',
                     f'del {name}[{index}:]', f'{name}[1:3] = {self.expr(kind, 1)}']
        return [self.random.choice(forms), f'print({name})']

    def unpack(self):
        a, b, c = (self.fresh() for _ in range(3))
        forms = [(f'{a}, {b} = {self.expr("int")}, {self.expr("int")}', f'{a}, {b}'), (f'{a}, *{b} = {self.expr("ints")}', f'{a}, {b}'),
                 (f'*{a}, {b} = {self.expr("str")}', f'{a}, {b}'), (f'{a}, ({b}, {c}) = {self.expr("int")}, {self.expr("ints")}[:2]', f'{a}, {b}, {c}'),
                 (f'{a} = {b} = {self.expr("ints")}', f'{a} is {b}'), (f'[{a}, {b}] = {self.expr("tup")}', f'{a}, {b}'),
                 (f'{a}, *{b}, {c} = {self.expr("ints")}', f'{a}, {b}, {c}'), (f'{a}, {b} = {self.expr("dict")}', f'{a}, {b}')]
        line, names = self.random.choice(forms)
        return [line, f'print({names})']

    # --- compound statements

    def if_(self, depth):
        lines = [f'if {self.expr("any" if self.random.random() < 0.3 else "bool")}:'] + indent(self.block(depth))
        if self.random.random() < 0.3:
            lines += [f'elif {self.expr("bool")}:'] + indent(self.block(depth))
        if self.random.random() < 0.5:
            lines += ['else:'] + indent(self.block(depth))
        return lines

    def jump(self, name):
        word = self.random.choice(['break', 'continue'])
        return [f'if {self.expr("bool", 1)}:', f'    {word}'] if self.random.random() < 0.5 else [f'print({name})']

    def for_(self, depth):
        name, other = self.fresh('i'), self.fresh('i')
        heads = [(f'{name} in range({self.expr("tiny", 0)})', {name: 'int'}), (f'{name} in {self.expr("ints")}[:6]', {name: 'int'}),
                 (f'{name} in {self.expr("str")}[:5]', {name: 'str'}), (f'{name}, {other} in {self.expr("dict")}.items()', {name: 'str', other: 'int'}),
                 (f'{name}, {other} in enumerate({self.expr("strs")}[:5])', {name: 'int', other: 'str'}),
                 (f'{name}, {other} in zip({self.expr("ints")}, {self.expr("ints")}[:5])', {name: 'int', other: 'int'}),
                 (f'{name} in range({self.expr("tiny", 0)}, {self.expr("small", 0)}, -1)', {name: 'int'}),
                 (f'{name} in reversed({self.expr("ints")}[:4])', {name: 'int'}), (f'{name} in {self.expr("any", 1)}', {})]
        head, names = self.random.choice(heads)
        saved = {k: list(v) for k, v in self.scope.items()}
        for variable, kind in names.items():
            self.define(kind, variable)
        body = self.jump(name) + self.block(depth, self.random.randint(1, 2))
        self.scope.clear()
        self.scope.update(saved)
        lines = [f'for {head}:'] + indent(body)
        if self.random.random() < 0.2:
            lines += ['else:'] + indent(self.block(depth, 1))
        return lines

    def while_(self, depth):
        name = self.fresh('n')
        lines = [f'{name} = {self.random.randint(1, 5)}', f'while {name} > 0 and {self.expr("bool")}:', f'    {name} -= 1']
        lines += indent(self.jump(name) + self.block(depth, 1))
        if self.random.random() < 0.2:
            lines += ['else:', "    print('no break')"]
        return lines

    def try_(self, depth):
        kinds = self.random.sample(EXCEPTIONS, 2)
        caught = self.random.choice([f'{kinds[0]} as e', kinds[0], f'({kinds[0]}, {kinds[1]}) as e', 'Exception as e'])
        lines = ['try:'] + indent(self.block(depth) + ([] if self.random.random() < 0.6 else self.raises(0))) + [f'except {caught}:']
        lines += ['    print("caught", type(e).__name__, e)' if 'as e' in caught else '    print("caught")']
        if self.random.random() < 0.2:
            lines += [f'    raise {self.random.choice(EXCEPTIONS)}({self.expr("str", 1)})' + self.random.choice(['', ' from None', ' from e' if 'as e' in caught else ''])]
        if self.random.random() < 0.3:
            lines += ['else:'] + indent(self.block(depth, 1))
        if self.random.random() < 0.4:
            lines += ['finally:'] + indent(["print('finally')"] + self.block(0, 1))
        return lines

    def raises(self, depth):
        kind = self.random.choice(EXCEPTIONS)
        forms = [f'raise {kind}({self.expr("any", 1)})', f'raise {kind}', f'assert {self.expr("bool", 1)}, {self.expr("any", 1)}',
                 f'assert {self.expr("bool", 1)}', f'raise {kind}({self.expr("str", 1)}, {self.expr("int", 1)})']
        return [f'if {self.expr("bool", 1)}:', f'    {self.random.choice(forms)}']

    def with_(self, depth):
        swallow = self.random.choice(['', f', {self.random.choice(EXCEPTIONS)}', ', Exception'])
        name = self.fresh('m')
        second = ", Recorder('inner')" if self.random.random() < 0.3 else ''
        return [f"with Recorder('{name}'{swallow}) as {name}{second}:"] + indent(self.block(depth) + [f'print({name}.name)'])

    def match_(self, depth):
        subject = self.expr(self.random.choice(['int', 'tup', 'ints', 'str', 'dict', 'any']))
        patterns = [f'{self.random.randint(-1, 5)}', '[a, b]', '(a, *rest)', '[]', "{'a': a, **rest}", 'int(a)', 'str() as a', '[int(a), str(b)]', 'float() | bool()', "'a' | 'b'", 'None',
                    '[a, [b, *_]]', 'list([a])', 'tuple((a, _))', '(1 | 2) as a', 'dict(a)', 'True']
        lines = [f'match {subject}:']
        for pattern in self.random.sample(patterns, self.random.randint(1, 4)):
            names = [n for n in ('a', 'b', 'rest') if n in pattern.replace('True', '').replace("'a'", '').replace("'b'", '').replace('bool', '').replace('float', '')
                     and (n == 'rest' or any(part.strip('()[]{}*,:') == n for part in pattern.replace('(', ' ').replace('[', ' ').replace('|', ' ').split()))]
            guard = f' if {self.expr("bool", 1)}' if self.random.random() < 0.3 else ''
            lines += [f'    case {pattern}{guard}:', f'        print({", ".join([repr(pattern)] + names)})']
        return lines + ['    case _:', "        print('other')"] if self.random.random() < 0.8 else lines

    # --- functions

    def parameters(self):
        """Text of a parameter list, and the names with their kinds."""
        kinds = {self.fresh('p'): self.kind() for _ in range(self.random.randint(0, 3))}
        parts, default = [], False
        for name, kind in kinds.items():
            default = default or self.random.random() < 0.3
            parts.append(f'{name}={self.expr(kind, 1)}' if default else name)
        if parts and self.random.random() < 0.1:
            parts.insert(self.random.randint(1, len(parts)), '/')
        extra = {}
        if self.random.random() < 0.3:
            parts.append('*args')
            extra['args'] = 'tup'
        elif self.random.random() < 0.2:
            parts.append('*')
        if parts and parts[-1].startswith('*'):
            name = self.fresh('p')
            if parts[-1] == '*' or self.random.random() < 0.5:
                parts.append(name + self.random.choice(['', f'={self.expr("int", 0)}']))
                kinds[name] = 'int'
        if self.random.random() < 0.2:
            parts.append('**rest')
            extra['rest'] = 'dict'
        return ', '.join(parts), kinds, extra

    def arguments(self, kinds):
        """A call's arguments, mostly right."""
        parts, named = [], False
        for name, kind in kinds.items():
            if self.random.random() < 0.07:
                continue
            named = named or self.random.random() < 0.2
            parts.append(f'{name}={self.expr(kind, 1)}' if named else self.expr(kind, 1))
        if not named and self.random.random() < 0.15:
            parts.append(self.random.choice([self.expr('int', 1), f'*{self.expr("tup", 1)}', f'*{self.expr("ints", 0)}']))
        if self.random.random() < 0.1:
            parts.append(self.random.choice(['extra=1', f'**{self.expr("dict", 1)}', '**{}']))
        return ', '.join(parts)

    def body(self, kinds, depth, ending):
        saved = {k: list(v) for k, v in self.scope.items()}
        for name, kind in kinds.items():
            self.define(kind, name)
        lines = []
        for _ in range(self.random.randint(0, 2)):
            lines += self.statement(depth)
        lines += ending()
        self.scope.clear()
        self.scope.update(saved)
        return indent(lines)

    def function(self, depth):
        name = self.fresh('f')
        text, kinds, extra = self.parameters()
        result = self.kind()
        lines = [f'def {name}({text}):'] + self.body({**kinds, **extra}, depth, lambda: [f'return {self.expr(result)}'])
        for _ in range(self.random.randint(1, 2)):
            lines.append(f'show(lambda: {name}({self.arguments(kinds)}))')
        if self.random.random() < 0.2:
            lines = [f'@functools.{self.random.choice(["cache", "wraps(show)", "lru_cache(maxsize=None)"])}'] + lines
        return lines

    def generator(self, depth):
        name = self.fresh('g')
        text, kinds, extra = self.parameters()

        def ending():
            forms = [f'yield {self.expr("any")}', f'yield from {self.expr("ints")}[:4]', 'got = yield 1', 'print("got", (yield))', f'for j in {self.expr("str")}[:3]:',
                     f'return {self.expr("int")}']
            lines = ['yield']
            for form in self.random.sample(forms, self.random.randint(1, 4)):
                lines += [form] + (['    yield j * 2'] if form.endswith(':') else [])
            return lines
        lines = [f'def {name}({text}):'] + self.body({**kinds, **extra}, depth, ending)
        call, it = f'{name}({self.arguments(kinds)})', self.fresh('t')
        uses = [[f'show(lambda: list(itertools.islice({call}, 8)))'], [f'for {it} in {call}:', f'    print({it})'],
                [f'{it} = {call}', f'show(lambda: next({it}))', f'show(lambda: {it}.send({self.expr("int", 1)}))', f'{it}.close()', f'print(list({it}))'],
                [f'{it} = {call}', f'show(lambda: next({it}))', f'show(lambda: {it}.throw(ValueError("thrown")))', f'show(lambda: next({it}, "end"))'],
                [f'show(lambda: dict(enumerate({call})))'], [f'show(lambda: sum(1 for _ in {call}))'], [f'print(*{call}, sep="/")']]
        return lines + self.random.choice(uses)

    def coroutine(self, depth):
        """An async function or an asynchronous generator, and how it is awaited."""
        name = self.fresh('f')
        text, kinds, extra = self.parameters()
        generates = self.random.random() < 0.3

        def ending():
            forms = [[f'print(await later({self.expr("any")}))'], ['await asyncio.sleep(0)'], [f'async for j in each({self.expr("str")}[:3]):', '    print(j)'],
                     [f'async with Recorder({self.fresh("r")!r}, {self.random.choice(EXCEPTIONS)}):', f'    print(await later({self.expr("int")}))'],
                     [f'print([j async for j in each({self.expr("ints")}[:3])])'], [f'print({{await later(j) for j in {self.expr("ints")}[:3]}})'],
                     [f'print([k async for k in (j async for j in each({self.expr("str")}[:2]))])'],
                     ['try:', f'    await asyncio.wait_for(later({self.expr("int")}), 900)', f'except {self.random.choice(EXCEPTIONS)} as e: print(repr(e))'],
                     ['async with asyncio.TaskGroup() as group:', f'    task = group.create_task(later({self.expr("int")}))', 'print(task.result())']]
            if generates:
                forms += [[f'yield {self.expr("any")}'], ['print("got", (yield 1))']]
            lines = ['yield' if generates else 'await later(1)']
            for form in self.random.sample(forms, self.random.randint(1, 4)):
                lines += form
            return lines + ([] if generates else [f'return {self.expr("any")}'])
        lines = [f'async def {name}({text}):'] + self.body({**kinds, **extra}, depth, ending)
        call = f'{name}({self.arguments(kinds)})'
        if generates:
            uses = [f'asyncio.run(take({call}))', f'asyncio.run(later({call}.__anext__().close()))', f'type({call}).__name__']
        else:
            uses = [f'asyncio.run({call})', f'asyncio.run(together({call}, {call}))', f'{call}.close()', f'asyncio.run(asyncio.wait_for({call}, 900))']
        return lines + [f'show(lambda: {use})' for use in self.random.sample(uses, self.random.randint(1, 2))]

    def closure(self, depth):
        outer, inner, count = self.fresh('f'), self.fresh('f'), self.fresh('c')
        step = self.expr('small', 0)
        lines = [f'def {outer}({count}={self.expr("int", 0)}):', f'    def {inner}(by={step}):']
        if self.random.random() < 0.8:
            lines += [f'        nonlocal {count}']
        lines += [f'        {count} = {count} + by', f'        return {count}', f'    {count} *= 2', f'    return {inner}, lambda: {count}']
        a, b = self.fresh(), self.fresh()
        lines += [f'{a}, {b} = {outer}()', f'show({a})', f'show(lambda: {a}({self.expr("int", 1)}))', f'show({b})']
        if self.random.random() < 0.4:
            lines += [f'{a} = [lambda k={self.expr("int", 0)}: (i, k) for i in range(3)]', f'print([g() for g in {a}])']
        return lines

    # --- classes

    def class_(self, depth):
        name, base = self.fresh('C').upper(), self.fresh('B').upper()
        lines = [f'class {base}:', f'    label = {self.expr("str", 1)}', '    def __init__(self, n=1, *more):', '        self.n, self.more = n, more',
                 f'    def value(self): return {self.expr("int", 1)} + self.n', "    def __repr__(self): return f'{type(self).__name__}({self.n})'"]
        lines += [f'class {name}({base}):']
        members = [
            ['def value(self): return super().value() * 2'], ['def __eq__(self, other): return isinstance(other, type(self)) and self.n == other.n'],
            ['def __lt__(self, other): return self.n < other.n'], ['def __add__(self, other): return type(self)(self.n + (other.n if isinstance(other, type(self)) else other))'],
            ['def __radd__(self, other): return ("radd", other, self.n)'], ['def __len__(self): return self.n'], ['def __bool__(self): return self.n > 1'],
            ['def __getitem__(self, i):', '    if i > 3: raise IndexError(i)', '    return i * self.n'], ['def __contains__(self, x): return x == self.n'],
            ['def __iter__(self):', '    yield self.n', '    yield from self.more'], ['def __call__(self, *a, **k): return (a, k, self.n)'],
            ['@property', 'def twice(self): return self.n * 2'], ['@staticmethod', 'def make(n): return n + 1'], ['@classmethod', 'def build(cls, n): return cls(n, n)'],
            ['def __getattr__(self, name):', '    if name.startswith("x"): return name', '    raise AttributeError(name)'], ['def __str__(self): return "str " + self.label'],
            ['def __hash__(self): return self.n'], ['def __neg__(self): return type(self)(-self.n)'], ['def __setitem__(self, i, v): self.more = self.more + ((i, v),)'],
            ['def __format__(self, spec): return f"<{spec}>"'], ['def __iadd__(self, other):', '    self.n += other', '    return self'],
            ['def __init__(self, n, *more, k=0):', '    super().__init__(n + k, *more)', '    self.k = k'], ['__slots__ = ("s",)'], ['def __int__(self): return self.n', '__index__ = __int__'],
            ['@property', 'def m(self): return self._m', '@m.setter', 'def m(self, v): self._m = v + 1'], ['def __enter__(self): return self', 'def __exit__(self, *a): return True'],
            ['def __mul__(self, other): return NotImplemented'], ['def __sub__(self, other): return self.n - other'], ['def __delattr__(self, name): print("del", name)'],
        ]
        for member in self.random.sample(members, self.random.randint(1, 6)):
            lines += indent(member)
        a = self.fresh('o')
        lines.append(f'{a} = {name}({self.expr("small", 0)}, {self.expr("int", 0)})')
        uses = ['{a}', 'str({a})', '{a}.value()', '{a} == {n}(1)', '{a} < {n}(2)', '{a} + 1', '1 + {a}', '{a} + {a}', 'len({a})', 'bool({a})', '{a}[1]', '{a}["k"]', 'list({a})', '3 in {a}',
                '{a}(1, z=2)', '{a}.twice', '{n}.make(1)', '{n}.build(5)', '{a}.xyz', '{a}.nothing', 'f"{{{a}:>4}}"', 'hash({a}) == hash({a})', '-{a}', '{a} * 2', '{a} - 1', '{n}.__name__', 'int({a})', '[10, 20, 30][{a}]',
                'isinstance({a}, {b})', 'issubclass({n}, {b})', '{n}.label', '{a}.label', 'sorted([{n}(3), {n}(1), {n}(2)])', '{a}.m', 'setattr({a}, "m", 4)', 'vars({a})', 'hasattr({a}, "n")', 'getattr({a}, "q", 7)',
                '[c.__name__ for c in type({a}).__mro__]', '{n}()', '{n}(1, k=2).n', '{a} != {a}', '{a} >= {a}', 'sum([{n}(1), {n}(2)], {a})', '{a}.__class__ is {n}', 'max({a}, {n}(9))', '"%s %r" % ({a}, {a})', '{n}.value({a})',
                '{{{a}: 1}}[{a}]', 'delattr({a}, "n")', '{a}.n']
        for use in self.random.sample(uses, self.random.randint(2, 6)):
            lines.append('show(lambda: ' + use.format(a=a, n=name, b=base) + ')')
        if self.random.random() < 0.3:
            lines += [self.random.choice([f'{a} += 2', f'{a}.m = 5', f'{a}[0] = 1', f'del {a}.n', f'{a}.fresh = 1', f'with {a} as z: print(1 / 0)', f'for q in {a}: print(q)']), f'show(lambda: {a})']
        return lines


def program(seed):
    """The statements of one program, each a list of lines."""
    p = Program(seed)
    statements = [p.assign() for _ in range(p.random.randint(1, 4))]
    for _ in range(p.random.randint(4, 9)):
        statements.append(p.native_call() if p.calls_only else p.statement(2))
    return [s for s in statements if compiles(s)] or [['pass']]


def source(name, statements):
    lines = [line for statement in statements for line in statement]
    return f'def {name}():\n' + '\n'.join(indent(lines)) + '\n'


def batch(programs, prelude=PRELUDE):
    """One file that runs many programs; each announces itself."""
    text = prelude
    for name, statements in programs:
        text += '\n\n' + source(name, statements)
    return text + '\n\n' + '\n'.join(f'attempt({name})' for name, _ in programs) + '\n'
