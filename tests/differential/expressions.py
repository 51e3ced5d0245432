"""Random expressions from tables of templates.

A template belongs to the type of its value and has holes, `$type`, that are filled with expressions of that type;
`$type@x` may also use the variable x that the template binds. Now and then a hole gets a value of a wrong type:
the message of the exception is compared too. Sets are shown sorted.
"""
import re

HOLE = re.compile(r'\$([a-zA-Z]+)(?:@(\w(?:,\w)*))?')

# The types of variables that templates bind.
BOUND = {'x': 'int', 'y': 'int', 'w': 'str', 'k': 'str', 'v': 'int'}

LITERALS = {
    'int': ['0', '1', '2', '3', '7', '10', '-1', '-4', '42', '100', '255', '0x1f', '0b101', '1_000', '9223372036854775807',
            '-9223372036854775808', '18446744073709551616', '-123456789012345678901234567890'],
    'float': ['0.0', '1.0', '-1.5', '2.5', '0.1', '3.14159', '1e3', '1e-7', '1e16', '-0.0', '123456.789', '0.5', '2.675'],
    'str': ["''", "'a'", "'abc'", "'Hello World'", "'  x y '", "'é'", "'naïve ß'", "'日本'", "'a,b,,c'", "'12'", "'-3.5'",
            '"it\'s"', "'tab\\tnew\\n'", "'ABC abc'", "r'a\\b'", "'x' 'y'", "'%'", "'{}'", "'😀!'"],
    'bool': ['True', 'False'],
    'none': ['None'],
    'ints': ['[]', '[1, 2, 3]', '[5]', '[3, 1, 2, 1]', '[0, -1, 10, 4]', 'list(range(5))'],
    'strs': ['[]', "['a', 'b']", "['pear', 'fig', 'apple']", "['x', '', 'X']"],
    'tup': ['()', '(1,)', "(1, 'a')", '(1, 2.5, None)', '((1, 2), 3)'],
    'dict': ['{}', "{'a': 1}", "{'b': 2, 'a': 1}", "{'x': 0, 'y': -1, 'z': 5}"],
    'set': ['set()', '{1, 2}', '{3, 1, 5}', 'set([1, 1, 2])', 'frozenset([2, 9])'],
    'small': ['0', '1', '2', '3', '4', '-1', '-2', '5'],
    'tiny': ['0', '1', '2', '3', '4'],
    'spec': ["''", "'d'", "'5'", "'>8'", "'^7'", "'08.3f'", "'.2f'", "'e'", "'g'", "'x'", "'#b'", "','", "'+'", "'*<6'", "'.1%'", "'s'", "'_'", "'c'"],
    'slice': [':', '1:', ':2', '::2', '::-1', '-2:', ':-1', '1:4', '3:1', '-3:-1', '5:0:-2', '10:', ':100', '1::3'],
}

