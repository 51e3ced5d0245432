"""More walks (walks.py has the form): generators, classes over built-in types that call super(), enums, dataclasses, typing, tasks,
fractions, codecs, format specs, iterators of itertools, contexts and tools of functools.
"""
MORE_WALKS = {
    'generator': (['counting($small, $any)', 'delegating(counting(2, $any), $ints)', 'delegating($str, counting(1, 2))', '(x for x in $ints)', '(1 / x for x in $ints)', 'delegating(failing(), [1])', 'catching($tiny)', 'leaving()'],
                  ['next(#)', 'next(#, $any)', '#.send($any)', '#.send(None)', '#.throw($exception)', '#.throw($exception("a"))', '#.throw(GeneratorExit)', '#.throw(StopIteration(5))', '#.throw(ValueError, "b")', '#.throw(ValueError, ValueError("c"), None)', '#.throw($any)', '#.close()', 'list(#)', 'inspect.getgeneratorstate(#)', '#.gi_yieldfrom is None', '#.gi_running',
                   '#.gi_frame is None', '#.__name__', 'sorted(inspect.getgeneratorlocals(#))', 'iter(#) is #', '[x for x in #]', 'sum(1 for _ in #)', '#.send()', '#.throw()', '! a, *b = #', '! for q in #: break', 'bool(#)', 'copy.copy(#)', 'next(#).nothing', '#.gi_code.co_name', '(lambda: (yield from #))().send(None)'], None),
    'over_builtin': (['Named($str)', 'Summed($ints)', 'Whole($int)', 'Noted($dict)', 'Real($float)', 'Pair($tup)', 'Group($set)', 'Raw($bytes)', 'Fault($any)', 'KeyFault($str)', 'SystemFault(2, $str)', 'Bunch("m", [ValueError($int)])'],
                     ['str(#)', 'repr(#)', 'f"{#}"', 'f"{#!r:>20}"', 'format(#, $spec)', '# == #', '# == $any', '# < $any', '# + #', '# + $any', '$any + #', '# * $tiny', 'hash(#) == hash(#)', 'len(#)', 'list(#)', '#[$any]', '#[$small]', '#[$slice]', '$any in #', 'bool(#)', '! #.extra = $any', 'vars(#)', 'copy.copy(#)', 'copy.deepcopy(#)', 'pickle.loads(pickle.dumps(#))', 'type(#).__mro__[1].__name__',
                      'type(# + #).__name__', '-#', 'abs(#)', 'sorted([#, #])', 'max(#, #)', 'isinstance(#, (int, str, list, dict))', 'super(type(#), #).__repr__()', 'super(type(#), #).__str__()', 'super(type(#), #).__eq__($any)', 'type(#).__bases__[0].__repr__(#)', '#.args', '#.with_traceback(None)', 'json.dumps(#)', 'int(#)', 'float(#)', '[1, 2, 3][#]',
                      '#.upper()', '#.append($any)', '#.update(z=1)', '#.copy()', '#.split()', '#.bit_length()', '#.get("x")', '#.real', '#.index($any)', '#.union($ints)', '#.hex()', '#.__reduce_ex__(2)[0].__name__', '"%s|%r" % (#, #)', '"{0!s:>9}".format(#)', '{#: 1}', '#.__class__.__name__', 'type(#)(#)', 'str(#.__sizeof__() > 0)', '#.__init_subclass__()', '#.__format__("")', 'dir(#)[0]'], None),
    'enum': (['Color.RED', 'Color(2)', "Color['GREEN']", 'Perm.R | Perm.W', 'Perm(5)', 'Perm(0)', '~Perm.R', 'Level.LOW', 'Word.A', 'Color($any)', 'Perm($small)', 'Level($small)', 'enum.Enum("Made", $str)', 'enum.IntFlag("Bits", "A B C")($tiny)'],
             ['#', '#.name', '#.value', 'repr(#)', 'str(#)', 'f"{#}"', 'format(#, $spec)', '# == $any', '# is Color.RED', '# < Level.HIGH', '# | Perm.X', '# & Perm.R', '# ^ Perm.W', '~#', 'list(#)', 'len(#)', 'Perm.R in #', 'bool(#)', 'hash(#) == hash(#)', '#.nothing', '! #.name = 1', '! #.value = 1', '! #.other = 1', 'copy.deepcopy(#) is #', 'pickle.loads(pickle.dumps(#)) is #',
              'type(#)[#.name]', 'list(type(#))', 'type(#).__members__', '#.described()', 'isinstance(#, int)', '# + 1', 'int(#)', 'sorted([#, #])', 'type(#)(#)', 'type(#)("nothing")', 'json.dumps(#)', '[10, 20, 30][#]', 'dir(#)[-1]', '{#: 1}', '#.__class__', 'len(type(#))', '$any in type(#)', 'list(reversed(type(#)))', 'type("More", (type(#),), {})'], None),
    'dataclass': (['Point(1, $any)', 'Point(x=$int)', 'Ordered($int, $str)', 'Frozen($any)', 'Keyed(a=$any)', 'Small($int, b=$any)', 'Ordered($int)', 'Point()', 'Frozen($any, $any)', 'Keyed($any)', 'Derived(1, 2, 3)', 'Small($int, $int, $int)'],
                  ['#', 'repr(#)', '# == #', '# == $any', '# < #', '# >= Ordered(1, "a")', 'hash(#) == hash(#)', 'dataclasses.asdict(#)', 'dataclasses.astuple(#)', 'dataclasses.replace(#, x=$any)', 'dataclasses.replace(#, a=$any)', 'dataclasses.replace(#, nothing=1)', '[f.name for f in dataclasses.fields(#)]', 'dataclasses.is_dataclass(#)', '! #.x = $any', '! #.a = $any', '! #.fresh = 1', '! del #.a',
                   'vars(#)', '#.__match_args__', 'copy.copy(#)', 'copy.deepcopy(#) == #', 'pickle.loads(pickle.dumps(#)) == #', 'str(inspect.signature(type(#)))', 'matched(#)', '#.__slots__', '#.total()', '{#: 1}', 'sorted([#, #])', '[f.default for f in dataclasses.fields(#)][0] is dataclasses.MISSING', 'type(#).__annotations__', 'type(#).x', 'type(#)(*dataclasses.astuple(#)) == #', 'dataclasses.make_dataclass("M", $strs)', 'dataclasses.make_dataclass("M", [("a", int, 3)])()'], '#'),
    'typing': (['typing.Optional[int]', 'typing.Union[int, str, $callable]', 'list[int]', 'dict[str, typing.Any]', 'typing.Callable[[int], str]', 'typing.Literal[$any, $int]', 'int | None', 'typing.TypeVar("T", bound=int)', 'typing.NamedTuple("P", [("a", int)])', 'Row(1, $any)', 'Movie(name=$any)', 'Movie', 'Sized', 'Box[int]', 'Box', 'typing.Annotated[int, $any]', 'typing.Tuple[int, ...]', 'typing.List[$any]', 'tuple[()]', 'type[int]', 'typing.ClassVar[int]', 'typing.Final[int]', 'typing.NewType("Id", int)', 'collections.abc.Callable[[int], str]', 'typing.ForwardRef("int")'],
               ['#', 'repr(#)', '# == #', '# == $any', 'hash(#) == hash(#)', 'typing.get_origin(#)', 'typing.get_args(#)', '#[int]', '#[int, str]', '#($any)', 'isinstance($any, #)', 'issubclass(int, #)', '# | None', 'int | #', '#.__parameters__', '#.__args__', '#.__origin__', 'typing.get_type_hints(#)', 'copy.copy(#) == #', 'pickle.loads(pickle.dumps(#)) == #', '#.__name__', '#.__bound__', '#.__annotations__', '#.__total__', '#.__required_keys__ == frozenset()', '#.__supertype__', '#._fields', '#.a', '#.__metadata__',
                'type("T", (#,), {})', '! #.x = 1', 'callable(#)', 'typing.cast(#, 5)', 'str(#)', '#.__module__', 'typing.Optional[#]', 'typing.Union[#, int]', 'list[#]', '#.nothing', 'len(#)', 'bool(#)', 'typing.is_typeddict(#)', '#.__mro_entries__(())', '#.__class_getitem__(int)', '#.__qualname__', 'inspect.isclass(#)'], None),
    'task': (['asyncio.Queue($tiny)', 'asyncio.Event()', 'asyncio.Lock()', 'asyncio.Semaphore($small)', 'asyncio.PriorityQueue()', 'asyncio.LifoQueue(2)', 'asyncio.Condition()', 'asyncio.BoundedSemaphore(1)', 'asyncio.Barrier(2)'],
             ['asyncio.run(within(lambda: #.put($any)))', '#.put_nowait($any)', '#.get_nowait()', '#.qsize()', '#.full()', '#.empty()', '#.set()', '#.is_set()', '#.clear()', '#.locked()', '#.release()', 'asyncio.run(within(lambda: #.acquire()))', 'asyncio.run(within(lambda: #.wait()))', 'asyncio.run(within(lambda: #.get()))', '#.task_done()', '#.maxsize', '#.notify()', 'bool(#)', '#.nothing', 'asyncio.run(several(later($small), failing_later(), later(3)))', 'asyncio.run(raced($small))',
              'asyncio.run(canceled($tiny))', 'asyncio.run(grouped($exception))', 'asyncio.run(asyncio.wait_for(asyncio.sleep(900), 0.001))', 'asyncio.run(asyncio.gather(later(1), later($any)))', 'asyncio.run($any)', 'asyncio.run(later(1), debug=$bool)', 'asyncio.run(shielded())', 'asyncio.run(timed())', 'asyncio.iscoroutinefunction(later)', 'asyncio.get_running_loop()', 'asyncio.run(streamed($ints))', '#.parties'], None),
    'fraction': (['fractions.Fraction($int, $int or 1)', 'fractions.Fraction($float)', 'fractions.Fraction($str)', "fractions.Fraction('-3/7')", "fractions.Fraction('1.25e2')", 'fractions.Fraction($any)', 'fractions.Fraction(decimal.Decimal("0.1"))', 'fractions.Fraction($int, $any)', 'fractions.Fraction(_normalize=False)'],
                 ['! # = # + fractions.Fraction(1, 3)', '! # = # * $int', '! # = # / $small', '! # = # ** $tiny', '! # = # ** -1', '# // 2', '# % 3', 'divmod(#, 2)', '-#', 'abs(#)', '#.numerator', '#.denominator', '#.limit_denominator($tiny)', '#.limit_denominator(100)', '#.as_integer_ratio()', 'round(#)', 'round(#, $small)', 'math.floor(#)', 'math.ceil(#)', 'math.trunc(#)', 'float(#)', 'int(#)', 'complex(#)', 'str(#)', 'repr(#)', 'format(#, $spec)', 'hash(#) == hash(float(#))',
                  '# == $any', '# < $any', '# + $any', '$any - #', '$int ** #', '# ** 0.5', '# ** #', 'pow(#, 2, 3)', 'bool(#)', 'copy.copy(#) is #', 'pickle.loads(pickle.dumps(#)) == #', '# == decimal.Decimal(1)', '# + decimal.Decimal(1)', 'sum([#, #])', 'sorted([#, 1, 0.5])', '! #.numerator = 1', 'fractions.Fraction.from_float($any)', 'fractions.Fraction.from_decimal($any)', 'statistics.mean([#, 1])', '#.real', '#.imag', '#.conjugate()', 'f"{#:>10}"', 'math.sqrt(abs(#))', 'isinstance(#, numbers.Rational)'], '#'),
    'codec': (['$str', '$bytes', "'äöü€😀'", "'\\udc80a'", "b'\\xff\\xfeab\\x00'", "b'caf\\xc3\\xa9'", "'ﬁ ẞ İ'", "b'abc\\x80'", "bytearray($bytes)", "memoryview($bytes)"],
              ['#.encode($encoding)', '#.decode($encoding)', '#.encode($encoding, $handler)', '#.decode($encoding, $handler)', 'codecs.encode(#, $encoding)', 'codecs.decode(#, $encoding, $handler)', 'bytes(#, $encoding)', 'str(#, $encoding, $handler)', 'codecs.lookup($encoding).name', 'codecs.getincrementaldecoder($encoding)($handler).decode(#)', 'codecs.getincrementalencoder($encoding)().encode(#, True)', 'list(codecs.iterdecode([#], $encoding))', 'codecs.getreader($encoding)(io.BytesIO(#)).read()', 'io.TextIOWrapper(io.BytesIO(#), $encoding, $handler).read()',
               'codecs.escape_decode(#)', 'codecs.charmap_encode(#, $handler, {97: 98})', 'ascii(#)', 'len(#)', '#.encode(errors=$handler)', 'codecs.encode(#, "hex")', 'codecs.encode(#, "base64")', 'codecs.encode(#, "rot13")', 'codecs.decode(#, "hex")', 'codecs.lookup_error($handler)(UnicodeDecodeError("x", b"ab", 0, 1, "r"))', 'codecs.lookup_error($handler)(UnicodeEncodeError("x", "ab", 0, 1, "r"))', 'codecs.BOM_UTF8 + #', '#.isascii()', 'unicodedata.normalize("NFKD", #)', 'binascii.hexlify(#)', '#.casefold()', '#.swapcase()', '#.title()', '# == #.encode().decode()',
               'codecs.register_error(#, len)', 'codecs.lookup(#)', 'json.dumps(#)', 'zlib.decompress(zlib.compress(#))', 'base64_of(#)', 'repr(#)', 'int.from_bytes(#, $endian)', '#.translate({97: None, 98: "x"})', 'str.maketrans(#, #)', 'bytes.maketrans(#, #)', '#.splitlines(True)', '#.hex(":")', 'struct.unpack("<" + "B" * len(#), #)'], None),
    'spec': (['$int', '$float', '$str', '$big', '$cplx', '$bool', 'decimal.Decimal("-1234.5678")', 'float("nan")', 'float("-inf")', '-0.0', '1e300', '5e-324', 'datetime.date(2024, 2, 9)', 'Color.RED', 'None', '[1]', 'Whole(5)', 'Named("ab")'],
             ['format(#, $format)', 'f"{#:" + $format + "}"', '("{:" + $format + "}").format(#)', '$percent % #', '$percent % (#,)', '$percent % (#, #)', 'f"{#!r:{$format}}"', 'f"{#!s:>{$tiny}}"', '"{0:{1}}".format(#, $format)', '"{:{}}".format(#, $format)', '"{0.real}".format(#)', '"{0[0]}".format(#)', '"{}{0}".format(#)', '"{a.b}".format(a=#)', '"{!x}".format(#)', '"{".format(#)', '"{:{{}}}".format(#)', '"{a[b]}".format_map({"a": {"b": #}})', '$percent.encode() % #', 'format(#, $str)', '#.__format__($format)',
              'string.Formatter().format("{:" + $format + "}", #)', 'round(#, $small)', '"%*.*f" % ($tiny, $tiny, #)', '"%(k)s" % {"k": #}', 'f"{#=}"', 'f"{#!a:^20}"', 'str(#).rjust($tiny, "*")', 'f"{#:>{10}.{3}}"'], None),
    'itertool': (['itertools.count($int, $small)', 'itertools.cycle($any)', 'itertools.accumulate($ints, $callable)', 'itertools.chain($str, $ints)', 'itertools.compress($str, $ints)', 'itertools.groupby($strs, len)', 'itertools.islice($ints, $small, $small)', 'itertools.permutations($ints, $tiny)', 'itertools.product($str, repeat=$tiny)', 'itertools.repeat($any, $small)', 'itertools.starmap(pow, zip($ints, [1, 2]))', 'itertools.zip_longest($ints, $str, fillvalue=$any)', 'itertools.pairwise($str)', 'itertools.tee($ints)[0]', 'map($callable, $ints)', 'filter($callable, $ints)', 'zip($ints, $str, strict=$bool)', 'enumerate($str, $int)', 'reversed($ints)', 'itertools.takewhile($callable, $ints)', 'itertools.chain.from_iterable($strs)', 'itertools.dropwhile($callable, $ints)', 'iter(iter($ints).__next__, $int)'],
                 ['next(#)', 'next(#, $any)', 'list(itertools.islice(#, 5))', '#.__reduce__()', 'copy.copy(#)', 'repr(#)', 'operator.length_hint(#)', '#.__length_hint__()', 'iter(#) is #', 'len(#)', '! # = itertools.chain(#, $ints)', '! a, b = itertools.tee(#)', '[list(g) for k, g in itertools.islice(#, 3)]', 'list(zip(#, #))', 'sum(1 for _ in itertools.islice(#, 9))', '#.__setstate__($any)', '$int in itertools.islice(#, 5)', '#.nothing', 'bool(#)', 'pickle.loads(pickle.dumps(#))', 'max(itertools.islice(#, 4))', 'dict(itertools.islice(#, 3))'], None),
    'context': (['contextlib.ExitStack()', 'contextlib.suppress($exception)', 'contextlib.nullcontext($any)', 'contextlib.closing(io.StringIO($str))', 'managed($any)', 'contextlib.redirect_stdout(io.StringIO())', 'contextlib.chdir($any)', 'contextlib.ExitStack().__enter__()', 'decimal.localcontext()', 'contextlib.AsyncExitStack()'],
                ['used(#)', 'used(#, $exception)', 'used(#, $exception)', '#.__enter__()', '#.__exit__(None, None, None)', '#.callback(print, $any)', '#.push(lambda *a: print(a[0]) or $bool)', '#.enter_context(managed($any))', '#.enter_context($any)', '#.pop_all()', '#.close()', 'managed($any)(len)("ab")', '#.thing', '#.enter_result', '#.push($any)', 'asyncio.run(within(lambda: #.__aenter__()))', '#(len)($str)'], None),
    'tool': (['functools.partial($callable, $any)', 'functools.partial(int, base=$tiny)', 'functools.lru_cache(maxsize=$tiny)(lambda x: x)', 'functools.cache($callable)', 'functools.cmp_to_key(lambda a, b: (a > b) - (a < b))', 'functools.singledispatch(described)', 'operator.itemgetter($any)', 'operator.attrgetter($str)', 'operator.methodcaller($str, $any)', 'functools.wraps(described)(lambda: 1)', 'functools.partial(functools.partial(max, 1), 2)', 'functools.total_ordering(type("T", (), {"__lt__": lambda a, b: True}))', 'functools.partialmethod(described, 1)', 'functools.reduce'],
             ['#($any)', '#($any, $any)', '#()', '#(x=$any)', 'repr(#)', '#.cache_info()', '#.cache_clear()', '#.cache_parameters()', '#.__wrapped__($any)', '#.func', '#.args', '#.keywords', 'copy.copy(#)', '#.register(int, lambda x: "int")', '#.register(str)(lambda x: "str")', '#.dispatch($callable)', 'sorted(map(repr, #.registry))', 'sorted($ints, key=#)', 'str(inspect.signature(#))', '! #.x = 1', '#.__name__', 'doc_of(#)', 'hash(#) == hash(#)', '# == #', '#(1) < #(2)', '#.__dict__', 'pickle.loads(pickle.dumps(#))($any)', 'callable(#)', '#(*$ints, **$dict)', '#.__reduce__()[0]', 'list(map(#, $ints))'], None),
    'view': (['memoryview(bytearray($bytes))', 'memoryview(array.array("i", $ints))', 'memoryview(b"12345678").cast($fmtc)', 'memoryview(bytearray(24)).cast("B", (2, 3, 4))', 'memoryview(bytearray(8)).cast("d")', 'array.array($typecode, $ints)', 'struct.Struct($packing)', 'bytearray($bytes)'],
             ['#[$small]', '#[$slice]', '! #[$small] = $any', '! #[$slice] = $bytes', '! #[$slice] = #', '#.tolist()', '#.cast("B")', '#.cast($fmtc)', '#.cast("B", ($tiny, $tiny))', '#.shape', '#.strides', '#.nbytes', '#.itemsize', '#.format', '#.ndim', '#.readonly', '#.contiguous', '#.tobytes()', '#.tobytes("F")', '#.hex()', '#.toreadonly()', '# == #', '# == $bytes', 'hash(#)', 'len(#)', 'list(#)', '#.release()', '#.obj', '#[0, 1]', '#[0, 1, 2]', '! #[0, 1, 2] = $small', '#[...]', '! #[()] = 1', '$any in #', 'bytes(#)', 'struct.unpack_from($packing, #)', 'struct.pack_into($packing, #, $small, $any)', 'struct.pack_into($packing, #, 0, $int, $int)', '#.pack($any)', '#.pack($int, $int)', '#.unpack($bytes)', '#.size', 'list(struct.iter_unpack("<h", #))', '#.byteswap()', '#.frombytes($bytes)', '#.extend($ints)', '#.append($any)', '# + #', '! # += #', '#.count($any)', '#.index($any)', '#.typecode', '! #.fresh = 1', 'pickle.loads(pickle.dumps(#))', 'copy.copy(#)', 'reversed(#)', '#.insert($small, $any)', '#.fromlist($tup)'], None),
}
MORE_LITERALS = {
    'exception': ['ValueError', 'KeyError', 'TypeError', 'StopIteration', 'ZeroDivisionError', 'RuntimeError', 'LookupError', 'Exception', 'OSError', 'GeneratorExit', 'KeyboardInterrupt'],
    'encoding': ["'utf-8'", "'ascii'", "'latin-1'", "'utf-16'", "'utf-16-le'", "'utf-32-be'", "'cp1252'", "'utf-8-sig'", "'utf-7'", "'unicode_escape'", "'raw_unicode_escape'", "'punycode'", "'idna'", "'nothing'", "'UTF8'", "'cp437'", "'koi8-r'", "'hex'", "'charmap'", "'iso8859-15'", "'mac-roman'", "'gbk'", "'shift_jis'", "'euc-jp'", "'big5'"],
    'handler': ["'strict'", "'ignore'", "'replace'", "'backslashreplace'", "'xmlcharrefreplace'", "'namereplace'", "'surrogateescape'", "'surrogatepass'", "'nothing'"],
    'format': ["'>10'", "'<10'", "'^10'", "'*^12'", "'+'", "' '", "'010'", "'10.3f'", "'.2e'", "'g'", "'.0f'", "'#x'", "'b'", "'o'", "'#o'", "'X'", "'c'", "'n'", "','", "'_'", "'_x'", "',.2f'", "'%'", "'.1%'", "'d'", "'s'", "'.3'", "'=+10'", "'é>6'", "'#.3g'", "'z'", "'10.'", "'.'", "'1000000000000000000000'", "'<<'", "'0=8'", "'x>#12_b'", "'+.3E'", "'G'", "',d'", "'_f'", "'%Y-%j'", "'!'", "'>0'", "'-5'", "'08.3f'", "'z.1f'", "'F'", "' d'", "'#b'"],
    'percent': ["'%d'", "'%5.1f'", "'%s'", "'%r'", "'%-8s|'", "'%08.3f'", "'%x'", "'%#o'", "'%+d'", "'%c'", "'%e'", "'%G'", "'%%'", "'%i%%'", "'%a'", "'%.3s'", "'%5'", "'%q'", "'%(a)s'", "'% d'", "'%ld'", "'%*d'", "'%.*f'", "'%u'", "'%b'", "'%X'", "'%.0e'", "'%#x'", "'%-+5d|'", "'%05d'"],
    'packing': ["'<h'", "'>i'", "'<2h'", "'3s'", "'<d'", "'!Q'", "'b?'", "'<hxh'", "'0i'", "'n'", "'@q'", "'=e'", "'p'", "'5p'", "'<P'", "'c'", "'bb'", "''", "'<z'", "'2'"],
}
MORE_PRELUDE = '''
def counting(n, last):
    got = []
    try:
        for i in range(n):
            got.append((yield i))
    except ValueError as e:
        yield ('caught', str(e))
    finally:
        print('left', got)
    return last


def delegating(first, second):
    one = yield from first
    two = yield from second
    return one, two


def failing():
    yield 1
    raise KeyError('inside')


def catching(n):
    while n > 0:
        n -= 1
        try:
            yield n
        except BaseException as e:
            print('within', type(e).__name__)
            if n == 1:
                raise RuntimeError('from within') from e


def leaving():
    try:
        yield 1
    finally:
        yield 2


class Named(str):
    def __new__(cls, text=''):
        return super().__new__(cls, text)

    def __repr__(self):
        return 'Named' + super().__repr__()

    def __add__(self, other):
        return type(self)(super().__add__(other))


class Summed(list):
    def __init__(self, items=()):
        super().__init__(items)
        self.sum = len(self)

    def __eq__(self, other):
        return super().__eq__(other)

    def __getitem__(self, i):
        return ('item', super().__getitem__(i))

    def append(self, x):
        super().append(x)
        self.sum += 1


class Whole(int):
    def __str__(self):
        return 'whole ' + super().__str__()

    def __add__(self, other):
        return Whole(super().__add__(other))

    __radd__ = __add__


class Real(float):
    def __repr__(self):
        return '<' + super().__repr__() + '>'

    def __lt__(self, other):
        return super().__lt__(other)

    def __hash__(self):
        return super().__hash__()

    def __eq__(self, other):
        return super().__eq__(other)


class Noted(dict):
    def __missing__(self, key):
        return ('missing', key)

    def __setitem__(self, key, value):
        super().__setitem__(key, [value])

    def __contains__(self, key):
        return super().__contains__(key)

    def __iter__(self):
        return super().__iter__()


class Pair(tuple):
    def __new__(cls, items=()):
        return super().__new__(cls, items)

    def __len__(self):
        return super().__len__() + 1

    def __repr__(self):
        return 'Pair' + super().__repr__()


class Group(set):
    def __contains__(self, x):
        return super().__contains__(x)

    def __repr__(self):
        return 'Group' + repr(sorted(map(repr, self)))


class Raw(bytes):
    def __getitem__(self, i):
        return super().__getitem__(i)

    def __mod__(self, other):
        return super().__mod__(other)


class Fault(ValueError):
    def __init__(self, *args):
        super().__init__(*args)
        self.count = len(args)

    def __str__(self):
        return 'fault ' + super().__str__()

    def __repr__(self):
        return 'F' + super().__repr__()


class KeyFault(KeyError):
    def __str__(self):
        return 'key ' + super().__str__()


class SystemFault(OSError):
    def __str__(self):
        return 'system ' + super().__str__()


class Bunch(ExceptionGroup):
    def derive(self, items):
        return Bunch(self.message, items)

    def __str__(self):
        return 'bunch ' + super().__str__()


class Color(enum.Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1

    def described(self):
        return f'{self.name} is {self.value}'


class Perm(enum.Flag):
    R = 1
    W = 2
    X = 4


class Level(enum.IntEnum):
    LOW = 1
    HIGH = enum.auto()


class Word(enum.StrEnum):
    A = enum.auto()
    B = 'bee'


@dataclasses.dataclass
class Point:
    x: int
    a: list = dataclasses.field(default_factory=list)

    def total(self):
        return self.x + len(self.a)


@dataclasses.dataclass(order=True)
class Ordered:
    x: int
    a: str = 'a'


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: object
    x: int = dataclasses.field(default=3, repr=False, compare=False)


@dataclasses.dataclass(kw_only=True)
class Keyed:
    a: object
    x: int = 0


@dataclasses.dataclass(slots=True, unsafe_hash=True)
class Small:
    x: int
    b: object = None


@dataclasses.dataclass
class Derived(Point):
    c: int = 5
    d: dataclasses.InitVar[int] = 1

    def __post_init__(self, d):
        self.c += d if isinstance(d, int) else 0


def matched(x):
    match x:
        case Point(x=int(n), a=[]):
            return 'point', n
        case Ordered(n, 'a') | Frozen(n):
            return 'other', n
        case Keyed(a=[*rest]):
            return 'keyed', rest
        case object(x=n):
            return 'any', n
        case _:
            return None


class Row(typing.NamedTuple):
    a: int
    b: str = 'b'


class Movie(typing.TypedDict, total=False):
    name: str


@typing.runtime_checkable
class Sized(typing.Protocol):
    def __len__(self): ...


_T = typing.TypeVar('_T')


class Box(typing.Generic[_T]):
    def __init__(self, item=None):
        self.item = item


async def within(make):
    return await asyncio.wait_for(make(), 0.001)


async def failing_later():
    await asyncio.sleep(0)
    raise KeyError('later')


async def several(*what):
    return [repr(r) for r in await asyncio.gather(*what, return_exceptions=True)]


async def raced(n):
    tasks = [asyncio.create_task(asyncio.sleep(i * 900, i)) for i in range(3)]
    done, left = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in left:
        task.cancel()
    return len(done), n, [type(r).__name__ for r in await asyncio.gather(*left, return_exceptions=True)]


async def canceled(n):
    async def forever():
        try:
            await asyncio.sleep(900)
        except asyncio.CancelledError as e:
            print('canceled', e.args)
            if n:
                raise
            return 'kept on'
    task = asyncio.create_task(forever())
    await asyncio.sleep(0)
    print(task.cancel('why'), task.done(), task.cancelling())
    try:
        return await task, task.cancelled()
    except asyncio.CancelledError as e:
        return 'gone', e.args, task.cancelled()


async def grouped(kind):
    async def fails():
        raise kind('in group')
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fails())
            group.create_task(asyncio.sleep(900))
    except BaseExceptionGroup as e:
        return type(e).__name__, [repr(x) for x in e.exceptions]


async def shielded():
    inner = asyncio.create_task(asyncio.sleep(0, 'done'))
    outer = asyncio.shield(inner)
    outer.cancel()
    try:
        await outer
    except asyncio.CancelledError:
        return await inner


async def timed():
    try:
        async with asyncio.timeout(0.001):
            await asyncio.sleep(900)
    except TimeoutError as e:
        return repr(e)


async def streamed(items):
    queue, got = asyncio.Queue(1), []

    async def feed():
        for x in items:
            await queue.put(x)
        await queue.put(None)
    task = asyncio.create_task(feed())
    while (x := await queue.get()) is not None:
        got.append(x)
    await task
    return got


@contextlib.contextmanager
def managed(value):
    print('begin')
    try:
        yield value
    except ValueError as e:
        print('swallowed', e)
    finally:
        print('end')


def used(manager, error=None):
    with manager as got:
        if error is not None:
            raise error('inside')
        return got
    return 'swallowed'


def described(x, *more):
    """Of x."""
    return 'object', type(x).__name__, more


def base64_of(data):
    import base64
    return base64.b64decode(base64.b64encode(data)), base64.b85encode(data)
'''
