"""What everyday operations cost, in ns, beside CPython: one function an operation, the same under both.

    python3 bench/operations.py --tsr build/release/tsr [NAME...]     a table, worst first
    tsr bench/operations.py [NAME...]                                 only our own times
"""
import math
import sys
import time
from collections import namedtuple
from dataclasses import dataclass

STEPS = 50000   # of each loop; some functions divide it, and are read as "per step" all the same

class P:
    K = 5
    L = [1]
    def __init__(self, x, y): self.x = x; self.y = y
    def m(self): return self.x
    @property
    def px(self): return self.x
    @staticmethod
    def st(a): return a
    @classmethod
    def cl(cls, a): return a
    def __eq__(self, o): return self.x == o.x
    def __add__(self, o): return P(self.x + o.x, self.y)
    def __getitem__(self, i): return self.x
    def __len__(self): return 3
    def __call__(self, a): return a
    def __lt__(self, o): return self.x < o.x
    def __hash__(self): return 1
    def __iter__(self): return iter((1, 2))
    def __contains__(self, i): return True
class Q(P):
    __slots__ = ()
    def __init__(self, x, y):
        super().__init__(x, y)
        self.z = 1
    def m(self): return super().m()
class S:
    __slots__ = ('a', 'b')
    def __init__(self): self.a = 1; self.b = 2
@dataclass
class D:
    a: int
    b: int = 2
NT = namedtuple('NT', 'a b')
class G:
    def __getattr__(self, n): return 1
def gen(n):
    for i in range(n): yield i
def t_construct(n, p):
    for i in range(n): P(1, 2)
def t_construct_super(n, p):
    for i in range(n): Q(1, 2)
def t_construct_slots(n, p):
    for i in range(n): S()
def t_dataclass(n, p):
    for i in range(n): D(1, 2)
def t_namedtuple(n, p):
    for i in range(n): NT(1, 2)
def t_class_value_int(n, p):
    for i in range(n): p.K
def t_class_value_list(n, p):
    for i in range(n): p.L
def t_class_attr(n, p):
    for i in range(n): P.K
def t_module_attr(n, p):
    for i in range(n): math.pi
def t_module_call(n, p):
    for i in range(n): math.sqrt(2.0)
def t_property(n, p):
    for i in range(n): p.px
def t_static(n, p):
    for i in range(n): p.st(1)
def t_static_class(n, p):
    for i in range(n): P.st(1)
def t_classmethod(n, p):
    for i in range(n): P.cl(1)
def t_method(n, p):
    for i in range(n): p.m()
def t_super_method(n, p):
    q = Q(1, 2)
    for i in range(n): q.m()
def t_eq(n, p):
    for i in range(n): p == p
def t_lt(n, p):
    for i in range(n): p < p
def t_add(n, p):
    for i in range(n): p + p
def t_getitem(n, p):
    for i in range(n): p[0]
def t_len(n, p):
    for i in range(n): len(p)
def t_call(n, p):
    for i in range(n): p(1)
def t_contains(n, p):
    for i in range(n): 1 in p
def t_iter(n, p):
    for i in range(n):
        for z in p: pass
def t_setattr(n, p):
    for i in range(n): p.x = i
def t_augattr(n, p):
    for i in range(n): p.x += 1
def t_isinstance(n, p):
    for i in range(n): isinstance(p, P)
def t_isinstance_tuple(n, p):
    for i in range(n): isinstance(p, (int, P))
def t_getattr_builtin(n, p):
    for i in range(n): getattr(p, 'x')
def t_hasattr(n, p):
    for i in range(n): hasattr(p, 'zz')
def t_getattr_hook(n, p):
    g = G()
    for i in range(n): g.foo
def t_generator(n, p):
    for i in gen(n): pass
def t_genexpr_sum(n, p):
    sum(i for i in range(n))
