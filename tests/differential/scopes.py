"""Statements of random programs about the order of evaluation, scopes, jumps through finally, special methods that answer
anything, slots, decorators, tracebacks, coroutines driven by hand, and trees of the module ast.
"""
from features import EXCEPTIONS, indent

# A special method, its parameters, and expressions that reach it (`#` is the instance, `@` its class).
SPECIAL = {
    '__len__': ('self', ['len(#)', 'bool(#)', '[1, 2][len(#):]', 'list(reversed(#))', 'operator.length_hint(#)', 'not #']),
    '__bool__': ('self', ['bool(#)', 'not #', '1 if # else 2', '# and 1', '# or 1', 'any([#])', 'all([#])', '[x for x in [1] if #]', 'list(filter(None, [#]))', 'not not #']),
    '__index__': ('self', ['[10, 20, 30][#]', 'hex(#)', 'range(#)', 'int(#)', "'abc'[:#]", 'operator.index(#)', 'bytes(#)', '[1] * #', 'float(#)', 'round(1.234, #)', "'%d' % #", 'math.factorial(#)', "chr(#)", 'complex(#)', '(1).__lshift__(#)', 'memoryview(b"abc")[#]', "'a'.center(#)", '"%c" % #', 'bytearray(b"ab").insert(0, #)', '(5).to_bytes(#, "big")', 'slice(#).indices(#)', '[*range(9)][#:#]']),
    '__int__': ('self', ['int(#)', "'%d' % #", "'%x' % #", 'math.trunc(#)', 'float(#)', '[1][#]', 'int(#, 10)']),
    '__float__': ('self', ['float(#)', 'math.sqrt(#)', "'%f' % #", 'complex(#)', 'math.floor(#)', 'struct.pack("d", #)', 'round(#)', 'array.array("d", [#])']),
    '__complex__': ('self', ['complex(#)', 'complex(#, 1)', 'complex(1, #)']),
    '__str__': ('self', ['str(#)', "f'{#}'", "'%s' % #", 'format(#)', 'print(#)', "'{}'.format(#)", "''.join([str(#)])", 'f"{#!s:>5}"', "f'{#!r}'", 'ValueError(#).__str__()']),
    '__repr__': ('self', ['repr(#)', '[#]', "f'{#!r}'", "'%r' % #", 'ascii(#)', '{1: #}', 'str(#)', '(#,)', '"%a" % #', 'KeyError(#)', 'types.SimpleNamespace(a=#)']),
    '__format__': ('self, spec', ["f'{#}'", "format(#, 'x')", "'{:>5}'.format(#)", "f'{#:{3}}'"]),
    '__hash__': ('self', ['hash(#) == 0', '{#: 1}', '{#}', 'frozenset([#])', '# in {1: 2}', 'dict([(#, 1)])']),
    '__eq__': ('self, other', ['# == 1', '1 == #', '# != 1', '[#] == [1]', '# in [1, 2]', '[1, #].index(2)', '[#].count(1)', '(#, 1) == (1, 1)', '{"a": #} == {"a": 1}', 'hashed(#)', '[3, #].remove(4)', 'match_one(#)']),
    '__ne__': ('self, other', ['# != 1', '1 != #', '# == #', '[#] != [1]']),
    '__lt__': ('self, other', ['# < 1', '1 > #', 'sorted([#, #])', 'min(#, #)', 'max(#, #)', '# < #', '[#] < [#]', '1 < # < 3', 'sorted([(1, #), (1, #)])', '# >= 1']),
    '__contains__': ('self, item', ['1 in #', '1 not in #', '# in #']),
    '__iter__': ('self', ['list(#)', 'tuple(#)', '[*#]', 'iter(#)', '1 in #', 'sum(#)', 'dict(#)', 'set(#)', 'unpack_two(#)', "''.join(#)", 'max(#)', 'zip(#, #)', 'list(map(str, #))', 'f(*#)', 'sorted(#)', 'enumerate(#)', 'any(#)', '[x for x in #]', 'list(from_it(#))', 'itertools.chain(#)', '{**#}']),
    '__next__': ('self', ['next(#)', 'next(#, 5)', 'list(#)', 'iter(#)']),
    '__getitem__': ('self, key', ['#[0]', '#[1:2]', 'list(itertools.islice(iter(#), 3))', '2 in [*itertools.islice(#, 2)]', '#["a", ...]', 'dict(**#)', 'list(reversed(#))', '"%(a)s" % #', "'{0[x]}'.format(#)", '"abc".translate(#)', 'eval("a", {}, #)', 'operator.itemgetter(1, 2)(#)']),
    '__missing__': ('self, key', ['#[0]']),
    '__call__': ('self, *a', ['#()', '#(1, 2)', '#(x=1)', 'list(map(#, [1, 2]))', 'sorted([2, 1], key=#)', 'callable(#)', 'functools.reduce(#, [1, 2])', 'functools.partial(#, 1)(2)', 're.sub("a", #, "banana")', 'list(iter(#, 3))[:2] if # is None else 0']),
    '__enter__': ('self', ['with_it(#)']),
    '__getattr__': ('self, name', ['#.missing', "getattr(#, 'q', 3)", "hasattr(#, 'q')", '#.missing()', 'copy.copy(#) is #', '#.__len__', 'len(#)']),
    '__getattribute__': ('self, name', ['#.anything', "getattr(#, 'q', 3)", 'len(#)', 'type(#).__name__', '#.__class__', 'isinstance(#, int)']),
    '__setattr__': ('self, name, value', ['setattr(#, "a", 1)', 'vars(#)']),
    '__dir__': ('self', ['dir(#)', 'len(dir(#))']),
    '__add__': ('self, other', ['# + 1', '1 + #', 'sum([#, #])', "'a' + #", '[] + #', 'operator.add(#, 2)', '() + #']),
    '__radd__': ('self, other', ['1 + #', 'sum([#])', "'a' + #", '# + #', '1.5 + #', '[1] + #', '(1,) + #', "b'x' + #", '2 ** 70 + #', 'None + #']),
    '__iadd__': ('self, other', ['operator.iadd(#, 1)']),
    '__mul__': ('self, other', ['# * 2', '2 * #', "'ab' * #", '[1] * #']),
    '__rmul__': ('self, other', ['2 * #', "'ab' * #", '[1] * #', '1.5 * #', '# * #']),
    '__rsub__': ('self, other', ['1 - #', '{1} - #', '1j - #']),
    '__mod__': ('self, other', ['# % 2', '5 % #']), '__rmod__': ('self, other', ['5 % #', "'%s' % #", "b'%d' % #"]),
    '__pow__': ('self, other, mod=None', ['# ** 2', 'pow(#, 2)', 'pow(#, 2, 3)', '2 ** #', 'pow(2, #, 3)']),
    '__divmod__': ('self, other', ['divmod(#, 2)', 'divmod(7, #)']),
    '__neg__': ('self', ['-#', 'operator.neg(#)']), '__abs__': ('self', ['abs(#)']), '__invert__': ('self', ['~#']), '__round__': ('self, n=None', ['round(#)', 'round(#, 1)']),
    '__trunc__': ('self', ['math.trunc(#)', 'int(#)']), '__floor__': ('self', ['math.floor(#)']), '__ceil__': ('self', ['math.ceil(#)']),
    '__reversed__': ('self', ['reversed(#)', 'list(reversed(#))']), '__length_hint__': ('self', ['operator.length_hint(#)', 'operator.length_hint(#, 3)']),
    '__bytes__': ('self', ['bytes(#)', "b'%b' % #", "b'%s' % #", 'bytearray(#)']), '__fspath__': ('self', ['open_path(#)']), '__copy__': ('self', ['copy.copy(#)']), '__deepcopy__': ('self, memo', ['copy.deepcopy([#])']),
    '__reduce__': ('self', ['copy.copy(#)', 'copy.copy([#]) is None']), '__instancecheck__': ('self, other', ['isinstance(1, #)']), '__subclasscheck__': ('self, other', ['issubclass(int, #)']), '__mro_entries__': ('self, bases', ['type("T", (#,), {})', 'types.resolve_bases((#,))']),
    '__set_name__': ('self, owner, name', ['type("T", (), {"x": #}).__name__']), '__get__': ('self, obj, owner=None', ['type("T", (), {"x": #})().x', 'type("T", (), {"x": #}).x']), '__class_getitem__': ('cls, key', ['@[int]', '@[1, 2]']), '__init_subclass__': ('cls, **k', ['type("T", (@,), {}).__name__', 'type("T", (@,), {}, a=1).__name__']),
    '__await__': ('self', ['asyncio.run(await_it(#))']), '__aiter__': ('self', ['asyncio.run(iterate(#))']), '__aenter__': ('self', ['asyncio.run(enter(#))']), '__del__': ('self', ['# is None']), '__delitem__': ('self, key', ['operator.delitem(#, 1)', 'operator.delitem(#, slice(1))']), '__setitem__': ('self, key, value', ['operator.setitem(#, 1, 2)']),
    '__matmul__': ('self, other', ['# @ 1', '1 @ #', 'operator.matmul(#, #)']), '__or__': ('self, other', ['# | 1', '{} | #', 'int | #', '{1} | #']), '__ror__': ('self, other', ['1 | #', '{1} | #', '{} | #', 'int | #', 'True | #', 'None | #']), '__prepare__': ('cls, *a', ['types.prepare_class("T", (@,))[2]']),
    '__new__': ('cls, *a', ['@()', '@(1)', 'type(@()).__name__']), '__init__': ('self, *a', ['@()', '@(1)']),
}

