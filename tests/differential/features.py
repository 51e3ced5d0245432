"""Statements of random programs that use one feature of the language at length: eval and exec, metaclasses, threads, delegating
generators, sets, enums, dataclasses, exception groups, class patterns; walks.py and scopes.py have more. `Program` in generate.py draws from `Features.compound`.
"""
EXCEPTIONS = ['ValueError', 'KeyError', 'IndexError', 'TypeError', 'ZeroDivisionError', 'RuntimeError', 'LookupError',
              'ArithmeticError', 'AttributeError', 'StopIteration', 'NameError', 'Exception']


def indent(lines):
    return ['    ' + line for line in lines]


class Features:
    """What these methods use of Program: random, expr, block, fresh, define, known, kind."""

    def compound(self):
        return [self.eval_, self.exec_, self.metaclass, self.thread, self.delegation, self.set_, self.enum_, self.dataclass_,
                self.group, self.class_pattern, self.manager, self.descriptor] \
            + [self.order, self.jumps, self.scopes, self.decorators, self.tracebacks, self.driven, self.trees, self.special, self.special,
               self.slots, self.walk, self.walk, self.syntax, self.patterns] * self.wide

    def some(self, forms, least=1, most=4):
        return self.random.sample(forms, self.random.randint(least, min(most, len(forms))))

    def shows(self, uses, least=2, most=5):
        return [f'show(lambda: {use})' for use in self.some(uses, least, most)]

    def eval_(self, depth):
        text, other = self.expr(self.kind(), 2), self.expr('int', 1)
        known = [name for names in self.scope.values() for name in names]
        names = '{' + ', '.join(f'{n!r}: {n}' for n in known) + '}'
        scope = f'{{**globals(), **{names}}}'
        forms = [f'eval({text!r}, {scope})', f'eval(repr({self.expr(self.kind(), 1)}))', f'eval(compile({text!r}, "<text>", "eval"), {scope})',
                 f'eval({text!r}, {{"__builtins__": {{}}}}, {names})', f'eval("x * 2 + y", {{"x": {other}}}, {{"y": {self.expr("small", 0)}}})',
                 f'literal({text!r})', f'ast.unparse(ast.parse({text!r}, mode="eval"))', f'ast.dump(ast.parse({text!r}, mode="eval"))[:200]',
                 f'eval({text!r} + ")", {scope})', 'eval("1 +")', 'compile("x = 1\\n  y = 2", "<text>", "exec")']
        if ' for ' not in text:  # the names of a comprehension are in its function's code
            forms.append(f'compile({text!r}, "<text>", "eval").co_names')
        return self.shows(forms, 1, 3)

    def exec_(self, depth):
        names, function = self.fresh('m'), self.fresh('f')
        text = '\n'.join([f'def {function}(x, y=2):'] + indent(self.pure_block()) + [f'z = {function}({self.expr("small", 0)})', 'import math as m'])
        lines = [f'{names} = {{"show": show, "Recorder": Recorder}}', f'exec({text!r}, globals() | {names} if {self.expr("bool", 0)} else {names}, {names})']
        lines += self.shows([f'{names}["z"]', f'{names}["{function}"](5, y=1)', f'sorted(k for k in {names} if k[0] not in "_SR")', f'{names}["{function}"].__name__',
                             f'{names}["{function}"].__defaults__', f'{names}["{function}"].__code__.co_varnames[:2]', f'exec("raise KeyError(z)", {names})', f'{names}["nothing"]'], 2, 4)
        return ['try:'] + indent(lines) + ['except Exception as e:', '    print(repr(e))']

    def pure_block(self):
        """The body of a function of x and y that uses no name of the program."""
        saved = {kind: list(names) for kind, names in self.scope.items()}
        self.scope.clear()
        self.scope['int'] = ['x', 'y']
        lines = [line for line in self.block(0, 2) if 'nonlocal' not in line] + [f'return {self.expr("any", 1)}']
        self.scope.clear()
        self.scope.update(saved)
        return lines

    def metaclass(self, depth):
        meta, base, name = self.fresh('M').upper(), self.fresh('B').upper(), self.fresh('C').upper()
        members = [['def __call__(cls, *a, **k):', '    print("call", cls.__name__, a, k)', '    return super().__call__(*a, **k)'],
                   ['@classmethod', 'def __prepare__(mcs, name, bases, **k):', '    print("prepare", name, [b.__name__ for b in bases], k)', '    return {"prepared": len(name)}'],
                   ['def __instancecheck__(cls, other): return isinstance(other, int) or super().__instancecheck__(other)'],
                   ['def __subclasscheck__(cls, other): return other is int or super().__subclasscheck__(other)'],
                   ['def __getattr__(cls, name):', '    if name.startswith("x"): return (cls.__name__, name)', '    raise AttributeError(name)'],
                   ['def __iter__(cls): return iter((1, 2, cls.__name__))'], ['def __len__(cls): return 3'], ['def __contains__(cls, item): return item == 2'],
                   ['def __getitem__(cls, key):', '    if isinstance(key, int) and key > 5: raise IndexError(key)', '    return (cls.__name__, key)'], ['def __repr__(cls): return f"<class {cls.__name__}>"'], ['def __add__(cls, other): return "sum"'],
                   ['def __setattr__(cls, name, value):', '    print("set", name)', '    super().__setattr__(name, value)'], ['def __bool__(cls): return False'],
                   ['@property', 'def size(cls): return len(cls.__mro__)'], ['def mro(cls): return super().mro()'], ['def __eq__(cls, other): return True', '__hash__ = type.__hash__'],
                   ['def __new__(mcs, name, bases, names, **k):', '    print("new", name, sorted(n for n in names if n[0] != "_"), k)', '    return super().__new__(mcs, name, bases, names)'],
                   ['def __init__(cls, name, bases, names, **k):', '    super().__init__(name, bases, names)', '    cls.made = (name, k)']]
        lines = [f'class {meta}(type):', '    kind = 1'] + [line for member in self.some(members, 1, 6) for line in indent(member)]
        lines += [f'class {base}(metaclass={meta}{self.random.choice(["", "", ", tag=1"])}):', f'    a = {self.expr("any", 1)}', '    def method(self): return __class__.__name__']
        if self.random.random() < 0.4:
            lines += ['    def __init_subclass__(cls, **k): print("subclass", cls.__name__, k)']
        if self.random.random() < 0.3:
            lines += ['    def __class_getitem__(cls, key): return ("item", key)']
        lines += [f'class {name}({base}{self.random.choice(["", "", ", b=2"])}):', f'    b = {self.expr("any", 1)}']
        uses = ['type({n}).__name__', '{n}()', '{n}().method()', '{n}(1, k=2)', 'isinstance(3, {n})', 'isinstance({n}(), {b})', 'issubclass(int, {n})', 'issubclass({n}, {b})', '{n}.xyz', '{n}.nothing', 'list({n})',
                'len({n})', '2 in {n}', '{n}[5]', '{n}', '{n} + 1', 'setattr({n}, "c", 1)', 'bool({n})', '{n}.size', '{n}().size', '{n}.kind', '{n}().kind', '[c.__name__ for c in {n}.__mro__]', '{n} == {b}', '{n}.made', '{n}.prepared',
                'type("T", ({n},), {{"q": 1}}).q', '{m}("T", (), {{}})', 'type("T", ({n}, int), {{}}).__name__', '{n}.__bases__ == ({b},)', 'type({n})("V", ({b},), {{"w": 2}}).w',
                '{n}.__dict__["b"]', 'types.new_class("W", ({b},), {{}}, lambda names: names.update(v=1)).v', '{m}.__mro__[1]', 'hash({n}) == hash({n})', '{n}.a', '{n}.__qualname__.split(".")[-1]']
        return ['try:'] + indent(lines + self.shows([u.format(n=name, b=base, m=meta) for u in uses], 3, 7)) + ['except Exception as e:', '    print(type(e).__name__, e)']

    def thread(self, depth):
        """Threads that are joined before the next one starts, or whose results alone are shown."""
        work, got = self.fresh('f'), self.fresh('r')
        lines = [f'{got} = []', f'def {work}(x=1, y=2):'] + indent(self.block(0, 1) + [f'{got}.append({self.expr("any", 1)})', f'return {self.expr("int", 1)}'])
        forms = [[f'for i in range({self.random.randint(1, 3)}):', f'    t = threading.Thread(target={work}, args=(i,), name=f"worker{{i}}")', '    t.start()', '    t.join()', '    print(t.name, t.is_alive())'],
                 ['with futures.ThreadPoolExecutor(2) as pool:', '    print(list(pool.map(lambda x: x * x, range(6))))', f'    print(pool.submit(lambda: {self.expr("int", 1)}).exception() is None)'],
                 ['with futures.ThreadPoolExecutor(1) as pool:', f'    show(lambda: pool.submit({work}, 3).result())'],
                 ['lock, total = threading.Lock(), [0]', 'def add():', '    for _ in range(50):', '        with lock: total[0] += 1', 'ts = [threading.Thread(target=add) for _ in range(4)]',
                  'for t in ts: t.start()', 'for t in ts: t.join()', 'print(total)'],
                 ['q = queue.Queue(2)', 'def put():', f'    with contextlib.suppress(Exception): [q.put(x) for x in {self.expr("ints", 1)}[:5] if x is not None]', '    q.put(None)', 't = threading.Thread(target=put)', 't.start()', 'print(list(iter(q.get, None)))', 't.join()'],
                 ['local, seen = threading.local(), []', 'local.x = 1', 'def look(): seen.append(getattr(local, "x", "none"))', 't = threading.Thread(target=look)', 't.start()', 't.join()', 'print(seen, local.x)'],
                 ['event, order = threading.Event(), []', 'def wait():', '    order.append(event.wait(900))', '    order.append("woken")', 't = threading.Thread(target=wait)', 't.start()', 'order.append("before")', 'event.set()', 't.join()', 'print(sorted(map(str, order)))'],
                 ['barrier, passed = threading.Barrier(3), []', 'ts = [threading.Thread(target=lambda: passed.append(barrier.wait(900))) for _ in range(3)]', 'for t in ts: t.start()', 'for t in ts: t.join()', 'print(sorted(passed))'],
                 ['async def run(): return await asyncio.to_thread(lambda: ' + self.expr('int', 1) + ')', 'show(lambda: asyncio.run(run()))']]
        return lines + self.random.choice(forms) + [f'print({got})']

    def delegation(self, depth):
        """Generators that delegate to generators, with values sent, exceptions thrown and close()."""
        inner, outer, it = self.fresh('g'), self.fresh('g'), self.fresh('t')
        kind = self.random.choice(EXCEPTIONS[:7])
        caught = self.random.choice([kind, 'GeneratorExit', 'Exception', 'BaseException'])
        lines = [f'def {inner}(n):', '    try:', '        while n > 0:', f'            got = yield {self.random.choice(["n", "(n, n)", self.expr("any", 1)])}', '            if got: print("inner got", got)', '            n -= 1',
                 f'    except {caught} as e:', '        print("inner caught", type(e).__name__, e)', '        ' + self.random.choice(['raise', 'yield "late"', f'raise {self.random.choice(EXCEPTIONS)}("new") from e', 'return "caught"', 'pass'])]
        lines += ['    finally:', '        print("inner over")'] if self.random.random() < 0.6 else []
        lines += [f'    return {self.expr("any", 1)}']
        lines += [f'def {outer}(n):', '    try:', f'        result = yield from {self.random.choice([inner + "(n)", inner + "(n)", "iter([7, 8])", "map(len, [[], [1]])", self.expr("ints", 1)])}', '        print("result", result)',
                  f'        {self.random.choice(["yield result", "return result", "yield from " + inner + "(1)", "yield (yield)"])}', f'    except {self.random.choice(EXCEPTIONS)} as e:', '        print("outer caught", repr(e))', '        yield "rescued"']
        steps = [f'next({it})', f'next({it}, "end")', f'{it}.send({self.expr("any", 1)})', f'{it}.throw({kind}("thrown"))', f'{it}.throw({kind})', f'{it}.close()', f'{it}.throw(GeneratorExit)', f'list({it})', f'{it}.gi_running', f'{it}.gi_yieldfrom is None',
                 f'{it}.send(None)', f'inspect.getgeneratorstate({it})', f'{it}.gi_frame is None', f'{it}.throw(StopIteration(3))', f'dict(zip("ab", {it}))']
        lines += [f'{it} = {self.random.choice([outer, inner])}({self.random.randint(0, 3)})']
        return lines + [f'show(lambda: {self.random.choice(steps)})' for _ in range(self.random.randint(2, 6))]

    def set_(self, depth):
        name = self.fresh('s')
        lines = [f'{name} = set({self.expr("set", 1)})']
        forms = [f'{name}.add({self.expr("int", 1)})', f'{name}.discard({self.expr("int", 1)})', f'{name}.remove({self.expr("int", 1)})', f'{name}.update({self.expr("ints", 1)}, {self.expr("set", 1)})', f'{name} |= {self.expr("set", 1)}',
                 f'{name} -= {self.expr("set", 1)}', f'{name} &= {self.expr("set", 1)}', f'{name} ^= {self.expr("set", 1)}', f'{name}.intersection_update({self.expr("ints", 1)})', f'{name}.symmetric_difference_update({self.expr("ints", 1)})', f'{name}.clear()',
                 f'{name}.add({self.expr("any", 1)})', f'{name}.difference_update({self.expr("ints", 1)})', f'{name} |= {self.expr("any", 1)}']
        for form in self.some(forms, 1, 4):
            lines += ['try:', f'    {form}', 'except Exception as e: print(type(e).__name__, e)', f'print(len({name}), sorted(map(repr, {name})))']
        return lines + self.shows([f'{name} <= {self.expr("set", 1)}', f'{name} == {self.expr("set", 1)}', f'{name} < {name} | {{99}}', f'{name}.issuperset({self.expr("ints", 1)})', f'{name} & {self.expr("ints", 1)}', f'hash({name})',
                                   f'hash(frozenset({name})) == hash(frozenset(list({name})[::-1]))', f'{name} > {self.expr("any", 1)}', f'type(frozenset({name}) | {name}).__name__', f'sorted({name} ^ {self.expr("set", 1)})', f'{name}.isdisjoint({self.expr("any", 1)})'], 1, 3)

    def enum_(self, depth):
        name, base = self.fresh('E').upper(), self.random.choice(['enum.Enum', 'enum.IntEnum', 'enum.Flag', 'enum.IntFlag', 'str, enum.Enum'])
        values = ["'a'", "'b'", "'a'"] if base.startswith('str') else self.random.choice([['1', '2', '4'], ['1', '2', '1'], ['enum.auto()', 'enum.auto()', 'enum.auto()'], ['4', '1', '8']])
        lines = [f'class {name}({base}):'] + [f'    {member} = {value}' for member, value in zip(['RED', 'GREEN', 'BLUE'], values)]
        if self.random.random() < 0.3:
            lines += ['    @property', '    def low(self): return self.name.lower()']
        uses = ['{n}.RED', 'list({n})', '{n}.RED.value', '{n}(2)', '{n}["BLUE"]', '{n}["PINK"]', '{n}(99)', '{n}.RED is {n}.RED', '{n}.RED == 1', 'str({n}.RED)', 'f"{{{n}.RED}}"', '{n}.RED | {n}.GREEN', '{n}.RED & {n}.BLUE', '~{n}.RED', '{n}.RED < {n}.GREEN',
                'len({n})', '{n}.RED in {n}', '1 in {n}', '{n}.__members__.keys()', 'copy.deepcopy({n}.RED) is {n}.RED', '{n}.RED.low', 'setattr({n}, "RED", 5)', '{{{n}.RED: 1}}', 'type("S", ({n},), {{}})', '{n}.RED + 1', 'bool({n}.RED)', 'isinstance({n}.BLUE, {n})',
                '[m.name for m in reversed({n})]', 'pickle.loads(pickle.dumps({n})) is {n}', '{n}("G", "A B")', 'json.dumps({n}.RED)', '{n}.RED.RED', 'hash({n}.RED) == hash({n}.RED)', '{n}(3)', '{n}(0)']
        return lines + self.shows([u.format(n=name) for u in uses], 3, 7)

    def dataclass_(self, depth):
        name, options = self.fresh('D').upper(), self.random.choice(['', '(order=True)', '(frozen=True)', '(eq=False)', '(kw_only=True)', '(slots=True)', '(repr=False)', '(unsafe_hash=True)'])
        fields = [f'a: int = {self.expr("int", 0)}', f'b: str = {self.expr("str", 0)}', 'c: list = dataclasses.field(default_factory=list)', f'd: int = dataclasses.field(default={self.expr("small", 0)}, repr=False)', 'e: dataclasses.InitVar[int] = 3',
                  'f: int = dataclasses.field(default=1, compare=False)', 'g: int = dataclasses.field(init=False, default=9)', f'h: typing.ClassVar[int] = {self.expr("int", 0)}']
        lines = [f'@dataclasses.dataclass{options}', f'class {name}:'] + (['    n: int'] if self.random.random() < 0.5 else []) + ['    ' + line for line in self.some(fields, 1, 4)]
        if self.random.random() < 0.3:
            lines += ['    def __post_init__(self, *more): print("post", more)']
        uses = ['{n}()', '{n}(1)', '{n}(n=1)', '{n}(1) == {n}(1)', '{n}(1) < {n}(2)', '(lambda a, b: hash(a) == hash(b))({n}(1), {n}(1))', 'dataclasses.asdict({n}(1))', 'dataclasses.astuple({n}(1))', 'dataclasses.replace({n}(1), a=5)', '[f.name for f in dataclasses.fields({n})]', 'setattr({n}(1), "a", 3)',
                'str(inspect.signature({n}))', '{n}(1, 2, 3, 4, 5)', '{n}.__match_args__', '{n}(1, a=2)', 'copy.copy({n}(1))', 'dataclasses.is_dataclass({n})', '{n}(q=1)', 'vars({n}(1))', 'sorted([{n}(3), {n}(1)])', 'setattr({n}(1), "zz", 3)', '{n}.a']
        return ['try:'] + indent(lines + self.shows([u.format(n=name) for u in uses], 3, 6)) + ['except Exception as e:', '    print(type(e).__name__, e)']

    def group(self, depth):
        leaves = ', '.join(f'{self.random.choice(EXCEPTIONS)}({self.random.randint(0, 5)})' for _ in range(self.random.randint(1, 3)))
        nested = f', ExceptionGroup("inner", [{self.random.choice(EXCEPTIONS)}(9), OSError(1, "no")])' if self.random.random() < 0.5 else ''
        lines = ['try:', f'    raise {self.random.choice(["ExceptionGroup", "ExceptionGroup", "BaseExceptionGroup"])}({self.expr("str", 0)}, [{leaves}{nested}])']
        kinds = self.random.sample(EXCEPTIONS[:8], 2)
        lines += [f'except* {kinds[0]} as e:', '    print("first", repr(e), e.exceptions)']
        if self.random.random() < 0.5:
            lines += ['    raise' if self.random.random() < 0.5 else '    raise RuntimeError("again")']
        lines += [f'except* ({kinds[1]}, OSError) as e:', '    print("second", repr(e), len(e.exceptions))']
        lines += ['else:', '    print("none")'] if self.random.random() < 0.3 else []
        lines = ['try:'] + indent(lines) + ['except BaseException as e:', '    print(repr(e), repr(e.__context__), repr(e.__cause__), getattr(e, "exceptions", ()))']
        eg = f'ExceptionGroup("g", [{leaves}{nested}])'
        return lines + self.shows([f'{eg}.split({kinds[0]})', f'{eg}.subgroup(lambda e: e.args == (1,))', f'{eg}.derive([ValueError(1)])', f'{eg}.message', f'str({eg})', 'ExceptionGroup("g", [])', 'ExceptionGroup("g", [1])', f'{eg}.split(ExceptionGroup)'], 1, 2)

    def class_pattern(self, depth):
        name = self.fresh('P').upper()
        lines = [f'class {name}:', f'    __match_args__ = {self.random.choice(["(chr(120), chr(121))", "(chr(120),)", "()"])}', '    def __init__(self, x, y): self.x, self.y = x, y', f'match {name}({self.expr("any", 1)}, {self.expr("any", 1)}):']
        patterns = [f'{name}(int(a))', f'{name}(x=0)', f'{name}(x=a, y=[b, *_])', f'{name}(a, b)', f'{name}(str() | bytes() as a)', f'{name}(y={{**a}})', f'{name}(x=(1 | 2 | 3) as a)', f'{name}(x={name}())', f'{name}(y=math.pi)', f'{name}(nothing=a)',
                    f'{name}(x=float(), y=str(b))', f'{name}(x=[a, [b, *_]])', f'{name}(x=-1 | -4.0 | 1+2j)', f'{name}(x="a" "bc")', f'{name}(a, y=b) if a == b', f'{name}(x=[*_, a])', f'{name}(y=complex(real=a))', f'{name}(x=None | True)']
        for pattern in self.some(patterns, 1, 5):
            lines += [f'    case {pattern}:', f'        print({pattern!r}, locals().get("a"), locals().get("b"))']
        return ['try:'] + indent(lines + ['    case _:', '        print("other")']) + ['except Exception as e:', '    print(type(e).__name__, e)']

    def manager(self, depth):
        name = self.fresh('w')
        kind = self.random.choice(EXCEPTIONS)
        lines = ['@contextlib.contextmanager', f'def {name}(x=1):', '    print("enter", x)', '    try:', f'        yield {self.expr("any", 1)}', f'    except {kind} as e:', '        print("inside", repr(e))', '        ' + self.random.choice(['raise', 'pass', 'raise KeyError(x)', 'return']),
                 '    finally:', '        print("exit", x)']
        forms = [[f'with {name}() as v, {name}(2):'] + indent(self.block(0, 1) + ['print(v)']), [f'with contextlib.suppress({self.random.choice(EXCEPTIONS)}), {name}():'] + indent(self.raises(0)),
                 ['with contextlib.ExitStack() as stack:', f'    print(stack.enter_context({name}(3)))', '    stack.callback(print, "called", 1)'] + indent(self.raises(0)),
                 [f'@{name}(4)', f'def {name}x(): return {self.expr("int", 1)}', f'show({name}x)'], ['out = io.StringIO()', 'with contextlib.redirect_stdout(out):'] + indent(self.block(0, 1)) + ['print(repr(out.getvalue()))']]
        return lines + ['try:'] + indent(self.random.choice(forms)) + ['except Exception as e:', '    print(repr(e), repr(e.__context__))']

    def descriptor(self, depth):
        kind, name = self.fresh('Q').upper(), self.fresh('C').upper()
        members = [['def __get__(self, obj, owner=None): return (self.name, obj is None, owner.__name__)'], ['def __set__(self, obj, value): print("set", self.name, value)'], ['def __delete__(self, obj): print("delete", self.name)'],
                   ['def __call__(self, *a): return ("called", a)']]
        lines = [f'class {kind}:', '    name = None', '    def __set_name__(self, owner, name): self.name = name', '    def __repr__(self): return "descriptor"'] + [line for member in self.some(members, 1, 4) for line in indent(member)]
        lines += [f'class {name}:', f'    d = {kind}()', '    @functools.cached_property', '    def c(self):', '        print("once")', f'        return {self.expr("any", 1)}', '    def __getattribute__(self, name):', '        if name == "z": return 26', '        return super().__getattribute__(name)',
                  '    @functools.singledispatchmethod', '    def s(self, x): return "any"', '    @s.register', '    def _(self, x: int): return "int"']
        a = self.fresh('o')
        uses = ['{a}.d', '{n}.d', 'setattr({a}, "d", 3)', 'delattr({a}, "d")', '{a}.c', '({a}.c, {a}.c)', '{a}.z', '{a}.s(1)', '{a}.s("x")', '{a}.s()', 'sorted(vars({a}))', '{a}.__dict__.update(d=5)', '{a}.d(1)', 'getattr({a}, "d", 2)', 'hasattr({a}, "nothing")', '{a}.nothing', 'type({n}.__dict__["c"]).__name__']
        return ['try:'] + indent(lines + [f'{a} = {name}()'] + self.shows([u.format(a=a, n=name) for u in uses], 3, 6)) + ['except Exception as e:', '    print(type(e).__name__, e)']
