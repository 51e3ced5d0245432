"""What two sides printed for the same calls (prelude.tsr), compared: exactly, floating numbers within a few units in the last places."""
import math
import re

# Relative to the number, and to the largest number of the same tensor: sums in another order differ by the latter.
TOLERANCES = {'float64': (1e-9, 1e-11), 'complex128': (1e-9, 1e-11), 'float32': (2e-5, 2e-6), 'complex64': (2e-5, 4e-6),
              'float16': (2e-3, 2e-3), 'bfloat16': (1.6e-2, 1.6e-2), 'complex32': (2e-3, 2e-3),
              'float8_e4m3fn': (0.13, 0.13), 'float8_e5m2': (0.26, 0.26)}
# What matters more is told first.
ORDER = ['crash', 'error', 'type', 'dtype', 'shape', 'values', 'object', 'is out', 'meta', 'stride', 'alias', 'grad_fn']


def outputs(text):
    """{number of a call: its lines}"""
    found, lines = {}, None
    for line in text.split('\n'):
        if line.startswith('@ '):
            lines = found.setdefault(int(line[2:]), [])
        elif lines is not None and line:
            lines.append(line)
    return found


def parse(lines):
    """{(path, kind): text}"""
    fields = {}
    for line in lines:
        part = line.split('\t', 2)
        if len(part) == 3:
            fields[part[0], part[1]] = part[2]
        else:
            fields['', 'error'] = fields.get(('', 'error'), '') + line
    return fields


def listed(text):
    text = text.replace('[', ' ').replace(']', ' ').replace(',', ' ').replace('True', '1').replace('False', '0')
    return [float(w) for w in text.split()]


def arithmetic(record):
    """The dtype in which a call computes its floating numbers: integers become float32."""
    return record['dtype'] if record['dtype'] in TOLERANCES else 'float32'


def close(ours, theirs, relative, of_largest=0.0):
    """The same numbers but for rounding, NaN and infinities in the same places; both as texts of lists."""
    a, b = listed(ours), listed(theirs)
    scale = max((abs(y) for y in b if math.isfinite(y)), default=0.0)
    return len(a) == len(b) and all(
        x == y or (x != x and y != y)
        or (math.isfinite(x) and math.isfinite(y) and abs(x - y) <= relative * abs(y) + of_largest * scale + 1e-300)
        for x, y in zip(a, b))


def same_values(ours, theirs, dtype):
    if ours == theirs:
        return True
    return dtype in TOLERANCES and close(ours, theirs, *TOLERANCES[dtype])


def difference(ours, theirs, nodes=False, computed=None):
    """The most important difference of two lists of lines, as (kind, path, our text, their text); None where there is none.

    `computed`: the dtype of the arithmetic, where an out= tensor of another dtype takes the numbers.
    """
    if ours == theirs:
        return None
    a, b = parse(ours), parse(theirs)
    found = []
    for key in {**b, **a}:
        path, kind = key
        x, y = a.get(key), b.get(key)
        if x == y or kind == 'grad_fn' and not nodes:
            continue
        if kind == 'values' and x is not None and y is not None:
            dtype = b.get((path, 'dtype'), 'torch.float64').replace('torch.', '')
            if a.get((path, 'dtype')) != b.get((path, 'dtype')) or a.get((path, 'shape')) != b.get((path, 'shape')):
                continue    # told by the dtype or the shape
            if same_values(x, y, computed or dtype):
                continue
        rank = ORDER.index(kind) if kind in ORDER else len(ORDER)
        found.append((path.startswith('grad'), rank, len(found), kind, path, x, y))
    if not found:
        return None
    _, _, _, kind, path, x, y = min(found)
    if x is None or y is None:
        # Only one side failed, or has this part at all: tell what the other has there.
        x = x if x is not None else a.get(('', 'error')) or a.get(('grad', 'error')) or 'nothing: ' + brief(a)
        y = y if y is not None else b.get(('', 'error')) or b.get(('grad', 'error')) or 'nothing: ' + brief(b)
    return kind if not path.startswith('grad') else 'grad ' + kind, path, x, y


def brief(fields):
    return '; '.join(f'{kind} {text[:60]}' for (_, kind), text in list(fields.items())[:4])


def general(text):
    """A message without what varies from call to call."""
    text = re.sub(r'-?\d+(\.\d+)?(e[-+]?\d+)?', '0', text[:200])
    return re.sub(r'0(, 0)+', '0', text)


def excerpt(kind, ours, theirs):
    """Both texts short: of values the first that differ."""
    if 'values' in kind:
        try:
            a, b = listed(ours), listed(theirs)
        except ValueError:
            return ours[:100], theirs[:100]
        differ = [i for i, (x, y) in enumerate(zip(a, b)) if x != y and not (x != x and y != y)]
        if differ:
            i = max(differ, key=lambda i: abs(a[i] - b[i]) if math.isfinite(a[i] - b[i]) else math.inf)
            return f'{a[i]!r} at {i}, {len(differ)} of {len(b)} differ', f'{b[i]!r}'
    return ours[:220], theirs[:220]