SCOPES_PRELUDE = '''
def hashed(value):
    """The hash, unless it is made of the object's address."""
    h = hash(value)
    return 'by address' if type(value).__hash__ in (object.__hash__, BaseException.__hash__) else h


def said(value):
    print('said', re.sub(' at 0x.*', '', repr(value))[:40])
    return value


def f(*a, **k):
    return a, k


def match_one(x):
    match x:
        case 1:
            return 'one'
        case [a, b]:
            return a, b
        case {'k': v}:
            return v
        case str() | int():
            return 'plain'
    return 'none'


def unpack_two(x):
    a, b = x
    return a, b


def from_it(x):
    yield from x


def with_it(x):
    with x as y:
        return y


def open_path(x):
    import os
    return os.fspath(x)


async def await_it(x):
    return await x


async def iterate(x):
    return [i async for i in x]


async def enter(x):
    async with x as y:
        return y


def where(e):
    """Names, lines relative to the first entry, and columns of a traceback."""
    import traceback
    entries = [t for t in traceback.extract_tb(e.__traceback__) if t.filename.endswith('programs.tsr')]
    entries = [t for t in entries if t.name != '<listcomp>']     # here a comprehension runs in its function's frame
    return [(t.name if t.name[0] != 'p' else 'p', t.lineno - entries[0].lineno, t.colno, (t.end_lineno or 0) - t.lineno, t.end_colno) for t in entries[1:]]


def lines_of(e):
    import traceback
    return [line for line in traceback.format_exception(e) if not line.startswith('  File')]

'''