TEMPLATES = {
    'int': [
        '$int + $int', '$int - $int', '$int * $int', '($int + $int)', '($int - $int)', '($int * $small)',
        '$int // $int', '$int % $int', '($int // $small)', '($int % $small)', '-$int', '~$int', '+$int',
        '($int & $int)', '($int | $int)', '($int ^ $int)', '($small << $tiny)', '($int >> $tiny)',
        '($small ** 2)', '(2 ** $tiny)', '(1 << $tiny * 20)', '($int * 2 ** 64)', '($int >> 60)', '($int // 10 ** 18)', '(3 ** 50 % ($int or 1))',
        "int.from_bytes(str($int).encode(), 'big')", '($int).bit_count()', 'int(hex($int), 16)', 'len($str)', 'len($ints)', 'len($dict)', 'len($set)', 'len($tup)',
        'abs($int)', 'int($float % 1000)', 'int($str)', 'int($bool)', 'sum($ints)', 'max($ints)', 'min($ints, default=$int)',
        'max($int, $int)', '$ints[$small]', '$dict[$str]', '$dict.get($str, $int)', '($int if $bool else $int)',
        '($int or $int)', '($int and $int)', 'sum(x * $small@x for x in $ints)', 'divmod($int, $small)[1]',
        '$str.find($str)', '$str.count($str)', '$ints.index($int)', '$ints.count($int)', 'ord($str[0])', 'round($float)',
        '(lambda x: $int@x)($int)', '(lambda x, y=$int: $int@x,y)($int)', 'int($str, 16)', '($int).bit_length()', 'round($int, -1)',
        '[x for x in $ints if $bool@x][$small]', 'sum([len(w) for w in $strs])', 'len([w for w in $strs if $bool@w])',
        'pow($small, $tiny, 7)', 'len(range($small, $int % 20, $small))', 'sum(v for k, v in $dict.items() if $bool@k,v)',
        'next(iter($ints))', 'next(iter($ints), $int)', 'hash(int($int % 100))', 'len(set($ints))', '$str.index($str)', '(y := $int) + y',
        'functools.reduce(lambda x, y: $int@x,y, $ints, $int)', 'sum(map(len, $strs))', 'math.gcd($int, $int)', 'math.floor($float)',
        '$tup.index($int)', 'min($strs, key=len).count($str)', 'len($str.split($str))', 'True + $int',
    ],
    'float': [
        '$float + $float', '$float - $float', '$float * $float', '($float / $float)', '($int / $int)', '($float // $float)',
        '($float % $float)', '($float + $int)', '($int * $float)', '-$float', 'abs($float)', 'float($int)', 'float($str)',
        'round($float, $tiny)', '($small ** -2)', '($float ** 2)', 'sum([$float, $int])', 'max($float, $int)', '($float if $bool else $float)',
        "float('inf')", "float('-inf')", "float('nan')", 'math.sqrt(abs($float))', 'divmod($float, $float)[0]', '($int % $float)',
        'min($float, $float)', 'math.fmod($float, $float)', 'sum(x / 2 for x in $ints)', 'abs($float) ** 0.5', 'math.fsum([$float, $float])',
    ],
    'str': [
        '$str + $str', '($str * $small)', '$str[$small]', '$str[$slice]', '$str.upper()', '$str.lower()', '$str.strip()',
        '$str.title()', '$str.replace($str, $str)', '$str.join($strs)', "', '.join(map(str, $ints))", 'str($int)', 'str($float)',
        'repr($any)', 'repr($str)', 'str($any)', "f'{$int}'", "f'<{$str}>'", "f'{$any!r}'", "f'{$int:5d}|{$float:.3f}'",
        "f'{$str:>{$tiny}}'", "f'{$str:*^9}'", 'format($int, $spec)', 'format($float, $spec)', 'format($str, $spec)',
        "'%d' % $int", "'%5.2f|%s' % ($float, $any)", "'%s and %r' % ($any, $any)", "'{} {}'.format($any, $any)",
        "'{0}{1}{0}'.format($str, $int)", "'{a:>5}'.format(a=$str)", '$str.center($int % 12, $str)', '$str.ljust($int % 9)',
        '$str.zfill($int % 9)', '($str if $bool else $str)', '($str or $str)', '$strs[$small]', 'chr(97 + $int % 26)',
        '$str.split($str)[$small]', "''.join(reversed($str))", "''.join(sorted($str))", 'max($strs, key=len)', 'min($strs)',
        '$str.capitalize()', '$str.swapcase()', '$str.lstrip($str)', '$str.rstrip()', '$str.partition($str)[$small]', 'hex($int)',
        "''.join(w * $tiny for w in $strs)", 'bin($int)', 'oct($int)', '$str.removeprefix($str)', '$str.rsplit($str, 1)[0]', '$str.expandtabs(4)',
        'type($any).__name__', "f'{$int=}'", "f'{$float:{$tiny}.{$tiny}}'", "'%-6s|' % $str", "'%x %o %e' % ($int, $int, $float)",
        "'%(a)s-%(b)05d' % dict(a=$any, b=$int)", '$str.translate(str.maketrans($str, $str))', 'ascii($str)', '$str.casefold()',
        "'{!r:>8}'.format($str)", "'{:{}}'.format($int, $tiny)", "'{0[1]}'.format($ints)", "f'{$bool} {$none}'", '$dict.get($str)',
    ],
    'bool': [
        '$int < $int', '$int == $int', '$float >= $float', '$str < $str', '($int != $float)', '(not $any)', '($bool and $bool)',
        '($bool or $bool)', '($int in $ints)', '($str in $str)', '($str not in $strs)', '($str in $dict)', '($any is None)',
        '($any is not None)', 'bool($any)', 'all(x > $int for x in $ints)', 'any($bool@x for x in $ints)', '($int < $int <= $int)',
        'isinstance($any, int)', 'isinstance($any, (str, list))', '($ints == $ints)', '($tup < $tup)', '($any == $any)', '$str.isdigit()',
        '$str.startswith($str)', '$str.endswith(($str, $str))', '($set <= $set)', '($int in $set)', '($int == $int == $int)', '$str.isalpha()',
        '$str.isupper()', '$str.isspace()', '(0 < $float < $int)', '($ints < $ints)', '$str.isalnum()', '($dict == $dict)', '$str.isidentifier()',
        '($tup != $any)', '$set.isdisjoint($ints)', '($bool ^ $bool)', 'callable($any)', '(($int, $str) < ($int, $str))', '($int in range(min($int, 10 ** 4)))',
    ],
    'none': ['print(end=$str)', '$ints.sort()', '$ints.reverse()', '$dict.get(None)', '$ints.append($int)', '(None if $bool else None)'],
    'ints': [
        '$ints + $ints', '($ints * $tiny)', '$ints[$slice]', 'sorted($ints)', 'sorted($ints, reverse=True)', 'list(range($small, $int % 15))',
        '[$int, $int]', '[$int, *$ints, $int]', '[$int@x for x in $ints]', '[x for x in $ints if $bool@x]', '[x + y for x in $ints for y in $ints]',
        'list(map(lambda x: $int@x, $ints))', 'list(filter(lambda x: $bool@x, $ints))', 'list(reversed($ints))', '[ord(w) for w in $str]',
        'list($dict.values())', '($ints if $bool else $ints)', 'sorted($set)', 'sorted($ints, key=lambda x: $int@x)', 'list(set($ints))[:0]',
        '[len(w) for w in $strs]', 'list($ints)', '$ints.copy()', '[x if $bool@x else $int@x for x in $ints]', '[*range($tiny), *$ints]',
        'sorted($set | $set)', 'sorted($set & $set)', 'sorted($set - $set)', 'sorted($set ^ $set)', '[y for x in $ints if (y := $int@x) > 0]',
        'list(itertools.accumulate($ints))', 'list(itertools.chain($ints, $ints))', 'list(itertools.islice($ints, $tiny))', 'list(($ints))[::-1]',
        'list(itertools.takewhile(lambda x: $bool@x, $ints))', '[a * b for a, b in zip($ints, $ints)]', '[i + v for i, v in enumerate($ints, $small)]',
    ],
    'strs': [
        '$str.split()', '$str.split($str)', '[$str, $str]', 'sorted($strs)', 'list($str)', '[$str@w for w in $strs]', '[w.upper() for w in $strs]',
        '$strs + $strs', '$strs[$slice]', 'list($dict)', 'sorted($dict)', '[str(x) for x in $ints]', '$str.splitlines()', '$str.rsplit(None, $tiny)',
        'sorted($strs, key=lambda w: (len(w), w))', 'list(map(str, $ints))', "[f'{x}:{$any@x}' for x in $ints]", 'list($str.partition($str))',
        '[k for k in $dict]', '[k * 2 for k, v in $dict.items() if $bool@k,v]', 'sorted(set($str))', '[*$str]', 'sorted($strs, key=str.lower, reverse=True)',
    ],
    'tup': [
        '($any, $any)', '($any,)', '$tup + $tup', '($tup * $tiny)', 'tuple($ints)', 'tuple($str)', '$tup[$slice]', 'divmod($int, $int)',
        'tuple(zip($ints, $strs))', 'tuple(enumerate($strs))', '(*$ints, *$str)', 'tuple($dict.items())', 'tuple(x for x in $ints if $bool@x)',
        'tuple(sorted($dict.items()))', '$str.partition($str)', '($int, $tup)', 'tuple(itertools.product($ints[:2], repeat=2))', 'math.modf($float)',
        'tuple(zip(*[$ints, $ints]))', 'tuple(itertools.combinations($ints[:4], 2))', 'tuple(map(max, $ints, $ints))', 'type($tup)($ints)',
    ],
    'dict': [
        '{$str: $int}', '{$str: $int, $str: $int}', '{w: len(w) for w in $strs}', '{w: $int@w for w in $str}', 'dict($dict)',
        '{**$dict, $str: $int}', 'dict(a=$int, b=$int)', 'dict(zip($strs, $ints))', '($dict | $dict)', '{k: v for k, v in $dict.items() if $bool@k,v}',
        '{str(x): x for x in $ints}', 'dict.fromkeys($strs, $int)', '($dict if $bool else $dict)', 'dict(sorted($dict.items()))', '$dict.copy()',
        'dict(collections.Counter($str))', 'dict($dict, c=$int)', 'dict([($str, $int)])',
    ],
    'set': ['set($ints)', '($set | $set)', '($set & $set)', '($set - $set)', '{$int, $int}', '{$int@x for x in $ints}', 'frozenset($ints)',
            '$set.union($ints)', '($set ^ $set)', '$set.difference($ints)', 'set(range($tiny))'],
}