def t_any_genexpr(n, p):
    for i in range(n // 5): any(x == 3 for x in (1, 2, 3))
def t_listcomp(n, p):
    for i in range(n // 5): [x for x in (1, 2, 3, 4)]
def t_dictcomp(n, p):
    for i in range(n // 5): {x: x for x in (1, 2, 3, 4)}
def t_setcomp(n, p):
    for i in range(n // 5): {x for x in (1, 2, 3, 4)}
def t_slice(n, p):
    l = list(range(10))
    for i in range(n): l[2:5]
def t_slice_copy(n, p):
    l = list(range(10))
    for i in range(n): l[:]
def t_slice_assign(n, p):
    l = list(range(10))
    for i in range(n): l[2:5] = l[5:8]
def t_str_slice(n, p):
    l = 'abcdefghijk'
    for i in range(n): l[2:5]
def t_str_index(n, p):
    l = 'abcdefghijk'
    for i in range(n): l[3]
def t_tuple_pack(n, p):
    for i in range(n): (i, i)
def t_tuple_key(n, p):
    d = {(1, 2): 3}
    for i in range(n): d[1, 2]
def t_dict_int(n, p):
    d = {i: i for i in range(100)}
    for i in range(n): d[i % 100]
def t_dict_set(n, p):
    d = {}
    for i in range(n): d[i] = i
def t_dict_get(n, p):
    d = {'a': 1}
    for i in range(n): d.get('a')
def t_dict_items(n, p):
    d = {i: i for i in range(10)}
    for i in range(n // 10):
        for k, v in d.items(): pass
def t_set_add(n, p):
    s = set()
    for i in range(n): s.add(i & 1023)
def t_set_in(n, p):
    s = {1, 2, 3}
    for i in range(n): 2 in s
def t_frozenset_ops(n, p):
    a = frozenset(range(5)); b = frozenset(range(3, 8))
    for i in range(n // 5): a & b
def t_set_update(n, p):
    a = set(range(5)); b = set(range(3, 8))
    for i in range(n // 5): a |= b
def t_list_append(n, p):
    l = []
    for i in range(n): l.append(i)
def t_list_pop(n, p):
    l = list(range(n))
    while l: l.pop()
def t_list_insert0(n, p):
    l = []
    for i in range(n // 20): l.insert(0, i)
def t_list_in(n, p):
    l = list(range(10))
    for i in range(n): 7 in l
def t_list_concat(n, p):
    l = [1, 2]
    for i in range(n): l + l
def t_list_swap(n, p):
    l = [1, 2]
    for i in range(n): l[0], l[1] = l[1], l[0]
def t_list2d(n, p):
    l = [[1, 2], [3, 4]]
    for i in range(n): l[1][0]
def t_list2d_set(n, p):
    l = [[1, 2], [3, 4]]
    for i in range(n): l[1][0] = i
def t_unpack(n, p):
    t = (1, 2, 3)
    for i in range(n): a, b, c = t
def t_star_call(n, p):
    t = (1,)
    f = lambda a: a
    for i in range(n): f(*t)
def t_kw_call(n, p):
    f = lambda a, b=2: a
    for i in range(n): f(a=1, b=2)
def t_default_call(n, p):
    f = lambda a, b=2, c=3: a
    for i in range(n): f(1)
def t_varargs(n, p):
    f = lambda *a: a
    for i in range(n): f(1, 2)
def t_kwargs(n, p):
    f = lambda **a: a
    for i in range(n): f(x=1)
def t_closure(n, p):
    x = 0
    def f():
        nonlocal x
        x += 1
    for i in range(n): f()
def t_try(n, p):
    for i in range(n):
        try: pass
        except ValueError: pass
def t_raise(n, p):
    for i in range(n // 5):
        try: raise ValueError('x')
        except ValueError: pass
def t_raise_deep(n, p):
    def f(k):
        if k == 0: raise KeyError(1)
        f(k - 1)
    for i in range(n // 50):
        try: f(5)
        except KeyError as e: pass
def t_no_item(n, p):
    l = [1]
    for i in range(n // 5):
        try: l[5]
        except IndexError: pass
def t_no_key(n, p):
    d = {1: 2}
    for i in range(n // 5):
        try: d[i + 5]
        except KeyError: pass
def t_no_attribute(n, p):
    for i in range(n // 5):
        try: p.nothing
        except AttributeError: pass
def t_no_operator(n, p):
    for i in range(n // 5):
        try: p - i
        except TypeError: pass
def t_no_method(n, p):
    for i in range(n // 5):
        try: p.nothing()
        except AttributeError: pass
def t_no_number(n, p):
    for i in range(n // 5):
        try: int('x')
        except ValueError: pass
def t_with(n, p):
    class C:
        def __enter__(self): return self
        def __exit__(self, *a): return False
    c = C()
    for i in range(n // 2):
        with c: pass
def t_fstring(n, p):
    for i in range(n): f'{i} {i}'
def t_fstring_spec(n, p):
    for i in range(n // 2): f'{i:5d} {3.14159:.2f}'
def t_percent(n, p):
    for i in range(n // 2): '%d %s' % (i, 'a')
def t_str_concat(n, p):
    s = ''
    for i in range(n): s += 'x'
def t_join(n, p):
    l = ['a', 'b', 'c']
    for i in range(n): ','.join(l)
def t_split(n, p):
    for i in range(n // 2): 'a b c d'.split()
def t_str_methods(n, p):
    for i in range(n // 2): 'Hello World'.lower().replace('o', '0').strip().startswith('h')
def t_str_eq(n, p):
    a = 'hello'; b = 'hellp'
    for i in range(n): a == b
def t_str_iter(n, p):
    for c in 'abcdefghij' * (n // 10): pass
def t_ord_chr(n, p):
    for i in range(n): chr(ord('a'))
def t_int_str(n, p):
    for i in range(n): int('123')
def t_str_int(n, p):
    for i in range(n): str(i)
def t_enumerate(n, p):
    for i, x in enumerate(range(n)): pass
def t_zip(n, p):
    l = list(range(n))
    for a, b in zip(l, l): pass
def t_map_lambda(n, p):
    list(map(lambda x: x + 1, range(n)))
def t_filter(n, p):
    list(filter(None, range(n)))
def t_sorted_key(n, p):
    l = list(range(n // 10, 0, -1))
    sorted(l, key=lambda x: -x)
def t_sort_tuples(n, p):
    l = [(i * 7919 % 1000, i) for i in range(n // 20)]
    l.sort()
def t_sort_objects(n, p):
    l = [P(i * 7919 % 1000, i) for i in range(n // 40)]
    l.sort()
def t_min_max(n, p):
    for i in range(n): min(i, 3)
def t_abs(n, p):
    for i in range(n): abs(i)
def t_range_loop(n, p):
    for i in range(n // 10):
        for j in range(5): pass
def t_while(n, p):
    i = 0
    while i < n: i += 1
def t_chain_compare(n, p):
    for i in range(n): 0 <= i < n
def t_bool_ops(n, p):
    for i in range(n):
        if i and not p is None or i > 3: pass
def t_int_div(n, p):
    for i in range(n): i // 3 + i % 7
def t_bits(n, p):
    for i in range(n): (i >> 2) & 7 ^ 3 | 8
def t_float_pow(n, p):
    for i in range(n): 1.5 ** 2
def t_divmod(n, p):
    for i in range(n): divmod(i, 7)
def t_lambda_make(n, p):
    for i in range(n): lambda: i
def t_recursion(n, p):
    def f(k): return k if k < 2 else f(k - 1) + f(k - 2)
    f(18)
def t_match(n, p):
    for i in range(n):
        match i & 3:
            case 0: pass
            case 1: pass
            case _: pass
def t_match_class(n, p):
    d = D(1, 2)
    for i in range(n // 5):
        match d:
            case D(a=1, b=x): pass
def t_global(n, p):
    global GG
    GG = 0
    for i in range(n): GG += 1
def t_print_devnull(n, p):
    import io
    o = io.StringIO()
    for i in range(n // 2): print(i, 'a', file=o)
def t_deque(n, p):
    from collections import deque
    d = deque()
    for i in range(n): d.append(i); d.popleft()
def t_defaultdict(n, p):
    from collections import defaultdict
    d = defaultdict(int)
    for i in range(n): d[i & 63] += 1
def t_counter(n, p):
    from collections import Counter
    for i in range(n // 200): Counter('abracadabra' * 10)
def t_heap(n, p):
    import heapq
    h = []
    for i in range(n // 2): heapq.heappush(h, i * 7919 % 1000)
    while h: heapq.heappop(h)
def t_bisect(n, p):
    import bisect
    l = list(range(100))
    for i in range(n): bisect.bisect_left(l, 50)
def t_random(n, p):
    import random
    for i in range(n): random.random()
def t_randint(n, p):
    import random
    for i in range(n // 4): random.randint(1, 10)
def t_lru(n, p):
    from functools import lru_cache
    @lru_cache(None)
    def f(x): return x
    for i in range(n): f(3)
def t_partial(n, p):
    from functools import partial
    f = partial(max, 3)
    for i in range(n): f(4)
def t_reduce(n, p):
    from functools import reduce
    reduce(lambda a, b: a + b, range(n))
def t_product(n, p):
    import itertools
    for x in itertools.product(range(10), repeat=4): pass
def t_permutations(n, p):
    import itertools
    for x in itertools.permutations(range(7)): pass
def t_chain(n, p):
    import itertools
    for x in itertools.chain(range(n), range(n)): pass
def t_array(n, p):
    from array import array
    a = array('d', [0.0]) * 100
    for i in range(n): a[i % 100] = a[3] + 1.0
def t_enum(n, p):
    from enum import Enum
    class E(Enum):
        A = 1
        B = 2
    for i in range(n): E.A is E.B
def t_copy(n, p):
    import copy
    l = [1, [2, 3], {'a': 1}]
    for i in range(n // 100): copy.deepcopy(l)
def t_re(n, p):
    import re
    r = re.compile(r'(\w+) (\d+)')
    for i in range(n // 10): r.match('hello 123').group(1)
def t_json(n, p):
    import json
    for i in range(n // 100): json.loads(json.dumps({'a': [1, 2, 3], 'b': 'x'}))
def t_nested_func(n, p):
    def f(a):
        def g(b): return a + b
        return g(1)
    for i in range(n): f(1)
def t_not_in_str(n, p):
    for i in range(n): 'z' not in 'hello'
def t_star_unpack(n, p):
    l = [1, 2, 3, 4]
    for i in range(n // 2): a, *b = l
def t_dict_merge(n, p):
    a = {'x': 1}
    for i in range(n // 2): {**a, 'y': 2}
def t_list_mult(n, p):
    for i in range(n): [0] * 10
def t_list_display(n, p):
    for i in range(n): [i, i, i]
def t_dict_display(n, p):
    for i in range(n // 2): {'a': i, 'b': i}
def t_set_display(n, p):
    for i in range(n // 2): {i, 1}
def t_sum_list(n, p):
    l = list(range(1000))
    for i in range(n // 200): sum(l)
def t_reversed(n, p):
    l = list(range(n))
    for i in reversed(l): pass
def t_assert(n, p):
    for i in range(n): assert i >= 0
def t_type_check(n, p):
    for i in range(n): type(p) is P


def measure(names):
    for name, f in list(globals().items()):
        if name.startswith('t_') and (not names or name[2:] in names):
            p, best = P(1, 2), float('inf')
            for _ in range(5):
                start = time.process_time()
                f(STEPS, p)
                best = min(best, time.process_time() - start)
            print(name[2:], best / STEPS * 1e9)


def race(tsr, names, rounds=3):
    """Turns about, so that what else the machine does meets both; the least of each counts."""
    import subprocess
    least = {}
    for _ in range(rounds):
        for who, program in enumerate(('/usr/bin/python3.11', tsr)):
            lines = subprocess.run([program, __file__, *names], capture_output=True, text=True, check=True).stdout
            for name, ns in (line.split() for line in lines.splitlines()):
                both = least.setdefault(name, [math.inf, math.inf])
                both[who] = min(both[who], float(ns))
    rows = sorted((python / max(ours, 1e-3), name, python, ours) for name, (python, ours) in least.items())
    for ratio, name, python, ours in rows:
        print(f'{name:22} CPython {python:8.1f} ns   tsr {ours:8.1f} ns   {ratio:5.2f}')
    mean = math.exp(sum(math.log(row[0]) for row in rows) / len(rows))
    print(f'geometric mean {mean:.2f}, slower than CPython: {sum(row[0] < 1 for row in rows)} of {len(rows)}')


if __name__ == '__main__':
    arguments = sys.argv[1:]
    if arguments[:1] == ['--tsr']:
        race(arguments[1], arguments[2:])
    else:
        measure(arguments)
