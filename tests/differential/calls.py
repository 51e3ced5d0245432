"""Calls of native functions and methods with arguments of any type and number: results and the words of refusals.

The names come from the types and modules of the Python that runs the generator; what answers otherwise in each process
(addresses, hashes of strings, sizes) or would run for ever is left out.
"""
import array
import binascii
import bisect
import builtins
import cmath
import collections
import datetime
import decimal
import functools
import heapq
import inspect
import itertools
import math
import operator
import re
import struct
import types
import unicodedata
import zlib

# Kinds of receivers: (literals of that kind in expressions.py, the type whose methods are called).
RECEIVERS = [('int', int), ('float', float), ('str', str), ('bytes', bytes), ('bytes', bytearray), ('ints', list), ('tup', tuple), ('dict', dict), ('set', set), ('set', frozenset),
             ('cplx', complex), ('bool', bool), ('ranges', range), ('slices', slice), ('views', memoryview), ('arrays', array.array), ('deques', collections.deque), ('counters', collections.Counter),
             ('ordered', collections.OrderedDict), ('defaults', collections.defaultdict), ('chains', collections.ChainMap), ('proxies', types.MappingProxyType), ('patterns', re.Pattern), ('matches', re.Match), ('dates', datetime.date), ('times', datetime.datetime),
             ('deltas', datetime.timedelta), ('decimals', decimal.Decimal), ('structs', struct.Struct)]

LITERALS = {
    'ranges': ['range(0)', 'range(5)', 'range(1, 10, 3)', 'range(5, 0, -2)', 'range(2 ** 70, 2 ** 70 + 3)'],
    'slices': ['slice(None)', 'slice(1, 5)', 'slice(None, None, -1)', 'slice(0, 10, 3)', "slice('a')"],
    'views': ["memoryview(b'')", "memoryview(b'abcd')", "memoryview(bytearray(b'xyz1'))", "memoryview(b'12345678').cast('i')", "memoryview(array.array('h', [1, -2, 3]))", "memoryview(b'abcdef')[::2]", "memoryview(b'abcdef').cast('B', (2, 3))"],
    'arrays': ["array.array('i')", "array.array('b', [1, 2, 3])", "array.array('d', [0.5, -1])", "array.array('u', 'ab')", "array.array('Q', [2 ** 63])", "array.array('i', [3, 1, 3])"],
    'deques': ['collections.deque()', 'collections.deque([1, 2, 3])', 'collections.deque([1, 2], 2)', "collections.deque('abc', maxlen=5)", 'collections.deque([], 0)'],
    'counters': ['collections.Counter()', "collections.Counter('abca')", "collections.Counter(a=2, b=-1)", 'collections.Counter([1, 1, 2])'],
    'ordered': ['collections.OrderedDict()', 'collections.OrderedDict(a=1, b=2)', "collections.OrderedDict([('x', 0), (1, 2)])"],
    'defaults': ['collections.defaultdict(list)', 'collections.defaultdict(int, a=1)', "collections.defaultdict(None, {'b': 2})"],
    'chains': ["collections.ChainMap({'a': 1}, {'b': 2})", 'collections.ChainMap()', "collections.ChainMap({'a': 1}, {'a': 5, 'c': 3})"],
    'proxies': ["types.MappingProxyType({'a': 1})", 'types.MappingProxyType({})'],
    'patterns': ["re.compile('a+')", "re.compile(r'(?P<k>\\w)(\\d)?')", "re.compile(b'x')", "re.compile('')", "re.compile('^.', re.M | re.S)"],
    'matches': ["re.match(r'(?P<k>\\w)(\\d)?', 'a1b')", "re.search('b', 'abc')", "re.search('(x)?(b)', 'ab')", "re.match(b'(.)', b'zz')"],
    'dates': ['datetime.date(2024, 2, 29)', 'datetime.date(1, 1, 1)', 'datetime.date(9999, 12, 31)'],
    'times': ['datetime.datetime(2024, 2, 29, 12, 30)', 'datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)', 'datetime.datetime(1999, 12, 31, 23, 59, 59, 999999, fold=1)', 'datetime.datetime(2020, 5, 6, 7, 8, tzinfo=datetime.timezone(datetime.timedelta(hours=-5)))'],
    'deltas': ['datetime.timedelta(1)', 'datetime.timedelta(-1, 5, 7)', 'datetime.timedelta(hours=3.5)', 'datetime.timedelta(0)', 'datetime.timedelta(microseconds=1)'],
    'decimals': ["decimal.Decimal('1.50')", "decimal.Decimal('-3')", "decimal.Decimal('NaN')", "decimal.Decimal('Infinity')", "decimal.Decimal('1E+5')", "decimal.Decimal('0.00')", "decimal.Decimal(10 ** 30)", "decimal.Decimal('sNaN')"],
    'structs': ["struct.Struct('<hh')", "struct.Struct('3s')", "struct.Struct('')", "struct.Struct('>Bq')"],
    'callables': ['len', 'max', 'str.upper', 'int', '(lambda *a: a)', '(lambda x: x)', '(lambda x, y: x)', 'operator.add', 'None', 'print', 'math.sqrt', "operator.itemgetter(0)"],
    'iterators': ['iter([1, 2])', "iter('abc')", "zip([1], [2])", 'iter([])', 'map(len, ["a"])', '(x for x in (1, 2))', 'range(3)', 'enumerate("ab")'],
}