LITERALS['rx'] = ["r'\w+'", "r'[a-c]'", "r'(\w)(\d)?'", "r'\s*,\s*'", "r'^.'", "r'(?i)hello'", "r'(?P<k>[a-z]+)'", "r'a|b'", "r'(.)\1'", "r'[^a-z]+$'",
                  "r'\b\w'", "r'x*'", "r'(unclosed'", "r'\d{1,2}'", "r'.*?b'", "r'(?<=a)b'", "r'a(?!b)'", "r'[\w.]+,'", "r''", "r'(a)(b)?|c'", "r'\.'", "r'*'"]

# The standard modules; added to the templates of the same type.
LIBRARY = {
    'int': ['math.comb($tiny, $tiny)', 'math.factorial($tiny)', 'math.prod($ints)', 'math.ceil($float)', 'math.trunc($float)', 'math.isqrt($int)', 'math.lcm($small, $small)',
            'random.Random($small).randint(1, 100)', 'random.Random($small).choice($ints)', 'random.Random($small).randrange($int)', 'bisect.bisect(sorted($ints), $int)',
            'functools.partial(max, $int)($int)', 'operator.itemgetter($small)($ints)', 'operator.add($int, $int)', 'collections.Counter($str)[$str]', 'collections.Counter($str).total()',
            "json.loads(json.dumps($int))", 'sum(collections.Counter($ints).values())', 'collections.defaultdict(int, $dict)[$str]', 'len(collections.OrderedDict($dict))'],
    'float': ['math.sin($float)', 'math.exp($small)', 'math.log($float)', 'math.log($float, 2)', 'math.hypot($float, $float)', 'math.copysign($float, $float)', 'math.degrees($float)',
              'math.atan2($float, $float)', 'math.pow($float, $small)', 'math.floor($float) + 0.5', 'random.Random($small).random()', 'random.Random($small).uniform(1, 5)', 'random.Random($small).gauss(0, 1)',
              'statistics.mean($ints)', 'statistics.median($ints)', 'math.dist([$float, 1], [2, $float])', 'math.fabs($float)', 'math.cbrt($float)', 'math.log10($int)', 'math.tan($float)', 'math.ldexp($float, $small)'],
    'str': ['json.dumps($any)', 'json.dumps($dict, indent=$tiny)', 'json.dumps($dict, sort_keys=True)', 'json.dumps([$any, $any], separators=(",", ":"))', 're.sub($rx, $str, $str)',
            're.sub($rx, lambda m: m.group().upper(), $str)', 're.escape($str)', 'string.capwords($str)', 'textwrap.fill($str, 6)', 'textwrap.shorten($str, $int)', 'textwrap.indent($str, $str)',
            'random.Random($small).choice($strs)', 'string.Template($str).safe_substitute(a=1)', 'string.ascii_letters[$small]', 'repr(collections.Counter($str))', 'repr(collections.deque($ints, 2))',
            'repr(collections.OrderedDict($dict))', 'repr(collections.defaultdict(int, $dict))', "'{:>{w}}'.format($str, w=$tiny)", 'json.dumps($str, ensure_ascii=False)', 'textwrap.dedent($str)'],
    'bool': ['re.match($rx, $str) is None', 're.fullmatch($rx, $str) is not None', 'math.isclose($float, $float)', 'math.isnan($float)', 'math.isinf($float)', 'operator.contains($ints, $int)', 'operator.not_($any)',
             'copy.deepcopy($any) == $any', 'collections.Counter($str) == collections.Counter($str)', 'isinstance($any, collections.abc.Sequence)', 'isinstance($any, collections.abc.Hashable)'],
    'ints': ['random.Random($small).sample(range(20), $tiny)', 'heapq.nsmallest($tiny, $ints)', 'heapq.nlargest($tiny, $ints)', 'list(collections.deque($ints, maxlen=3))', 'random.Random($small).choices($ints, k=2)',
             'list(map(operator.neg, $ints))', 'list(itertools.accumulate($ints, max))', 'list(itertools.compress($ints, $ints))', 'list(itertools.dropwhile(lambda x: $bool@x, $ints))', 'list(itertools.repeat($int, $tiny))',
             'list(itertools.filterfalse(lambda x: $bool@x, $ints))', 'list(itertools.starmap(pow, [($small, 2), ($tiny, $tiny)]))', 'copy.copy($ints)', 'json.loads(json.dumps($ints))', 'list(itertools.chain.from_iterable([$ints, $ints]))',
             'list(itertools.islice(itertools.count($int, $small), $tiny))', 'list(itertools.islice(itertools.cycle($ints), 5))', 'sorted($ints, key=functools.cmp_to_key(lambda x, y: $small - $int@x,y))'],
    'strs': ['re.split($rx, $str)', 're.findall($rx, $str)', '[m.group() for m in re.finditer($rx, $str)]', 'textwrap.wrap($str, 5)', 'list(collections.ChainMap($dict, $dict))', 'sorted(collections.Counter($strs))',
             'list(map(operator.methodcaller("upper"), $strs))', 'list(collections.Counter($str).elements())'],
    'tup': ['collections.Counter($str).most_common($tiny)', 'tuple((k, len(list(g))) for k, g in itertools.groupby($ints))', 'tuple(itertools.zip_longest($ints, $strs, fillvalue=$int))', "collections.namedtuple('P', 'x y')($int, $any)",
            'tuple(itertools.permutations($ints[:3]))', 'tuple(itertools.pairwise($ints))', "getattr(re.search($rx, $str), 'span', lambda: ())()", "getattr(re.match($rx, $str), 'groups', lambda: ())()", 're.subn($rx, $str, $str)',
            'math.frexp($float)', 'tuple(itertools.combinations_with_replacement($str[:3], 2))', 'operator.itemgetter(0, $small)($ints)', "collections.namedtuple('P', 'x y')(1, y=$int)._replace(x=$any)"],
    'dict': ['dict(collections.ChainMap($dict, $dict))', "collections.namedtuple('P', 'x y')($int, $int)._asdict()", 'json.loads(json.dumps($dict))', "getattr(re.search(r'(?P<k>\\w)(?P<v>\\d)?', $str), 'groupdict', dict)()", 'copy.deepcopy($dict)',
             'dict(collections.Counter($str) - collections.Counter($str))', 'dict(collections.Counter($str) + collections.Counter($str))'],
}
for _kind, _templates in LIBRARY.items():
    TEMPLATES[_kind] += _templates

