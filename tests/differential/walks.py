"""Walks: an object is made, then some operations are applied to it one after another, and its state is shown after each.

A row of WALKS is (ways to make it, operations, what to show of it); `#` stands for the object's name, `$kind` for an
expression. Operations that begin with a capital keyword or contain `=` outside of parentheses are statements.
"""
from walks_more import MORE_WALKS

WALKS = {
    'deque': (['collections.deque($ints)', 'collections.deque($strs, $tiny)', 'collections.deque($tup, maxlen=3)', 'collections.deque()'],
              ['#.append($any)', '#.appendleft($any)', '#.pop()', '#.popleft()', '#.rotate($small)', '#.rotate()', '#.extend($ints)', '#.extendleft($strs)', '#.insert($small, $any)', '#.remove($int)', '#.reverse()', '#.index($int)', '#.count($int)', '#[$small]',
               '! #[$small] = $any', '! del #[$small]', '#.copy()', '! # += $ints', '! # *= $tiny', '# + #', '# * $tiny', '#.maxlen', 'list(reversed(#))', '$any in #', '# == collections.deque($ints)', '# < collections.deque($ints)', '#.clear()', '#.extend(#)', 'copy.copy(#)',
               'pickle.loads(pickle.dumps(#))', 'hash(#)', '#[1:]', 'next(iter(#))', '[#.append(x) for x in #][:9]', 'bool(#)', '#.index($int, $small, $small)', 'sorted(#)', '#.__reduce__()[1]', '! #.maxlen = 3'], '#'),
    'Counter': (['collections.Counter($str)', 'collections.Counter($ints)', 'collections.Counter($dict)', 'collections.Counter(a=$small, b=$int)'],
                ['#.update($str)', '#.update($dict)', '#.subtract($str)', '#.subtract(a=$small)', '#[$str]', '! #[$str] = $small', '! del #[$str]', '! #[$any] += 1', '#.most_common($tiny)', 'sorted(map(repr, #.elements()))', '#.total()', '# + collections.Counter($str)', '# - collections.Counter($str)',
                 '# & collections.Counter($str)', '# | collections.Counter($str)', '+#', '-#', '! # += collections.Counter($str)', '! # &= collections.Counter($str)', '# == collections.Counter($str)', '# <= collections.Counter($str)', '# > collections.Counter($str)', '#.copy()', '#.pop($str)', '#.pop($str, $int)',
                 'collections.Counter.fromkeys($str)', '#.setdefault($str, $int)', '#.clear()', 'dict(#)', '#.most_common()[::-1][:2]', 'json.dumps(#)', 'repr(copy.deepcopy(#))', 'sum(#.values())', '#.items() >= {("a", 1)}', '# | $dict', '#.missing'], '#'),
    'OrderedDict': (['collections.OrderedDict($dict)', 'collections.OrderedDict(zip($strs, $ints))', 'collections.OrderedDict()', 'collections.OrderedDict(a=1, b=2, c=3)'],
                    ['#.move_to_end($str)', "#.move_to_end('a', last=$bool)", '#.popitem()', '#.popitem(last=False)', '! #[$str] = $any', '! del #[$str]', '#.pop($str)', '#.pop($str, $any)', '#.setdefault($str, $any)', 'list(reversed(#))', '# == $dict', '# == collections.OrderedDict($dict)', '# | $dict', '! # |= $dict',
                     '$dict | #', '#.copy()', '#.update($dict)', '#.clear()', 'list(#.items())', '#.keys() & {"a", "b"}', 'list(reversed(#.values()))', 'collections.OrderedDict.fromkeys($str, $int)', 'pickle.loads(pickle.dumps(#))', 'next(iter(#))', '#.get($str)', '[#.pop(k) for k in #]', '! #.x = 1', 'vars(#)', 'bool(#)'], '#'),
    'ChainMap': (['collections.ChainMap($dict, $dict)', 'collections.ChainMap()', 'collections.ChainMap($dict)', 'collections.ChainMap({}, {"a": 1}, $dict)'],
                 ['! #[$str] = $int', '#[$str]', '! del #[$str]', '#.pop($str)', '#.pop($str, $int)', '#.popitem()', '#.new_child()', '#.new_child($dict)', '#.new_child(z=1)', '#.parents', '#.maps', 'list(#)', 'len(#)', '$str in #', '#.get($str, $int)', 'dict(#)', 'sorted(#.items())', '# | $dict', '$dict | #', '! # |= $dict',
                  '#.clear()', '#.setdefault($str, $int)', 'bool(#)', '# == $dict', '#.copy()', 'collections.ChainMap.fromkeys($str, 1)', '#.update($dict)', 'list(reversed(#))', '#.fromkeys("ab")', 'repr(#.keys())', 'repr(#.values())'], '#'),
    'defaultdict': (['collections.defaultdict(int, $dict)', 'collections.defaultdict(list)', 'collections.defaultdict(lambda: $any, a=1)', 'collections.defaultdict(None, $dict)', 'collections.defaultdict(collections.Counter)'],
                    ['#[$str]', '! #[$str] += $any', '#.get($str)', '! #[$str] = $any', '#[$str].append($int)', '#.setdefault($str)', 'len(#)', 'list(#)', '! #.default_factory = str', '#.__missing__($str)', '# | $dict', '$dict | #', '#.copy()', 'pickle.dumps(#) and 1', '#.pop($str)', '$str in #', 'dict(#) == #', 'copy.copy(#)', '! del #[$str]',
                     'sorted(#.items(), key=repr)', '#[$tup]', '#[[]]', '! #.default_factory = None', '[#[w] for w in $str]'], 'sorted(map(repr, #.items()))'),
    'dict': (['dict($dict)', '{$any: $any}', '{1: "a", 1.0: "b", True: "c"}', 'dict.fromkeys($str, $int)', '{}', '{x: x * x for x in $ints}'],
             ['! #[$any] = $any', '! del #[$any]', '#.pop($any)', '#.pop($any, $any)', '#.popitem()', '#.setdefault($any, $any)', '#.update($dict)', '#.update([($str, $any)])', '#.update($any)', '#.update(a=$any)', '#.get($any)', 'list(#)', 'list(#.items())', 'list(reversed(#))', '#.keys() & $set', '#.keys() | $strs',
              '#.keys() - $dict.keys()', '#.items() ^ $dict.items()', '$any in #.values()', '# == $dict', '# | $dict', '! # |= $dict', '! # |= [("k", $any)]', '#.copy()', '#.clear()', 'sorted(#, key=repr)', '[#.update(z=1) for k in #]', '[#.pop(k) for k in list(#)]', 'next(iter(#.items()))', '# < #', 'repr(#.keys())', '#.keys() <= $dict.keys()',
              '#.values() == #.values()', '#.items() == #.items()', '#.keys().isdisjoint($strs)', '{**#, "q": 1}', 'dict(#, r=2)', '#.__getitem__($any)', 'max(#, default=0)', 'repr(#.keys().mapping)', '! # = {v: k for k, v in #.items()}', 'list(zip(#, #.values()))', '#.fromkeys($ints)'], '{k: v for k, v in #.items()}'),
    'list': (['list($ints)', 'list($strs)', 'list($tup)', '[$any, $any, $any]', '[]', '[[]] * 2', 'list($bytes)'],
             ['#.append($any)', '#.extend($any)', '#.insert($small, $any)', '#.remove($any)', '#.pop()', '#.pop($small)', '#.sort()', '#.sort(key=repr)', '#.sort(key=lambda v: (str(type(v)), repr(v)), reverse=$bool)', '#.sort(key=len)', '#.reverse()', '! #[$small] = $any', '! #[$slice] = $any', '! #[$slice] = $ints', '! del #[$slice]',
              '! del #[$small]', '! # += $any', '! # *= $tiny', '# + $any', '# * $small', '#.index($any)', '#.index($any, $small)', '#.count($any)', '#.copy()', '#.clear()', '# == $tup', '# < $ints', '$any in #', '[*#, *$any]', '! a, *b = #', 'sorted(#)', 'sorted(#, key=str)', 'min(#)', 'max(#, key=repr)', 'sum(#)', 'sum(#, [])', '#[$slice]',
              '#.append(#[:1])', 'list(reversed(#))', '#.sort(key=functools.cmp_to_key(lambda v, w: 1 if repr(v) > repr(w) else -1))', '#.sort(key=lambda v: #.append(1))', '#.extend(v for v in #[:2])', '"".join(#)', 'list(map(type, #))[:0]', '! #[:] = #[::-1]', '! #[::2] = $ints', '! #[5:2] = "ab"', 'all(#)', 'any(#)', '#.__contains__($any)', '#[$any]'], '#[:20]'),
    'bytearray': (['bytearray($bytes)', 'bytearray($tiny)', "bytearray(b'hello')", 'bytearray()'],
                  ['#.append($int)', '#.extend($bytes)', '#.extend($ints)', '#.insert($small, $small)', '#.pop()', '#.pop($small)', '#.remove($small)', '#.reverse()', '! #[$small] = $int', '! #[$slice] = $bytes', '! #[$slice] = $ints', '! del #[$slice]', '! del #[$small]', '! # += $bytes', '! # *= $tiny', '# + $bytes', '$bytes + #', '#.find($bytes)', '#.replace($bytes, $bytes)',
                   '#.split($bytes)', '#.partition($bytes)', '#.upper()', '#.translate(None, $bytes)', '#.decode($codec, $handler)', '#.hex()', '#.clear()', '#.copy()', '#.strip()', '#.join([$bytes, $bytes])', '#.startswith($bytes)', '$int in #', '$bytes in #', '# == $bytes', '# < $bytes', '#.count($int)', '#.index($bytes)', '# % $tup', '#.ljust($tiny, $bytes)', '#[$slice]', '#[$small]',
                   'memoryview(#)[$slice].tolist()', '! memoryview(#)[0] = $int', '! memoryview(#)[:2] = $bytes', 'int.from_bytes(#, $endian)', 'struct.unpack_from($fmt, #)', 'struct.pack_into("<h", #, $small, $int)', '#.removesuffix($bytes)', 'bytes(#)', '#.isalnum()', '#.rsplit(None, 1)', '! #[::2] = $bytes', '#.zfill($small)', '#.title()', 'list(#)', 'hash(#)', 'io.BytesIO($bytes).readinto(#)'], '#'),
    'memoryview': (["memoryview(bytearray(b'abcdefgh'))", "memoryview(array.array('i', [1, -2, 3, 4]))", 'memoryview(bytearray($bytes))', 'memoryview($bytes)', "memoryview(bytearray(range(12))).cast('B', [3, 4])", "memoryview(bytearray(16)).cast('d')", "memoryview(array.array('H', $tup[:0]))"],
                   ['! #[$small] = $int', '! #[$slice] = $bytes', '! #[$slice] = #[$slice]', '#[$slice].tolist()', '#[$small]', '#.tobytes()', '#.tolist()', '#.cast("B").tolist()', '#.cast("h").tolist()', '#.cast("B").cast($fmtc).tolist()', '(#.nbytes, #.itemsize, #.format, #.ndim, #.shape, #.strides, #.suboffsets)', '#.readonly', '#.contiguous', '# == $bytes', '# == #[::-1]', 'len(#)', 'bytes(#)',
                    '#.hex()', '#.hex("-", 2)', '#.toreadonly()[:1].tolist()', '! #.toreadonly()[0] = 1', '$int in #', 'list(reversed(#))', 'hash(#)', '#[0, 1]', '#[1, 2]', '! #[0, 0] = 5', '#[...]', '! del #[0]', '! # = #[1:]', '! # = #[::2]', '! # = #[::-1]', '#.obj', 'type(#.obj).__name__', '#.c_contiguous, #.f_contiguous', 'sorted(#)', 'sum(#)', '[x for x in #]', 'with_block(#)', '#.tobytes("F")', '! #[$small] = $any', '# < #',
                    'bytearray(#)', 'array.array("B", #)', 'struct.unpack_from("<h", #, $tiny)', 'b"".join([#, b"x"])'], '#.tolist()'),
    'array': (["array.array('i', [3, -1, 2])", "array.array('b', $bytes[:0])", "array.array('d', [$float, $small])", "array.array('u', 'héllo')", "array.array('Q', [0, 2 ** 63])", "array.array('h', $ints)", "array.array($typecode, [$tiny, $tiny])"],
              ['#.append($int)', '#.append($any)', '#.extend($ints)', '#.extend(#)', '#.extend(array.array("i", [1]))', '#.fromlist($ints)', '#.frombytes($bytes)', '#.tobytes()', '#.tolist()', '#.insert($small, $small)', '#.pop()', '#.pop($small)', '#.remove($small)', '#.index($small)', '#.index($small, 1)', '#.count($small)', '#.reverse()', '#.byteswap()', '! #[$small] = $int', '! #[$slice] = array.array(#.typecode, [1])',
               '! #[$slice] = $ints', '! del #[$slice]', '! # += array.array(#.typecode, [7])', '! # *= $tiny', '# + #', '# * $tiny', '# == array.array("i", [3, -1, 2])', '# < array.array("d", [3])', '#.itemsize', '#.typecode', '#[$slice]', '#.tounicode()', '#.fromunicode($str)', 'copy.copy(#)', 'pickle.loads(pickle.dumps(#))', '$int in #', 'sorted(#)', 'memoryview(#).format', 'bytes(#)', '#.buffer_info()[1]', 'max(#)', 'hash(#)', 'array.array("f", #)'], '#'),
    'StringIO': (['io.StringIO()', 'io.StringIO($str)', "io.StringIO('one\\ntwo\\r\\nthree')", "io.StringIO('a\\r\\nb\\rc\\n', newline=None)", "io.StringIO($str, newline='')"],
                 ['#.write($str)', '#.read()', '#.read($small)', '#.readline()', '#.readline($tiny)', '#.readlines()', '#.seek($small)', '#.seek(0, 2)', '#.seek($small, 1)', '#.tell()', '#.truncate($small)', '#.truncate()', '#.writelines($strs)', '#.getvalue()', 'list(#)', 'next(#)', '#.close()', '#.closed', '#.write($any)', 'print($any, $any, file=#)', '#.isatty()', '#.newlines', '#.line_buffering', '#.seekable()', '#.fileno()', '#.flush()', '#.detach()', 'repr(#.encoding)', '#.readlines($tiny)', '#.read(None)', '#.readable()'], '(#.tell(), #.getvalue())'),
    'BytesIO': (['io.BytesIO()', 'io.BytesIO($bytes)', "io.BytesIO(b'one\\ntwo\\nthree')"],
                ['#.write($bytes)', '#.read()', '#.read($small)', '#.read1($small)', '#.readline()', '#.readlines()', '#.readinto(bytearray($tiny))', '#.seek($small)', '#.seek(-1, 2)', '#.seek($small, 1)', '#.tell()', '#.truncate($small)', '#.truncate()', '#.writelines([$bytes, $bytes])', '#.getvalue()', 'list(#)', 'next(#)', '#.getbuffer()[:2].tolist()', '! #.getbuffer()[0] = $small', '#.close()', '#.closed', '#.write($any)', '#.peek()', '#.isatty()', '#.fileno()', '#.detach()',
                 'io.TextIOWrapper(io.BytesIO($bytes), "utf-8", "replace").read()', 'io.BufferedReader(#).read($tiny)', 'io.BufferedReader(#).peek(2)[:2]', 'io.TextIOWrapper(io.BytesIO($bytes), newline="").readlines()', '#.readline($tiny)', '#.write(array.array("b", [1]))'], '(#.tell(), #.getvalue())'),
    'iterator': (['itertools.count($int, $small)', 'itertools.cycle($ints)', 'itertools.chain($ints, $str)', 'itertools.zip_longest($ints, $str)', 'itertools.groupby($str)', 'itertools.islice($ints, $tiny, None, 2)', 'itertools.accumulate($ints, initial=$int)', 'itertools.product($str, repeat=2)', 'itertools.permutations($ints, $tiny)', 'itertools.combinations($str, $tiny)',
                  'itertools.repeat($any, $tiny)', 'itertools.starmap(max, [$tup, $ints])', 'itertools.pairwise($str)', 'itertools.takewhile(bool, $ints)', 'itertools.dropwhile(bool, $tup)', 'itertools.compress($str, $ints)', 'iter($any)', 'iter([$any].pop, $any)', 'enumerate($str, $int)', 'zip($ints, $str, strict=$bool)', 'map($callable, $ints)', 'filter($callable, $tup)', 'reversed($ints)', 'reversed($dict)', 'itertools.tee($ints)[0]', '(v for v in $any)',
                  'map(lambda x, y: (x, y), $ints, $str)', 're.finditer($rx, $str)', 'itertools.filterfalse(None, $tup)', 'reversed($str)', 'iter($dict.items())', 'struct.iter_unpack("<h", $bytes)', 'itertools.chain.from_iterable([$ints, $str])'],
                 ['next(#)', 'next(#)', 'next(#, "end")', 'list(itertools.islice(#, 2))', 'operator.length_hint(#, 9)', 'iter(#) is #', 'next(copy.copy(#), "end")', 'type(#).__name__', 'list(itertools.islice(#, 1))', '$any in itertools.islice(#, 2)', '#.__next__()', 'len(#)', 'hasattr(#, "__iter__")', '! # = itertools.islice(#, 5)', '! # = itertools.chain("ab", #)', '! # = map(repr, #)', '! # = enumerate(#)', '! # = zip(#, #)', '! a, b = itertools.islice(#, 2)',
                  '! # = itertools.tee(#)[1]', 'repr(#)[:9]', '! # = itertools.pairwise(#)', '! # = pickle.loads(pickle.dumps(#))', 'max(itertools.islice(#, 3))'], None),
    'regex': (['re.compile($rx)', 're.compile($rx, re.I)', 're.compile($pat)', 're.compile($pat, $flags)'],
              ['#.match($str)', '#.search($subject)', '#.fullmatch($subject)', '#.findall($subject)', '#.split($subject)', '#.split($subject, $tiny)', '#.sub($str, $subject)', '#.subn(lambda m: m[0].upper(), $subject, $tiny)', '#.sub($repl, $subject)', '#.pattern', '#.flags', '#.groups', '#.groupindex', '[m.span() for m in #.finditer($subject)]', '#.search($subject, $tiny)', '#.match($subject, $small, $small)', '#.search($subject).groups($any)',
               '#.search($subject).groupdict()', '#.search($subject).group($small)', '#.search($subject).group(0, 1)', '#.search($subject).expand($repl)', '#.search($subject).span($small)', '#.search($subject).lastindex', '#.search($subject).lastgroup', '#.search($subject)[$any]', '#.search($subject).regs', '#.search($subject).re is #', 'repr(#)', '#.match($bytes)', '#.scanner($subject).search()', 'copy.copy(#) is #', '# == re.compile(#.pattern, #.flags)',
               '#.search($subject).string', '#.search($subject).pos', '[m.groups() for m in #.finditer($subject)]', '#.findall($subject, $small)'], None),
    'decimal': (["decimal.Decimal('1.25')", "decimal.Decimal($int)", "decimal.Decimal($float)", "decimal.Decimal('-0.000')", "decimal.Decimal('1e400')", "decimal.Decimal($str)", "decimal.Decimal('123456789.987654321')", "decimal.Decimal('NaN')", "decimal.Decimal('-Infinity')"],
                ['! # = # + decimal.Decimal("0.1")', '! # = # * $int', '! # = # / 3', '! # = # // 7', '! # = # % 3', '! # = # ** 2', '! # = -#', '# + $any', '# < $any', '# == $any', '# == $float', 'hash(#) == hash(float(#))', '#.quantize(decimal.Decimal("0.01"))', '#.quantize(decimal.Decimal("1"), rounding=decimal.ROUND_UP)', '#.normalize()', '#.as_tuple()', '#.adjusted()', '#.to_eng_string()', 'str(#)', 'int(#)', 'float(#)', 'round(#)', 'round(#, $small)',
                 'format(#, $spec)', '#.sqrt()', '#.exp()', '#.ln()', '#.log10()', 'divmod(#, 7)', '#.as_integer_ratio()', '#.is_signed()', '#.to_integral_value()', '#.compare($int)', '#.fma(2, 3)', '#.scaleb($tiny)', '#.same_quantum(decimal.Decimal("0.1"))', 'abs(#)', '#.copy_sign(decimal.Decimal(-1))', 'math.floor(#)', '#.next_plus()', '#.remainder_near(3)', '#.shift($small)', '#.logb()', '#.number_class()', 'max(#, 1)', '#.max(decimal.Decimal(5))', 'complex(#)', '$int - #', '$frac + #',
                 'decimal.localcontext().__enter__() is not None', 'decimal.Context(prec=4).create_decimal(#)', 'decimal.Context(prec=3, rounding=decimal.ROUND_FLOOR).divide(#, 7)', '#.real', 'bool(#)', 'f"{#:>20}|{#:.3f}|{#:e}"'], '#'),
    'date': (['datetime.date(2024, 2, 29)', 'datetime.datetime(2023, 12, 31, 23, 59, 59, 5)', 'datetime.timedelta($small, $int % 10 ** 6)', 'datetime.time(12, $tiny)', 'datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)', 'datetime.timedelta(hours=$float % 1000)', 'datetime.timezone(datetime.timedelta(minutes=90))'],
             ['# + datetime.timedelta($small, 3600)', '# - datetime.timedelta(hours=$small)', '# - datetime.datetime(2020, 1, 1)', '# - datetime.date(2020, 1, 1)', '#.isoformat()', 'str(#)', '#.strftime("%Y-%m-%d %H:%M:%S %j %a %U")', '#.replace(day=1)', '#.replace(hour=$tiny)', '#.replace(year=$int)', '#.weekday()', '#.isocalendar()', '#.timetuple()[:8]', '#.toordinal()', '# < datetime.date(2024, 3, 1)', '# == datetime.datetime(2023, 12, 31)', '#.total_seconds()', '# * $small', '# / 3', '# // 7',
              '# / datetime.timedelta(1)', 'divmod(#, datetime.timedelta(hours=5))', 'abs(#)', '-#', '#.days', '#.date()', '#.time()', '#.utcoffset()', '#.tzname()', '#.tzname(None)', 'hash(#) == hash(copy.copy(#))', 'pickle.loads(pickle.dumps(#)) == #', '#.ctime()', 'bool(#)', 'f"{#:%d.%m.%y}"', '#.isoformat(timespec="minutes")', 'sum([#, #], datetime.timedelta())', '#.fromisoformat($str)', '#.combine(datetime.date(2020, 1, 2), datetime.time(3))', '# + $any', '# > $any', '#.resolution', '#.min', '#.max', '#.fold', '# - #'], '#'),
    'bigint': (['$big', '$big * $big', '3 ** 150', '-(2 ** 200) + $int', '10 ** 40 + $int', '$int ** 5'],
               ['! # += $big', '! # -= $big', '! # *= $big', '! # //= ($int or 3)', '! # %= $big', '! # <<= $tiny * 7', '! # >>= $tiny * 9', '! # ^= $big', '! # |= $big', '! # &= $big', '! # = -#', '! # = ~#', 'divmod(#, $big)', 'divmod($big, # or 1)', 'math.isqrt(abs(#))', 'math.gcd(#, $big)', '#.bit_length()', '#.bit_count()', 'hex(#)', 'oct(#)', 'bin(#)', 'format(#, $spec)', 'float(#)', '# / $big', '# < $big', '# == float(#)', 'hash(#)', 'str(#)[::-1][:20]', '#.to_bytes(40, $endian, signed=True)',
                'int.from_bytes(#.to_bytes(50, "big", signed=True), "big", signed=True) == #', 'round(#, -$tiny)', 'pow(#, 3, $big)', 'pow(#, -1, 97)', 'int(str(#)) == #', 'int(hex(#), 16) == #', '# ** 2 % 10 ** 9', 'f"{#:,}"', '"%d %x" % (#, #)', '#.as_integer_ratio()', 'math.log2(abs(#) or 1)', '# % $int', '$int - #', '# & 255', '# >> 64', '# * $float', 'math.lcm(#, 12)', 'complex(#)', 'range(#)[-1]', 'len(range(0, #, 10 ** 38))', '# and 1', 'float(#) == #'], '# % 10 ** 12'),
    'namespace': (['types.SimpleNamespace(a=$any)', 'types.SimpleNamespace(**$dict)', "argparse_namespace(x=1)", 'types.ModuleType("m", $str)', "collections.namedtuple('N', 'a b', defaults=[$any])(1)", "collections.namedtuple('N', $str)", "types.MappingProxyType($dict)", 'functools.partial(max, $int, key=$callable)', 'functools.partial(print, $any, end="|")', 'weakref_to_class'],
                  ['#.a', '! #.a = $any', '! del #.a', 'getattr(#, $str, "none")', 'hasattr(#, $str)', 'setattr(#, $str, 1)', '# == #', 'repr(#)', 'vars(#).get("a")', '#._asdict()', '#._replace(a=5)', '#._fields', '#[0]', '#["a"]', '#(3)', '#($int, $int)', '#.args', '#.func', '#.keywords', 'list(#)', 'len(#)', '#.a.b', 'type(#).__name__', 'doc_of(#)', '#.__name__', 'copy.copy(#)', '# | {}', '#.items()', '#._make([1, 2])', '#._field_defaults', 'a in #', 'hash(#) is None', '#.nothing', '#.b', 'bool(#)', '#.index(1)', '#.__class__.__name__', 'str(inspect.signature(#))'], None),
    'signature': (['inspect.signature(lambda a, /, b, *c, d=1, **e: 0)', 'inspect.signature(show)', 'inspect.signature(Recorder)', 'inspect.signature(Recorder.__enter__)', 'inspect.signature(functools.partial(attempt, 1))', 'inspect.signature(lambda: 0)', 'inspect.signature(functools.partial(lambda a, b, c=3: 0, b=2))'],
                  ['str(#)', 'list(#.parameters)', '#.bind(1, 2, 3, d=4, f=5)', '#.bind(1)', '#.bind()', '#.bind_partial(b=1)', '#.bind(1, b=2).arguments', '#.parameters["a"].kind', '#.parameters["b"].default', '#.replace(return_annotation=int)', '#.return_annotation', '# == #', '[str(p) for p in #.parameters.values()]', '[p.kind.name for p in #.parameters.values()]', 'hash(#) == hash(#)', '#.bind(1, 2).kwargs', '#.replace(parameters=list(#.parameters.values())[::-1])', '#.bind(*$tup, **$dict).args'], None),
}
WALKS.update(MORE_WALKS)
WALK_LITERALS = {
    'callable': ['len', 'str', 'None', 'bool', '(lambda x: x)', 'operator.neg', 'abs', 'repr', '(lambda x: 1 / x)', '(lambda: 0)', 'chr'],
    'typecode': ["'b'", "'B'", "'h'", "'H'", "'i'", "'I'", "'l'", "'L'", "'q'", "'Q'", "'f'", "'d'", "'u'", "'x'", "'ii'"],
    'fmtc': ["'b'", "'B'", "'h'", "'i'", "'q'", "'d'", "'f'", "'c'", "'?'", "'<h'", "'P'", "'z'"],
    'flags': ['re.I', 're.M', 're.S', 're.X', 're.A', 're.I | re.S', 're.U', 're.I | re.M | re.X', '0', 're.L', 're.A | re.U'],
    'subject': ["'abc abd ABC'", "'aaa bbb'", "'x1y22z333'", "'one two\\nthree four'", "'foo=1, bar=22'", "'2024-02-29T10:11'", "'aXbXc'", "'ÀÉß ñ'", "''", "'((a)b)'", "'\\t \\n'", "'aabbaabb'", "'http://x.org/a?b=c'", "'ſK'", "'a.b.c'"],
    'pat': ["r'(a)|(b)'", "r'(?P<y>\\d{4})-(?P<m>\\d\\d)'", "r'(\\w+)=(\\d+)'", "r'^\\w+$'", "r'(?m)^\\w+'", "r'(?s).+'", "r'a{2,3}?'", "r'(?:ab)+'", "r'(?<!a)b'", "r'(?<=\\s)\\w'", "r'(?!x)\\w+'", "r'\\b[A-Z]+\\b'", "r'[^\\W\\d]'", "r'(a)(?(1)b|c)'", "r'(?P<q>.)(?P=q)'", "r'(?x) a # comment\\n b'", "r'[\\s\\S]*?c'", "r'\\Aabc\\Z'", "r'(a*)*'", "r'(a+)+$'", "r'(?i:a)b'",
            "r'a++b'", "r'(?>a+)b'", "r'[]a]'", "r'[a-'", "r'(?P<n'", "r'\\d+(?:\\.\\d+)?'", "r'(.)(.)(.)?'", "r'x{,2}'", "r'[\\u00c0-\\u00ff]+'", "r'\\w+?(?=\\s|$)'", "r'(?<n>a)'", "r'a**'", "r'(?z)'", "r'\\8'", "r'(?<=a+)b'", "r'[z-a]'", "r'(?-i:a)'", "r'\\N{LATIN SMALL LETTER A}'", "r'(?#comment)a'", "r'(a|ab)(c|bcd)(d*)'", "r'((a)|b)*'"],
    'repl': ["r'<\\g<0>>'", "r'\\1'", "r'\\2\\1'", "r'\\g<y>'", "''", "'-'", "r'\\n'", "r'\\g<1>x'", "r'\\x'", "r'\\g<'", "r'\\0'", "r'\\9'", "'$1'", "r'\\\\'"],
}