# Names that answer otherwise in each process, change the process, or tell of CPython's own memory.
UNSTABLE = {'__hash__', '__sizeof__', '__init_subclass__', '__subclasshook__', '__dir__', '__class__', '__doc__', '__new__', '__init__', '__getattribute__', '__setattr__', '__delattr__', '__reduce__', '__reduce_ex__', '__getstate__', '__module__',
            '__dict__', '__weakref__', '__class_getitem__', '__missing__', 'today', 'now', 'utcnow', 'fromtimestamp', 'buffer_info', 'tofile', 'fromfile', '__match_args__', '__orig_bases__', '__abstractmethods__', '__slots__', '_abc_impl', '__setstate__',
            '__copy__', '__deepcopy__', 'timestamp', 'astimezone', 'maps', '__annotations__', '__parameters__', '__repr__', '_fromtimestamp'}

MODULES = {
    'math': math, 'cmath': cmath, 'operator': operator, 'itertools': itertools, 'bisect': bisect, 'heapq': heapq, 'struct': struct, 'binascii': binascii, 'unicodedata': unicodedata, 'zlib': zlib,
    'builtins': None, 'functools': functools, 'datetime': datetime, 'collections': collections, 'types': types,
}
CHOSEN = {
    'builtins': ['abs', 'all', 'any', 'ascii', 'bin', 'bool', 'bytearray', 'bytes', 'callable', 'chr', 'classmethod', 'compile', 'complex', 'delattr', 'dict', 'divmod', 'enumerate', 'filter', 'float', 'format', 'frozenset', 'getattr', 'hasattr', 'hex',
                 'int', 'isinstance', 'issubclass', 'iter', 'len', 'list', 'map', 'max', 'memoryview', 'min', 'next', 'oct', 'ord', 'pow', 'property', 'range', 'repr', 'reversed', 'round', 'set', 'setattr', 'slice', 'sorted', 'staticmethod', 'str', 'sum',
                 'super', 'tuple', 'type', 'vars', 'zip', '__build_class__', 'aiter', 'anext', 'eval', 'exec', '__import__', 'BaseException', 'ExceptionGroup', 'UnicodeDecodeError', 'UnicodeEncodeError', 'OSError', 'ImportError', 'SyntaxError', 'StopIteration', 'KeyError', 'NameError', 'AttributeError', 'SystemExit'],
    'functools': ['reduce', 'cmp_to_key', 'partial', 'lru_cache'],
    'datetime': ['date', 'datetime', 'time', 'timedelta', 'timezone', 'date.fromisoformat', 'datetime.fromisoformat', 'date.fromordinal', 'date.fromisocalendar', 'datetime.combine', 'time.fromisoformat', 'datetime.strptime'],
    'collections': ['deque', 'OrderedDict', 'defaultdict', 'Counter'],
    'types': ['SimpleNamespace', 'MappingProxyType', 'MethodType', 'ModuleType', 'CellType', 'GenericAlias', 'new_class'],
    'struct': ['pack', 'unpack', 'calcsize', 'unpack_from', 'iter_unpack', 'Struct'],
    'heapq': ['heappush', 'heappop', 'heapify', 'heappushpop', 'heapreplace'],
    'bisect': ['bisect_left', 'bisect_right', 'insort_left', 'insort_right'],
}
LEFT_OUT = {'factorial', 'comb', 'perm', 'pow', 'lshift', 'ilshift', 'ipow', 'dumps', 'is_', 'is_not', 'length_hint', 'tee'}


def methods(kind):
    return [name for name in sorted(dir(kind)) if name not in UNSTABLE and name not in {'__pow__', '__rpow__', '__lshift__', '__rlshift__', '__format__'} and callable(getattr(kind, name, None)) and (not name.startswith('_') or name.startswith('__'))]