# Bytes, complex numbers, fractions, numbers beyond 64 bits, formats.
LITERALS['bytes'] = ["b''", "b'a'", "b'abc'", "b'a,b,,c'", "b'\\x00\\xff'", "b' Hello\\n'", "b'12'", "bytearray(b'xyz')", "'é日'.encode()", "bytes(range(5))"]
LITERALS['cplx'] = ['1j', '(1+2j)', '(-0.5-1j)', '0j', '(3+0j)', "complex('inf')", 'complex(-0.0, -0.0)', '1e300j']
LITERALS['frac'] = ['fractions.Fraction(1, 3)', 'fractions.Fraction(-7, 2)', "fractions.Fraction('0.125')", 'fractions.Fraction(2 ** 70, 3)', 'fractions.Fraction(0)']
LITERALS['big'] = ['2 ** 64', '-2 ** 63', '2 ** 63 - 1', '10 ** 30', '-10 ** 19', '2 ** 100 + 1', '3 ** 200', '(1 << 63)', '7 ** 77', '-(2 ** 127)']
LITERALS['codec'] = ["'utf-8'", "'ascii'", "'latin-1'", "'utf-16'", "'utf-16-le'", "'cp1252'", "'utf-32-be'", "'unicode_escape'", "'utf-7'", "'idna'", "'nothing'"]
LITERALS['handler'] = ["'strict'", "'ignore'", "'replace'", "'backslashreplace'", "'xmlcharrefreplace'", "'surrogateescape'", "'namereplace'", "'nothing'"]
LITERALS['spec'] += ["'=+10'", "'#010x'", "'_b'", "'_x'", "'#o'", "'-^12,'", "'z.1f'", "'.0%'", "'+.3e'", "'<5d'", "'0=6'", "'\\u00e9>7'", "'#.3g'", "'012,.2f'", "'X'", "'n'", "'.3'", "' d'", "'#X'", "'10.3s'", "'.2c'", "'_.2f'", "',_'", "'G'", "'%'"]