WALK_PRELUDE = '''
def doc_of(value):
    """The docstring, unless it is long: those of the library's classes have words of their own here, or none (docs/differences.md)."""
    doc = value.__doc__
    return doc if doc and len(doc) < 30 else 'long or none'


def argparse_namespace(**names):
    import argparse
    return argparse.Namespace(**names)


def with_block(view):
    with view as v:
        got = v.nbytes
    return got, repr(view).partition(' at ')[0]


weakref_to_class = weakref.ref(Recorder)


def plain(value):
    """What can be compared: iterators by their first items, sets in order."""
    if isinstance(value, (set, frozenset)):
        return type(value).__name__, sorted(map(repr, value))
    if hasattr(type(value), '__next__'):
        return type(value).__name__, [plain(v) for v in itertools.islice(value, 6)]
    return value


asked = [0]


def ends(error):
    """Ends iterations that a special method would never end."""
    asked[0] += 1
    if asked[0] > 30:
        raise error


def outcome(f):
    asked[0] = 0
    try:
        print(re.sub(' at 0x[0-9a-f]+', ' at 0x', repr(plain(f())))[:400])  # the cut shall not depend on the length of an address
    except BaseException as e:
        tell(e)

'''


class Walks:
    """What these methods use of Program: random, expr, expressions, fresh."""

    def walk(self, depth):
        kind = self.random.choice(list(WALKS))
        makers, operations, state = WALKS[kind]
        name = self.fresh('w')

        def filled(template):
            return self.expressions.fill(template.replace('#', name), 1)
        lines = ['try:', f'    {name} = {filled(self.random.choice(makers))}']
        for _ in range(self.random.randint(2, 7)):
            operation = self.random.choice(operations)
            if operation.startswith('! '):
                lines += ['    try:', f'        {filled(operation[2:])}', '    except Exception as e: print(type(e).__name__ + ":", e)']
            else:
                lines += [f'    outcome(lambda: {filled(operation)})']
            if state and self.random.random() < 0.5:
                lines += [f'    outcome(lambda: {state.replace("#", name)})']
        return lines + ['except Exception as e: print(type(e).__name__ + ":", e)']