class Scopes:
    """What these methods use of Program: random, expr, block, fresh, some, shows."""

    def special(self, depth):
        """A class whose special methods answer values of any type, or raise, and what asks them."""
        name, a = self.fresh('S').upper(), self.fresh('o')
        base = self.random.choice(['', '', '', '', '(int)', '(str)', '(list)', '(dict)', '(float)', '(tuple)', '(Exception)', '(set)', '(bytes)', '(type)', '(object)', '(collections.OrderedDict)', '(collections.deque)'])
        chosen = self.random.sample(list(SPECIAL), self.random.randint(1, 4))
        lines, uses = [f'class {name}{base}:'], []
        for method in chosen:
            parameters, consumers = SPECIAL[method]
            answer = self.random.choice([f'return {self.expr("any", 1)}', f'return {self.expr("any", 1)}', f'return {self.expr("int", 0)}', f'return {self.expr("str", 0)}', 'return None', 'return NotImplemented', 'return self' if parameters[0] == 's' else 'return cls', f'raise {self.random.choice(EXCEPTIONS)}({method!r})', 'yield 1', f'return super().{method}({", ".join(p.split("=")[0].strip() for p in parameters.split(",")[1:] if "*" not in p)})',
                                         'return iter([1, 2])', 'print("asked")', 'return -1', 'return 2 ** 70', 'return True', 'return float("nan")', 'return "text"', "return b'bytes'", 'return (1, 2)', 'return self.nothing' if parameters[0] == 's' else 'return cls.nothing', f'return {self.random.choice(SPECIAL[method][1]).replace("#", "self") if parameters[0] == "s" and self.random.random() < 0.2 else 0}'])
            if method in ('__next__', '__getitem__'):
                answer = f'ends({"StopIteration" if method == "__next__" else "IndexError"}); {answer}'
            form = self.random.random()
            if form < 0.88:
                lines += [f'    def {method}({parameters}): {answer}']
            elif form < 0.94:
                lines += [f'    {method} = {self.random.choice(["None", "5", "len", "staticmethod(lambda *a: 7)", "classmethod(lambda *a: 8)", "property(lambda self: lambda *a: 9)", "print"])}']
            else:
                lines += [f'    async def {method}({parameters}): {answer}'] if 'yield' not in answer else [f'    def {method}(): return 1']
            uses += consumers
        make = f'{name}()' if self.random.random() < 0.9 else name
        lines += [f'{a} = {make}']
        picked = [u.replace('#', a).replace('@', name) if '@ ' not in u else u.replace('#', a) for u in (self.random.choice(uses) for _ in range(self.random.randint(3, 8)))]
        return ['try:'] + indent(lines + [f'outcome(lambda: opaque({u}))' for u in picked]) + ['except Exception as e: print(type(e).__name__ + ":", e)']

    def order(self, depth):
        """The order in which the parts of an expression or a target are evaluated."""
        s = lambda kind: f'said({self.expr(kind, 1)})'  # noqa: E731
        x = self.fresh()
        forms = [f'{s("int")} + {s("int")} * {s("small")}', f'{s("int")} if {s("bool")} else {s("str")}', f'{s("int")} < {s("int")} < {s("int")}', f'{{{s("str")}: {s("int")}, {s("str")}: {s("any")}}}', f'[{s("int")}, *{s("ints")}, {s("any")}]', f'f({s("int")}, *{s("ints")}, k={s("any")}, **{s("dict")})', f'f(k={s("int")}, *{s("ints")})',
                 f'{s("ints")}[{s("small")}]', f'{s("ints")}[{s("small")}:{s("small")}]', f'({s("bool")} and {s("any")}) or {s("any")}', f'(lambda a={s("int")}, *, b={s("any")}: (a, b))()', f'[{s("int")} for _ in {s("ints")}[:2] if {s("bool")}]', f"f'{{{s('int')}!r:>{{{s('tiny')}}}}}'", f'{s("int")} in {s("ints")}', f'not {s("any")}', f'({x} := {s("int")}) + {x}', f'{{**{s("dict")}, {s("str")}: {s("any")}}}',
                 f'{s("str")}.join({s("strs")})', f'slice({s("any")}, {s("any")})', f'{s("int")} is {s("none")}', f'f(**{s("dict")}, k={s("any")}, **{s("dict")})', f'print({s("any")}, sep={s("str")})', f'({s("any")}, *{s("tup")}, {s("any")})', f'{s("any")} == {s("any")} != {s("any")}']
        targets = [f'said({{}})[{s("str")}] = {s("any")}', f'a = said([0, 0])[{s("tiny")} % 2] = {s("any")}', f'said([1, 2, 3])[{s("small")}] += {s("int")}', f'a, said([0])[{s("tiny")} % 1], *b = {s("tup")}', f'said(types.SimpleNamespace(v=1)).v += {s("int")}', f'del said([1, 2])[{s("small")}]', f'a = b = {s("any")}', f'for said([0])[0] in {s("ints")}[:2]: pass', f'assert {s("bool")}, {s("any")}',
                   f'said([1, 2, 3])[{s("small")}:{s("small")}] = {s("ints")}', f'with said(contextlib.nullcontext({s("any")})) as said([0])[0]: pass', f'(a, b), c = {s("strs")}, {s("any")}', f'said({{1: 2}})[{s("int")}] -= {s("small")}', f'print(a := {s("any")}, a)', f'a: said(int) = {s("any")}', f'raise ValueError({s("any")}) from {s("none")}', f'return_ = ({s("any")}, {s("any")})[::-1]']
        lines = []
        for _ in range(self.random.randint(1, 3)):
            if self.random.random() < 0.5:
                lines += [f'outcome(lambda: {self.random.choice(forms)})']
            else:
                lines += ['try:', f'    {self.random.choice(targets)}', 'except Exception as e: print(type(e).__name__ + ":", e)']
        return lines

    def jumps(self, depth):
        """return, break, continue and raise through try, finally, with and loops."""
        name, i = self.fresh('f'), self.fresh('i')
        counter = [0]

        def body(level, in_loop):
            choice = self.random.random()
            counter[0] += 1
            if level <= 0 or counter[0] > 14:
                leaves = [f'return {self.expr("any", 0)}', f'raise {self.random.choice(EXCEPTIONS)}({counter[0]})', f'print({counter[0]}, x)', 'x += 1', 'yield_(x)', f'if x > {self.random.randint(0, 3)}: return x', f'if x == {self.random.randint(0, 3)}: raise KeyError(x)', 'raise', 'del x', 'x.nothing', '1 / 0', 'pass', 'print(repr(sys_exc()))'] + (['break', 'continue', f'if x == {self.random.randint(0, 3)}: break', f'if x > {self.random.randint(0, 3)}: continue'] if in_loop else [])
                return [self.random.choice(leaves)]
            inner = lambda loop=in_loop: [line for _ in range(self.random.randint(1, 2)) for line in body(level - 1, loop)]  # noqa: E731
            if choice < 0.25:
                return ['try:'] + indent(inner()) + ['finally:'] + indent(inner())
            if choice < 0.5:
                handlers = [line for kind in self.random.sample(EXCEPTIONS[:8], self.random.randint(1, 2)) for line in [f'except {kind} as e:'] + indent([f'print(repr(e), repr(e.__context__), {counter[0]})'] + inner())]
                return ['try:'] + indent(inner()) + handlers + (['else:'] + indent(inner()) if self.random.random() < 0.3 else []) + (['finally:'] + indent(inner()) if self.random.random() < 0.3 else [])
            if choice < 0.65:
                return [f"with Recorder({counter[0]}, {self.random.choice(['()'] + EXCEPTIONS)}):"] + indent(inner())
            if choice < 0.8:
                return [f'for x in range({self.random.randint(1, 4)}):'] + indent(inner(True)) + (['else:'] + indent(inner()) if self.random.random() < 0.4 else [])
            if choice < 0.9:
                return [f'if x % {self.random.randint(1, 3)}:'] + indent(inner()) + (['else:'] + indent(inner()) if self.random.random() < 0.5 else [])
            return [f'for {i} in (1, 2):'] + indent(inner(True))
        lines = [f'def {name}(x=1):'] + indent(body(4, False) + body(3, False) + ['return x'])
        yields = self.random.random() < 0.4
        lines = [line.replace('yield_(x)', 'print("got", (yield x))' if yields else 'print(x)') for line in lines]
        use = f'list(itertools.islice({name}(), 5))' if yields else f'{name}()'
        return lines + [f'outcome(lambda: {use})', f'outcome(lambda: {use.replace("()", "(3)", 1)})']

    def scopes(self, depth):
        """Names in nested functions, classes and comprehensions: global, nonlocal, del, class bodies."""
        g, outer, inner, cls = self.fresh('G').upper(), self.fresh('f'), self.fresh('f'), self.fresh('C').upper()
        pick = self.random.choice

        def small(level):
            reads = ['print(x)', 'print(y)', f'print({g})', 'x = 2', 'y = x', 'del x', 'x += 1', 'print([x for x in range(2)], [y for _ in "a"])', 'print(sorted(k for k in locals() if len(k) == 1))', 'x: int', 'x: str = "s"', 'print((lambda: x)())', 'print([(lambda: i)() for i in range(2)])', 'for x in range(2): pass', 'import math as x', 'print({x: (z := x) for x in range(2)})', 'print(x if (x := 4) else 0)',
                     'with contextlib.suppress(NameError): print(z)', 'try: 1 / 0\nexcept ZeroDivisionError as x: pass', 'exec("x = 77")', 'print(eval("x"))', 'print("x" in dir())', 'def x(): return x', 'print([x for x in [x]])', 'print(list(x for _ in range(1)))', 'print([[x, i] for i in range(2) for x in range(i)])', f'{g} = 8', f'del {g}']
            lines = [line for text in self.random.sample(reads, self.random.randint(1, 5)) for line in text.split('\n')]
            declared = pick(['', '', 'nonlocal x', 'global x', f'global {g}', 'nonlocal y', f'global {g}, y']) if level else pick(['', '', f'global {g}', 'global x'])
            return ([declared] if declared else []) + lines
        lines = [f'globals()[{g!r}] = "global"', f'def {outer}(x=1, y=5):'] + indent(small(0))
        kind = pick([f'def {inner}():', f'class {cls}:', f'def {inner}(x=x):', f'class {cls}(metaclass=type):', f'def {inner}(z=lambda: x):'])
        lines += indent([kind] + indent(small(1) + ([f'def method(self): return {pick(["x", "__class__.__name__", "y", "[x, y]", "super().__repr__()[:0]", "locals().keys()"])}'] if kind.startswith('class') else [])))
        lines += indent([f'print(repr({inner}()))' if kind.startswith('def') else f'outcome(lambda: {cls}().method())'] + ([f'print(sorted(k for k in vars({cls}) if k[0] != "_"))'] if kind.startswith('class') else [])) + indent(small(0)[-1:]) + ['    return x, y']
        # docs/differences.md: a comprehension runs in its function's frame, so it has other cells.
        cells = '' if any(' for ' in line for line in lines) else f'{outer}.__code__.co_cellvars, '
        return lines + [f'outcome({outer})', f'outcome(lambda: {outer}(7))', f'outcome(lambda: ({cells}{outer}.__code__.co_freevars, {outer}.__code__.co_varnames[:2]))', f'outcome(lambda: globals().pop({g!r}))']

    def slots(self, depth):
        base, name, a = self.fresh('B').upper(), self.fresh('C').upper(), self.fresh('o')
        pick = self.random.choice
        lines = [f'class {base}{pick(["", "(int)", "(tuple)", "(dict)", "(Exception)", ""])}:', f'    __slots__ = {pick(["()", repr("a"), "(" + repr("a") + ", " + repr("b") + ")", "[" + repr("__dict__") + "]", repr("__weakref__"), "{" + repr("a") + ": " + repr("doc") + "}", repr("__p"), "5", repr("1a"), "(" + repr("a") + ", " + repr("a") + ")"])}']
        lines += pick([[], ['    def __init__(self, *v): self.a = v'], ['    a = 3'], ['    def m(self): return self.__p']])
        lines += [f'class {name}({base}{pick(["", "", ", str", ", Recorder", ", list"])}):'] + pick([['    pass'], ['    __slots__ = ("c",)'], ['    __slots__ = ()'], ['    x = 1'], ['    __slots__ = "d", "__dict__"']])  # not "a" again: the language reference leaves undefined what such a class does
        lines += [f'{a} = {pick([name, base])}()']
        uses = [f'{a}.a', f'setattr({a}, "a", 5)', f'setattr({a}, "q", 5)', f'delattr({a}, "a")', f'vars({a})', f'{name}.a', f'{base}.a', f'{base}.a.__get__({a})', f'{base}.a.__set__({a}, 3)', f'hasattr({a}, "__dict__")', f'{name}.__slots__', f'copy.copy({a}) is None', f'weakref.ref({a})() is {a}', f'setattr({a}, "c", 1)', f'sorted(vars({name}))[:0]', f'{a}.__class__.__name__', f'{a}.b', f'setattr({a}, "__class__", {base})', f'type({base}.__dict__.get("a")).__name__', f'doc_of({base}.a)', f'{base}.a.__name__', f'inspect.ismemberdescriptor({base}.a)', f'{base}.__p', f'{name}.__base__.__name__', f'{base}.a.__objclass__ is {base}', f'repr({base}.__dict__.get("a"))', f'{name}.__dictoffset__ != 0', f'{name}.__basicsize__ > 0', f'pickle_state({a})', f'{a} == {name}()']
        return ['try:'] + indent(lines + [f'outcome(lambda: {u})' for u in self.some(uses, 3, 7)]) + ['except Exception as e: print(type(e).__name__ + ":", e)']

    def decorators(self, depth):
        d, name, a = self.fresh('d'), self.fresh('f'), self.fresh('o')
        pick = self.random.choice
        lines = [f'def {d}(tag=None, *more):', '    print("decorate with", repr(tag)[:20])', '    def apply(target):', '        print("apply", target.__name__ if hasattr(target, "__name__") else type(target).__name__)', f'        {pick(["return target", "return functools.wraps(target)(lambda *a, **k: (tag, target(*a, **k)))", "target.tag = tag; return target", "return None", "return (tag, target)", "return functools.partial(target, 1)", "return functools.lru_cache(target)"])}', '    return apply']
        stack = [f'@{pick([d + "(1)", d + "(" + self.expr("any", 0) + ", 2)", "staticmethod", "classmethod", "property", "functools.cache", "functools.lru_cache(2)", "functools.singledispatch", "contextlib.contextmanager", "functools.total_ordering", "functools.wraps(show)", "(lambda x: x)", d + "()", "[" + d + "(3)][0]", "x if (x := " + d + "(4)) else 0", "typing.final", "functools.cached_property", "types.coroutine", "abc_method"])}' for _ in range(self.random.randint(1, 3))]
        text = pick(['x=1, *, k=2', 'self=None', '*a, **k', 'x, y=3, /', ''])
        kind = pick(['def', 'def', 'def', 'class', 'async def'])
        head = f'class {name}:' if kind == 'class' else f'{kind} {name}({text}):'
        body = ['    """Doc."""'] + (['    value = 1'] if kind == 'class' else [f'    return {self.expr("any", 1)}'])
        inside = self.random.random() < 0.4
        block = stack + [head] + body
        if inside:
            lines += [f'class {a.upper()}:'] + indent(block) + [f'{a} = {a.upper()}()']
        target = f'{a}.{name}' if inside else name
        uses = [f'{target}()', f'{target}(5)', f'{target}(5, k=3)', f'{target}.__name__', f'doc_of({target})', f'{target}.__wrapped__.__name__', f'{target}.tag', f'str(inspect.signature({target}))', f'{target}.cache_info()', f'type({target}).__name__', f'callable({target})', f'{target}.__qualname__.split(".")[-1]', f'{target}.__module__', f'{target}.__defaults__', f'{target}.__kwdefaults__', f'{target}.__dict__.keys() and 1', f'{target}.register(int)(len)', f'{target}.registry.keys()', f'{target}.__func__.__name__', f'{target}.fget.__name__', f'{target}.func.__name__', f'inspect.isfunction({target})', f'{target}.__isabstractmethod__', f'inspect.iscoroutinefunction({target})']
        return ['try:'] + indent(lines + ([] if inside else block) + [f'outcome(lambda: {u})' for u in self.some(uses, 3, 6)]) + ['except Exception as e: print(type(e).__name__ + ":", e)']

    def tracebacks(self, depth):
        """Where an error is: the places that a traceback names, chains, notes, attributes of exceptions."""
        name, helper = self.fresh('f'), self.fresh('f')
        pick = self.random.choice
        fault = pick([f'return {self.expr("any", 2)} + None', f'return x.{pick(["nothing", "upper", "real"])}', f'return {{}}[{self.expr("any", 1)}]', f'return [1, 2][x]', f'raise {pick(EXCEPTIONS)}({self.expr("any", 1)})', 'return undefined', f'return int({self.expr("str", 1)})', 'return (x +\n        y /\n        0)', 'x.y.z = 3', 'del x[5]', f'assert x == {self.expr("any", 1)}, (x,\n    y)', f'a, b = {self.expr("ints", 1)}', f'return len(x, y)', 'return x(y)', 'for i in tuple(x): y.append(i)', f'with x: pass', 'return (lambda q: q.missing)(x)', 'return max(x, key=lambda v: v / 0)', 'import nothing_like_this', 'return x[y:y:0]', 'x += y.z', 'return x @ y', 'return -x if x else not x.y', 'return next(iter(x)).real.imag.foo', 'yield from x', 'raise ValueError(x) from KeyError(y)', 'return {**x}', 'return f(*x, **y)', 'return x < y < 1j'])
        lines = [f'def {helper}(x, y=0):'] + indent(fault.split('\n'))
        lines += [f'def {name}(x):', '    try:', f'        return {pick([helper + "(x)", helper + "(x, y=x)", "list(" + helper + "(x))", "(lambda: " + helper + "(x))()", "functools.reduce(" + helper + ", [x, x])", "sorted([x], key=" + helper + ")", "next(map(" + helper + ", [x]))"])}', f'    except {pick(EXCEPTIONS + ["Exception"] * 6)} as e:', f'        {pick(["raise", "raise RuntimeError(1) from e", "raise KeyError(2)", "raise e", "raise e.with_traceback(None)", "e.add_note(" + repr("note") + "); raise", "raise ValueError from None", "return e"])}']
        lines += ['try:', f'    print(repr({name}({self.expr("any", 1)})))', 'except Exception as e:', '    print(where(e), repr(e.__cause__), repr(e.__context__), e.__suppress_context__, getattr(e, "__notes__", 0))'] + self.some(['    print(lines_of(e))', '    print(repr(e.args))', '    print(e.name if hasattr(e, "name") else 0, repr(getattr(e, "obj", 0))[:20])', '    print(sum(x.filename.endswith("programs.tsr") for x in inspect.getinnerframes(e.__traceback__)))', '    print(e.__traceback__.tb_frame.f_code.co_name == e.__traceback__.tb_frame.f_code.co_qualname)', '    print(e.with_traceback(None) is e)'], 0, 3)
        return lines

    def driven(self, depth):
        """Coroutines and asynchronous generators driven by hand, with send, throw and close."""
        name, c = self.fresh('f'), self.fresh('c')
        pick = self.random.choice
        lines = ['@types.coroutine', f'def {name}y(v):', '    try:', '        got = yield v', '        print("sent", got)', '        return got', '    finally: print("left", v)']
        steps = [f'await {name}y({self.expr("any", 0)})', f'x = await {name}y(2)', 'async with Recorder("r", ValueError): ' + f'await {name}y(3)', f'async for i in each("ab"): await {name}y(i)', f'return await {name}y(4)', f'raise {pick(EXCEPTIONS)}(5)', f'try: await {name}y(6)\nexcept {pick(EXCEPTIONS)} as e: print(repr(e))', f'try: await {name}y(7)\nfinally: print("cleanup")', f'print([await {name}y(i) for i in range(2)])', 'await 5']
        gen = self.random.random() < 0.5
        if gen:
            steps += [f'yield {self.expr("any", 0)}', 'print("yielded", (yield 2))', 'try: yield 3\nexcept ValueError as e: print(repr(e)); yield 4', 'try: yield 5\nfinally: print("closing")', f'yield await {name}y(6)']
        body = [line for step in self.some([s for s in steps if not (gen and s.startswith('return'))], 1, 4) for line in step.split('\n')]
        lines += [f'async def {name}():'] + indent((['yield 0'] if gen else []) + body)
        lines += [f'{c} = {name}()']
        if gen:
            uses = [f'{c}.asend(None).send(None)', f'{c}.__anext__().send(None)', f'{c}.athrow(ValueError("t")).send(None)', f'{c}.aclose().send(None)', f'{c}.asend(5).send(None)', f'{c}.ag_running', f'{c}.ag_await is None', f'{c}.ag_frame is None', f'{c}.__anext__().close()', f'{c}.asend(1).throw(KeyError)', f'asyncio.run(take({c}))', f'anext({c}, "d").send(None)', f'asyncio.run(anext_of({c}))', f'next({c})', f'type({c}.asend(None)).__name__']
        else:
            uses = [f'{c}.send(None)', f'{c}.send(1)', f'{c}.throw(ValueError("t"))', f'{c}.throw(KeyError)', f'{c}.close()', f'{c}.cr_running', f'{c}.cr_await is None', f'inspect.getcoroutinestate({c})', f'{c}.cr_frame is None', f'next({c})', f'{c}.__await__().send(None)', f'asyncio.run({c})', f'{c}.send(None)', f'inspect.isawaitable({c})', f'iter({c})', f'{c}.cr_code.co_name[0]', f'{c}.throw(GeneratorExit)']
        lines += [f'outcome(lambda: {pick(uses)})' for _ in range(self.random.randint(3, 7))]
        return lines + [f'{c} = None']

    def trees(self, depth):
        """Trees of the module ast: read, written, changed, compiled."""
        lines = self.block(1, 1)
        text = '\n'.join(lines)
        t = self.fresh('t')
        uses = [f'ast.unparse({t})', f'ast.dump({t})', f'ast.dump({t}, indent=1)[-300:]', f'sum(1 for _ in ast.walk({t}))', f'sorted({{type(n).__name__ for n in ast.walk({t})}})', f'[(n.lineno, n.col_offset, n.end_lineno, n.end_col_offset) for n in ast.walk({t}) if isinstance(n, ast.expr)][-12:]', f'ast.unparse(ast.parse(ast.unparse({t}))) == ast.unparse({t})', f'ast.unparse(Doubler().visit({t}))', f'ast.get_source_segment({text!r}, {t}.body[0])', f'[ast.literal_eval(n) for n in ast.walk({t}) if isinstance(n, ast.Constant)]', f'ast.dump({t}, include_attributes=True)[-200:]', f'copy.deepcopy({t}).body[0].lineno', f'list(ast.iter_child_nodes({t}.body[0]))[0].__class__.__name__', f'{t}.body[0]._fields', f'ast.dump(ast.parse({text!r}, type_comments=True)) == ast.dump({t})', f'[s for s in map(type, ast.walk(ast.parse(ast.unparse({t})))) if s is ast.Name] and 1']
        return [f'{t} = ast.parse({text!r})'] + [f'outcome(lambda: {u})' for u in self.some(uses, 2, 4)]

    def syntax(self, depth):
        """Source that is broken by a random change: the error's words and place."""
        lines = self.block(2, 1)
        text = '\n'.join(lines)
        at = self.random.randrange(len(text) + 1)
        change = self.random.random()
        if change < 0.35:
            text = text[:at] + text[at + 1:]
        elif change < 0.75:
            text = text[:at] + self.random.choice(['(', ')', '[', ']', '{', '}', ':', ',', '=', '"', "'", ' ', '\n', '*', '**', '.', ' if ', ' in ', ' not ', ' for ', 'lambda ', ' else ', '@', ':=', '->', '!', '?', '$', '\\', '0', '1_', '0x', 'yield ', 'await ', 'return ', ' as ', ' import ', 'def ', 'class ', ' and ', ';', '#', 'f"', 'None', '...']) + text[at:]
        else:
            text = text[:at]
        return [f'wrong({text!r})']

    def patterns(self, depth):
        """Sources of match statements, unpackings and parameter lists that may be refused."""
        pick = self.random.choice
        atoms = ['a', 'b', '_', '1', '-1', '"s"', 'None', '[a, *r]', '[*r, b]', '{"k": a}', '{"k": a, **r}', 'int(a)', 'C(x=a)', 'a.b', '(1 | 2)', '[1, a]', 'a | b', '1 + 2j', 'b"x"', '*r', '**r', 'f"x"', '(a)', '()', 'C()', '{}', '{1: a, 1: b}', 'C(a, x=b)', 'C(x=a, b)', '-a', 'a as b', '[a, a]', '[*r, *s]', 'int() as a', '"a" "b"', 'C(x=a, x=b)', '{**r, "k": 1}', '{a: 1}', 'a.b.c()', '1 as _', 'True | x']
        pattern = ', '.join(pick(atoms) for _ in range(self.random.randint(1, 3)))
        pattern = pick([pattern, f'[{pattern}]', f'({pattern})', f'{pick(atoms)} | {pick(atoms)}', f'{pattern} if x'])
        targets = ['a', '*b', '(c, d)', '[e, *g]', 'x.y', 'x[0]', '1', 'f()', 'None', '*a, b', '(a := 1)', 'a + b', '{}', '...', '"s"', '()', '[]', '*[c]', 'a if b else c', 'lambda: 0', '-a', 'not a', 'await x', '(yield)', '__debug__', 'f"{a}"', '*(*a,)', '{**a}', '[x for x in y]']
        target = ', '.join(pick(targets) for _ in range(self.random.randint(1, 3)))
        parameter = ', '.join(pick(['a', 'b', 'c=1', '*', '*args', '/', '**k', 'd: int', 'e: int = 2', '*args: x', 'a', 'None', '(a, b)', 'f=', '*args=1', '**k, z', '1', '*, **k', 'g.h']) for _ in range(self.random.randint(1, 4)))
        arguments = ', '.join(pick(['a', 'b=1', '*c', '**d', 'x for x in y', 'a := 1', 'a.b=1', 'True=1', 'b=2', '(x for x in y)', '*', '**', 'a=', '1=2', 'f()=3', 'a b', 'not a', '*a or b', 'lambda: 0', 'None', 'x=y=z', 'a if b', '"s"=1', 'x for x in y for z in', '*a, **b', '__debug__=1', 'print 1', 'yield', 'a[1]=2', '-a=1']) for _ in range(self.random.randint(1, 3)))
        texts = [f'match x:\n    case {pattern}: pass', f'{target} = x', f'for {target} in x: pass', f'def f({parameter}): pass', f'lambda {parameter}: 0', f'f({arguments})', f'del {target}', f'with x as {target}: pass', f'[1 for {target} in x]', f'{target} += 1', f'{target}: int = 1', f'class C({arguments}): pass', f'import {pick(["a", "a.b as c", "a as b.c", "*", "a, b,", "(a)"])}', f'from {pick(["a", ".", "..b", "a.b", "1", "__future__"])} import {pick(["*", "a", "(a, b,)", "a as b", "annotations", "braces", "a,", "()", "a.b", "*, a"])}', f'{pick(["global", "nonlocal", "return", "raise", "assert", "del", "yield", "break", "await", "async", "pass", "print", "exec"])} {target}', f'try: pass\nexcept{pick([" a", "", " a, b", " (a, b) as c", "* a", " a as b.c", "*", " a as 1"])}: pass\n{pick(["", "else: pass", "finally: pass", "except: pass", "except* b: pass"])}', f'def f():\n    {pick(["global x", "nonlocal x", "x = 1", "yield", "return 1", "await x", "x: int"])}\n    {pick(["global x", "nonlocal x", "x = 1", "yield x", "return x", "x: int = 1", "import *", "from a import *", "async for i in x: pass"])}', f'({target})', f'x = {pick(["{" + arguments + "}", "[" + arguments + "]", "(" + arguments + ")"])}', f'x[{arguments}]', f'f"{{{arguments}}}"', f'@{arguments}\ndef f(): pass', f'while {arguments}: pass', f'if {arguments}: pass\nelif {target}: pass', f'return {arguments}', f'x = {pick(["0777", "0b12", "1__0", "1_", "0xg", "1e", "1.2.3", "0o8", "1if 2else 3", "1jx", "12abc", "0_7", "00", "1.e5", "0b", "09.5", "1_000_", "5 5", "0x_f"])}', f'x = {pick([chr(39), chr(34), "b" + chr(39) + "é" + chr(39), "f" + chr(39) + "{" + chr(39), "f" + chr(39) + "{a!z}" + chr(39), "f" + chr(39) + "}" + chr(39), "f" + chr(39) + "{}" + chr(39), chr(39) + chr(92) + "N{x}" + chr(39), chr(39) + chr(92) + "xz" + chr(39), "f" + chr(39) + "{a b}" + chr(39), "f" + chr(39) + "{a:{b:{c}}}" + chr(39), "ur" + chr(39) * 2, chr(39) * 3, "f" + chr(39) + "{lambda x: 1}" + chr(39), "f" + chr(39) + "{a=}" + chr(39), chr(39) + "a" + chr(39) + " b" + chr(39) + "c" + chr(39), "f" + chr(39) + "{*a}" + chr(39), chr(39) + chr(92) + "u12" + chr(39), "f" + chr(39) + "{#}" + chr(39), "f" + chr(39) + "{a" + chr(92) + "n}" + chr(39), "f" + chr(39) + "{!r}" + chr(39), "rb" + chr(39) + "x" + chr(39)])}']
        return [f'wrong({text!r})' for text in self.some(texts, 1, 4)]


SCOPES_PRELUDE += '''
class Doubler(ast.NodeTransformer):
    def visit_Constant(self, node):
        return ast.Constant(node.value * 2) if type(node.value) is int else node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        return ast.BinOp(node.right, node.op, node.left)


def wrong(text):
    try:
        compile(text, 'text', 'exec')
        print('compiles')
    except SyntaxError as e:
        print(type(e).__name__ + ':', e.msg, e.lineno, e.offset if type(e) is SyntaxError else '')
    except Exception as e:
        print(type(e).__name__ + ':', e)


def opaque(value):
    """The value, or its type if it is an object of the program's whose repr has an address or its own faults."""
    if isinstance(value, BaseException):
        return repr(value)
    return value


def sys_exc():
    import sys
    return sys.exc_info()[1]


def pickle_state(value):
    return [type(part).__name__ for part in value.__reduce_ex__(2)]


def abc_method(f):
    import abc
    return abc.abstractmethod(f)


async def anext_of(it):
    return await anext(it, 'no more')

'''