MORE = {
    'bytes': ['$bytes + $bytes', '($bytes * $tiny)', '$bytes[$slice]', '$str.encode($codec, $handler)', '$str.encode()', 'bytes($ints)', 'bytes($small)', 'bytearray($bytes)', '$bytes.upper()', '$bytes.strip($bytes)', '$bytes.replace($bytes, $bytes)', '$bytes.join([$bytes, $bytes])',
              '$bytes.center($tiny, $bytes)', '$bytes.zfill($tiny)', 'bytes.fromhex($str)', '$bytes.translate(None, $bytes)', '$bytes.title()', '$bytes.ljust($small)', '$bytes.removeprefix($bytes)', '$bytes.expandtabs($small)', '$bytes.swapcase()', '($int).to_bytes(16, $endian, signed=$bool)',
              "b'%d|%s' % ($int, $bytes)", "b'%a %5.2f' % ($any, $float)", 'struct.pack($fmt, $int, $int)', 'bytes(memoryview($bytes)[$slice])', 'memoryview($bytes).tobytes()', "array.array('i', [$small, $tiny]).tobytes()", 'pickle.loads(pickle.dumps($bytes))', '$bytes.rstrip()', 'bytes(reversed($bytes))',
              'bytes.maketrans($bytes, $bytes)[:5]', 'bytes($str, $codec)', '($bytes or $bytes)', 'bytes($any)', 'bytearray($small)'],
    'cplx': ['$cplx + $cplx', '$cplx - $cplx', '$cplx * $cplx', '($cplx / $cplx)', '($cplx ** $tiny)', '$cplx.conjugate()', 'complex($float, $float)', 'complex($str)', '-$cplx', '($cplx * $float)', '($int + $cplx)', 'complex($int)', 'sum([$cplx, $cplx])', '($cplx if $bool else $cplx)', 'complex($cplx, $cplx)'],
    'frac': ['$frac + $frac', '$frac - $frac', '$frac * $frac', '($frac / $frac)', '($frac ** $small)', '($frac % $frac)', '($frac // $frac)', '-$frac', 'abs($frac)', 'fractions.Fraction($int, $small)', 'fractions.Fraction($float)', 'fractions.Fraction($str)', '$frac.limit_denominator(10)', 'round($frac, 1)', '($int * $frac)'],
    'int': ['$big + $int', '($big - $big)', '($big * $int)', '$big // ($int or 1)', '$big % ($int or 1)', 'divmod($big, $int)[0]', 'pow($int, $tiny, $big)', 'pow($big, -1, 1009)', '($big >> $tiny * 16)', '($big & $int)', '($big | $big)', '($big ^ $int)', '~$big', '-$big', 'abs($big)', 'int(str($big))', 'int.from_bytes($bytes, $endian, signed=$bool)',
            '($big).bit_length()', '($big).bit_count()', 'math.isqrt(abs($big))', 'math.gcd($big, $int)', 'math.lcm($big, $small)', 'round($big, -$tiny)', 'int($float)', 'hash(int($big))', 'len(range($int, $big, $big))', 'range($big)[$small]', 'range($int, $big).index(int($int))', 'int(hex($big), 16)', "int(f'{$int:b}', 2)", 'math.comb(60, $tiny)',
            'math.factorial($tiny * 9)', 'int($frac)', 'math.floor($frac)', 'round($frac)', '$frac.numerator', '$bytes[$small]', '$bytes.find($bytes)', '$bytes.count($bytes)', 'len($bytes)', '$bytes.index($bytes)', 'sum($bytes)', 'max($bytes)', '$big', 'eval(repr($int))', 'math.trunc($float)', 'hash(int($float % 1000))', 'struct.unpack($fmt, $bytes)[0]',
            'operator.index($int)', 'math.perm($tiny + 20, $tiny)', 'int(str($big), 36)', "array.array('q', [$int])[0]", '$cplx.__hash__() % 1', 'random.Random($small).getrandbits($tiny * 30)', 'random.Random($small).randrange(abs($big))'],
    'float': ['float($big)', '($big / $int)', '($int / $big)', 'abs($cplx)', '$cplx.real', '$cplx.imag', 'float($frac)', '($big * $float)', 'math.log($big)', 'math.log2(abs($big))', 'math.sqrt(abs($big))', '($float % $big)', 'round($float, -$tiny)', 'math.nextafter($float, $float)', 'math.ulp($float)', 'math.remainder($float, $float)', 'float.fromhex($float.hex())',
              'statistics.fmean($ints)', 'sum([$float, $frac])', '($float // $small)', 'math.fsum($ints)', 'math.expm1($float)', 'math.gamma($float)', 'math.erf($float)', 'struct.unpack("<d", struct.pack("<d", $float))[0]'],
    'str': ['$bytes.decode($codec, $handler)', '$bytes.hex()', "$bytes.hex('-', $small)", 'str($bytes)', 'repr($cplx)', 'str($frac)', 'format($big, $spec)', 'format($bool, $spec)', 'format($cplx, $spec)', "'{:{}}'.format($any, $spec)", "f'{$int:#x}{$float:+.3e}'", 'hex($big)', 'oct($big)', "'%x|%o|%+d' % ($big, $big, $big)", "'%#X % d %-8d|' % ($int, $int, $int)",
            "'%.3s|%8s|%c' % ($str, $str, $tiny)", '$float.hex()', 'str($big)', "'%s' % $tup", "'%*d' % ($tiny, $int)", "'{0!s:>{1}}'.format($any, $tiny)", "'{a[0]}{a[1]!r}'.format(a=$tup)", "'{.real}'.format($int)", "'%(x)s' % $dict", 'str($any).encode("ascii", "backslashreplace").decode()', 'str($set & set())', "'%i %u' % ($float, $big)", '$str.format($int, $str)',
            '$str.format_map($dict)', '$str % $any', 'repr(array.array("b", [$small]))', 'str(range($big))', 'repr(slice($int, $any))', '$str.splitlines(True)[$small]', '$str.translate({97: $str, 98: None})', "$str.join(map(repr, $tup))"],
    'bool': ['($big < $float)', '($big == $int)', '(int($int) in range($big))', '($big > $big)', '($cplx == $int)', '($frac < $float)', '($frac == $int)', '($bytes == $bytes)', '($bytes < $bytes)', '($bytes in $bytes)', '($int in $bytes)', '$bytes.startswith($bytes)', '$bytes.isalpha()', '$bytes.isascii()', '(hash($frac) == hash($float))', '(hash($int) == hash($cplx))',
             '(range($big) == range($int))', 'bool($bytes)', 'bool($frac)', '($cplx < $cplx)', '($float == $frac)', '($big != $big)', '$str.isprintable()', '$str.istitle()', '$str.isdecimal()', '$str.isascii()', '($float).is_integer()', 'pickle.loads(pickle.dumps($any)) == $any', '(eval(repr($tup)) == $tup)', 'callable(eval)'],
    'ints': ['list($bytes)', 'list(range($big, $big, $big)[:3])', 'list(range($big)[$slice][:3])', 'list(struct.unpack($fmt, $bytes))', 'list(memoryview($bytes))', '[*$bytes]', 'list(itertools.islice(range($int, $big), 3))', 'list(reversed(range($big)[:$tiny]))', "array.array('h', $ints).tolist()", 'list(map(int, str($big)))', 'list(range($big)[-$tiny:])'],
    'strs': ['$bytes.decode("latin-1").split()', '[format(x, $spec) for x in $ints]', 'list(map(hex, $ints))', 'sorted(map(repr, $tup))', '[str(b) for b in $bytes.split($bytes)]', 'list(map(chr, $bytes))', "list(filter(str.isalpha, $str))"],
    'tup': ['divmod($big, $int)', 'divmod($float, $float)', 'divmod($frac, $frac)', '$frac.as_integer_ratio()', '$float.as_integer_ratio()', '$bytes.partition($bytes)', 'struct.unpack($fmt, $bytes)', 'math.modf($float)', 'tuple($bytes)', '($cplx, $frac)', '($big, $bytes)', 'slice($small, $int, $small).indices($tiny)', 'pickle.loads(pickle.dumps($tup))', 'eval(repr($tup))',
            'tuple(itertools.starmap(divmod, zip($ints, $ints)))', 'statistics.multimode($ints), $int', '(*$tup, *$bytes)', 'copy.deepcopy($tup)'],
    'dict': ['dict(enumerate($bytes))', '{str(x): x for x in $bytes}', 'dict(collections.Counter($bytes))', 'eval(repr($dict))', 'vars(types.SimpleNamespace(**$dict))', 'pickle.loads(pickle.dumps($dict))'],
    'set': ['set($bytes)', '{$big, $int}', 'eval(repr($set))', 'pickle.loads(pickle.dumps($set))', '{*$ints, *$set}', 'frozenset($set) | $set'],
}
LITERALS['endian'] = ["'big'", "'little'"]
LITERALS['fmt'] = ["'<hh'", "'>iI'", "'qQ'", "'=2b'", "'<Bh'", "'!2q'", "'b x b'", "'<n'"]
for _kind, _templates in MORE.items():
    TEMPLATES[_kind] = TEMPLATES.get(_kind, []) + _templates