def functions(module):
    if module in CHOSEN:
        return CHOSEN[module]
    return [name for name in sorted(dir(MODULES[module])) if not name.startswith('_') and name not in LEFT_OUT and callable(getattr(MODULES[module], name))]


TYPES = {kind.__name__: kind for _, kind in RECEIVERS}
METHODS = [(literals, kind.__name__, plain, special) for literals, kind in RECEIVERS for names in [methods(kind)]
           for plain, special in [([n for n in names if n[0] != '_'], [n for n in names if n[0] == '_'])]]
FUNCTIONS = [f'{module}.{name}' if module != 'builtins' else name for module in MODULES for name in functions(module)]
KEYWORDS = ['key', 'default', 'reverse', 'sep', 'maxsplit', 'encoding', 'errors', 'start', 'base', 'x', 'maxlen', 'signed', 'byteorder', 'repeat', 'initial', 'strict', 'fillvalue', 'nothing', 'self', 'keepends', 'step', 'lo', 'hi', 'timespec', 'hours', 'year']


def counts(name, owner):
    """How many arguments a function takes, as (least, most); guessed where it does not say."""
    try:
        parameters = inspect.signature(getattr(owner, name) if owner is not None else getattr(builtins, name, None)).parameters.values()
    except (ValueError, TypeError, AttributeError):
        return 1, 2
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.name != 'self']
    return sum(p.default is p.empty for p in positional), len(positional) + 2 * any(p.kind == p.VAR_POSITIONAL for p in parameters)


# Their methods take any object for `self` in CPython, and fail where its own text first misses something.
WRITTEN_IN_PYTHON = {'collections.Counter', 'collections.ChainMap'}


class Calls:
    """What these methods use of Program: random, expr, expressions."""

    def argument(self):
        choice = self.random.random()
        if choice < 0.55:
            return self.expr('any', 1)
        if choice < 0.7:
            return self.random.choice(self.random.choice(list(LITERALS.values())))
        return self.expr(self.random.choice(['small', 'small', 'set', 'big', 'str', 'ints', 'tup']), 0)

    def arguments_of_any_kind(self, least, most):
        wrong = self.random.random() < 0.05
        parts = [self.argument() for _ in range(self.random.randint(0, 4) if wrong else self.random.randint(least, most))]
        if self.random.random() < 0.06:
            parts.append(f'{self.random.choice(KEYWORDS)}={self.argument()}')
        return ', '.join(f'({p})' if ':=' in p else p for p in parts)

    def method_call(self):
        literals, name, plain, special = self.random.choice(METHODS)
        receiver = self.random.choice(LITERALS[literals]) if literals in LITERALS else self.expr(literals, 0)
        if name in ('bytearray', 'set', 'frozenset'):
            receiver = f'{name}({receiver})'
        method = self.random.choice(special if special and self.random.random() < 0.3 else plain)
        least, most = counts(method, TYPES[name])
        if self.random.random() < 0.95:
            return f'({receiver}).{method}({self.arguments_of_any_kind(least, most)})'
        owner = type_names.get(name, name)
        if owner in WRITTEN_IN_PYTHON:
            return f'{owner}.{method}({", ".join([receiver] + [a for a in [self.arguments_of_any_kind(least, most)] if a])})'
        return f'{owner}.{method}({self.arguments_of_any_kind(least + 1, most + 1)})'

    def native_call(self):
        """Statements that call natives, right or wrong."""
        lines = []
        for _ in range(self.random.randint(2, 6)):
            if self.random.random() < 0.65:
                text = self.method_call()
            else:
                name = self.random.choice(FUNCTIONS)
                module, _, function = name.rpartition('.')
                text = f'{name}({self.arguments_of_any_kind(*counts(function, MODULES.get(module)))})'
            lines.append(f'outcome(lambda: {text})')
        return lines


type_names = {'array': 'array.array', 'deque': 'collections.deque', 'Counter': 'collections.Counter', 'OrderedDict': 'collections.OrderedDict', 'defaultdict': 'collections.defaultdict', 'ChainMap': 'collections.ChainMap', 'mappingproxy': 'types.MappingProxyType',
              'Pattern': 're.Pattern', 'Match': 're.Match', 'date': 'datetime.date', 'datetime': 'datetime.datetime', 'timedelta': 'datetime.timedelta', 'Decimal': 'decimal.Decimal', 'Struct': 'struct.Struct'}