SHOWN = ['int', 'float', 'str', 'bool', 'ints', 'strs', 'tup', 'dict', 'bytes', 'cplx', 'frac', 'none']


class Expressions:
    """Draws expressions; `scope` maps a type to the names of the variables that hold such a value."""

    def __init__(self, random, templates=TEMPLATES, literals=LITERALS, shown=SHOWN, wrong=0.02):
        self.random = random
        self.templates, self.literals, self.shown = templates, literals, shown
        self.wrong = wrong      # how often a hole gets another type
        self.scope = {}

    def names(self, kind):
        return self.scope.get(kind, [])

    def atom(self, kind):
        names = self.names({'small': 'tiny'}.get(kind, kind))
        if names and self.random.random() < 0.65:
            return self.random.choice(names)
        return self.random.choice(self.literals[kind])

    def any_kind(self):
        return self.random.choice(self.shown)

    def expression(self, kind, depth):
        if kind == 'any':
            kind = self.any_kind()
        if kind in self.shown and self.random.random() < self.wrong:
            kind = self.any_kind()
        if depth <= 0 or kind not in self.templates or self.random.random() < 0.15:
            return self.atom(kind)
        return self.fill(self.random.choice(self.templates[kind]), depth - 1)

    def fill(self, template, depth):
        """Fills the holes of a template."""
        quoted = template.startswith("f'")

        def hole(found):
            kind, bound = found[1], (found[2] or '').split(',')
            for name in filter(None, bound):
                self.scope.setdefault(BOUND[name], []).append(name)
            # Inside an f-string no quote, backslash or brace may come: names and numbers only.
            text = self.atom_in_string(kind) if quoted else self.expression(kind, depth)
            for name in filter(None, bound):
                self.scope[BOUND[name]].remove(name)
            return self.closed(text, found.string, found.start(), found.end())

        return HOLE.sub(hole, template)

    def closed(self, text, template, start, end):
        """Parentheses where the place demands a primary, or by chance elsewhere."""
        after, before = template[end:end + 1], template[max(0, start - 1):start]
        compound = not re.fullmatch(r"\w+|'[^'\\]*'", text)
        numeric = text[:1].isdigit() and after == '.'
        if numeric or compound and (after in ('.', '[') or before in ('-', '~', '+')):
            return f'({text})'
        if re.search(r':=|\blambda\b| if ', text) and not (text.startswith('(') and text.endswith(')')):
            return f'({text})'
        if compound and self.random.random() < 0.3 and template[start - 1:start] not in ('[', '*') and after != ']':
            return f'({text})'
        return text

    def atom_in_string(self, kind):
        if kind == 'any':
            kind = self.any_kind()
        names = self.names(kind)
        if names:
            return self.random.choice(names)
        plain = [s for s in self.literals[kind] if not set(s) & set('\'"\\{}')]
        return self.random.choice(plain) if plain else '0'
