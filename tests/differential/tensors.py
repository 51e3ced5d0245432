"""Random programs of tensors, compared with PyTorch: the same interface as generate.py (program, batch).

Values are small multiples of a quarter, so that sums and products are exact in any order; what exp and the like give is
printed with four digits only. Only the first line of a message is compared. Sizes are 0 to 4, dimensions up to 3.
"""
import random

from expressions import Expressions
from generate import batch as join
from generate import compiles, source  # noqa: F401  (run.py asks this module for them)

PRELUDE = '''import torch
import torch.nn.functional as F


def say(error):
    print(type(error).__name__ + ':', (str(error).split('\\\\n') + [''])[0])


def attempt(f):
    print('@', f.__name__)
    torch.manual_seed(1)
    try:
        f()
    except Exception as e:
        say(e)


def show(f):
    try:
        got = f()
        print(repr(got))
        if isinstance(got, torch.Tensor):
            print(got.dtype, tuple(got.shape), got.requires_grad)
    except Exception as e:
        say(e)

'''.replace('\\\\n', '\\n')

LITERALS = {
    'N': ['0', '1', '2', '-1', '3', '0.5', '-1.5', '2.0', 'True', '10'],
    'D': ['0', '1', '-1', '-2', '2', '0', '-1'],
    'n': ['0', '1', '2', '3', '4'],
    'i': ['0', '1', '-1', '2', ':', '1:', ':2', '::2', 'None', '...', '[0, 1]', '[-1]', 'torch.tensor([1, 0])', 'torch.tensor(0)', '-1:'],
    'S': ['2', '3', '2, 3', '3, 1', '1, 3', '2, 2', '0', '0, 3', '2, 1, 3', '2, 3, 4', '3, 3', '4', '()'],
    'R': ['-1', '6', '2, 3', '3, 2', '-1, 2', '2, -1', '1, -1', '2, 2', '4, 6', '-1, 1, 2', '3, -1, 1'],
    'K': ['True', 'False'],
    'Y': ['torch.float32', 'torch.float64', 'torch.int64', 'torch.int32', 'torch.uint8', 'torch.bool', 'torch.int8', 'torch.int16', 'torch.float16'],
    'F': ['torch.tensor([1.0, -0.5, 2.25])', 'torch.tensor([[1.0, 2.0, -3.0], [0.5, 0.0, 4.0]])', 'torch.tensor(1.5)', 'torch.tensor([[0.25], [2.0]])', 'torch.ones(3, 3)',
          'torch.tensor([0.5, -1.0], dtype=torch.float64)', 'torch.zeros(0)', 'torch.linspace(-2, 2, 5)', "torch.tensor([float('nan'), float('inf'), -1.0])",
          'torch.tensor([[[1.0, -1.0], [0.5, 2.0]], [[3.0, 0.0], [-2.0, 1.0]]])', 'torch.eye(2)', 'torch.full((2, 3), 0.5)', 'torch.tensor([1e-5, 1.0, 100.0])'],
    'I': ['torch.tensor([3, -1, 2])', 'torch.tensor([[1, 2, 3], [4, 5, 6]])', 'torch.tensor(7)', 'torch.arange(4)', 'torch.arange(6).reshape(2, 3)', 'torch.tensor([1, 2], dtype=torch.int32)',
          'torch.tensor([200, 100, 7], dtype=torch.uint8)', 'torch.arange(24).reshape(2, 3, 4)', 'torch.tensor([[0], [5]])', 'torch.zeros(2, 2, dtype=torch.int64)', 'torch.tensor([-5, 5, 0, 3], dtype=torch.int8)'],
    'B': ['torch.tensor([True, False, True])', 'torch.tensor([[True, False, False], [True, True, False]])', 'torch.tensor(True)'],
    'T': ['torch.tensor([])'],
}

ANY = ['$F', '$F', '$I', '$B']
BINARY = ['$A + $A', '$A - $A', '$A * $A', '$A / $A', '$A + $N', '$N - $A', '$A * $N', '$A / $N', '$N / $A', '$A // $N', '$A % $N', '$A ** 2', '$I // $I', '$I % $I',
          'torch.maximum($A, $A)', 'torch.minimum($A, $A)', 'torch.where($B, $A, $A)', '$F ** $F', '$N ** $F', '$A.pow($n)', 'torch.add($A, $A, alpha=2)', '-$A', '+$A', 'abs($A)',
          'torch.where($A > $N, $A, $N)', '$F // $F', '$F % $F', '$I & $I', '$I | $I', '~$I', '$I ^ $I', '$B & $B', '~$B', '$I << 1', '$A.clamp($N, $N)', '$A.clamp(min=$N)', 'torch.lerp($F, $F, 0.5)']
UNARY = [f'torch.{f}($A)' for f in ('exp', 'log', 'sqrt', 'sin', 'cos', 'tanh', 'sigmoid', 'relu', 'abs', 'neg', 'floor', 'ceil', 'round', 'sign', 'square', 'reciprocal', 'rsqrt', 'trunc', 'log1p', 'expm1',
                                      'isnan', 'isinf', 'erf', 'atan', 'frac', 'log2', 'exp2', 'logical_not')] + ['F.softplus($F)', 'F.gelu($F)', 'F.leaky_relu($F)', 'F.elu($F)', 'F.silu($F)', 'F.softmax($F, dim=$D)',
                                      'F.log_softmax($F, $D)', '$A.float()', '$A.long()', '$A.bool()', '$A.to($Y)', '$A.double()', '$A.int()', '$A.type(torch.float64)', '$A.clone()', '$A.detach()']
REDUCE = [f'$A.{f}()' for f in ('sum', 'mean', 'max', 'min', 'prod', 'argmax', 'argmin', 'all', 'any', 'norm', 'std', 'var', 'median', 'unique')] + [
    f'$A.{f}($D)' for f in ('sum', 'mean', 'max', 'min', 'prod', 'argmax', 'argmin', 'all', 'any', 'cumsum', 'cumprod', 'logsumexp', 'std', 'median')] + [
    f'$A.{f}(dim=$D, keepdim=$K)' for f in ('sum', 'mean', 'max', 'argmin', 'all', 'var', 'amax', 'amin')] + ['$A.sum(($D, $D))', '$A.sum(dtype=$Y)', 'torch.sum($A, $D)', '$A.max($D).values', '$A.min($D)[1]',
    '$A.sort($D)', '$A.argsort()', '$A.topk(1)', '$A.flatten().sort(descending=True).values', '$A.count_nonzero()', '$A.nonzero()', '$F.var(unbiased=False)', 'torch.norm($F, dim=$D)']
SHAPE = ['$A.reshape($R)', '$A.view($R)', '$A.t()', '$A.T', '$A.transpose($D, $D)', '$A.unsqueeze($D)', '$A.squeeze()', '$A.squeeze($D)', '$A.flatten()', '$A.flatten($D)', '$A.permute(1, 0)', '$A.permute(2, 0, 1)',
         '$A.expand(2, 3)', '$A.repeat(2)', '$A.repeat(1, 2)', '$A.contiguous()', 'torch.cat([$A, $A])', 'torch.cat([$A, $A], dim=$D)', 'torch.stack([$A, $A])', 'torch.stack([$A, $A], $D)', '$A.flip($D)', '$A.roll(1, $D)',
         '$A[$i]', '$A[$i, $i]', '$A[$i, $i, $i]', '$A[$A > $N]', '$A[$B]', '$A.chunk(2)', '$A.split(2, $D)', '$A.narrow($D, 0, 1)', '$A.select($D, $n)', '$A.index_select($D, torch.tensor([0]))', '$A.gather($D, torch.zeros(1, 1, dtype=torch.int64))',
         'torch.broadcast_to($A, (2, 3))', '$A.tril()', '$A.triu(1)', '$A.diag()', '$A.unbind()', 'torch.meshgrid($A.flatten()[:2], $A.flatten()[:2], indexing="ij")', '$A.masked_fill($B, $N)', '$A.tile(2)', '$A.movedim(0, -1)']
MATRIX = ['$A @ $A', 'torch.matmul($F, $F)', '$F.mm($F)', '$F.mv($F)', 'torch.dot($F, $F)', '$F @ $F.t()', '$F.t() @ $F', '$F.bmm($F)', 'torch.outer($F, $F)', 'torch.einsum("ij,kj->ik", $F, $F)', 'F.linear($F, $F)',
          'F.mse_loss($F, $F)', 'F.cross_entropy($F, torch.tensor([1, 0]))', 'F.cross_entropy($F, torch.tensor([2, 1]), reduction="none")', 'F.one_hot(torch.tensor([0, 2]))', 'F.l1_loss($F, $F, reduction="sum")']
OTHER = ['$A.tolist()', '$A.item()', '$A.shape', '$A.size($D)', '$A.dim()', '$A.numel()', '$A.stride()', '$A.is_contiguous()', 'len($A)', '$A.dtype', 'float($A)', 'int($A)', 'bool($A)', 'torch.equal($A, $A)', 'torch.allclose($F, $F)',
         '$A == $A', '$A < $N', '$A != $A', '$A >= $A', 'torch.result_type($A, $N)', 'torch.zeros($S)', 'torch.ones($S, dtype=$Y)', 'torch.full(($S,), $N)', 'torch.arange($N, $N, $N)', 'torch.zeros_like($A)', 'torch.ones_like($A, dtype=$Y)',
         'torch.rand($S)', 'torch.randn($S)', 'torch.randint(0, 10, ($S,))', 'torch.randperm(5)', 'torch.linspace($N, $N, 4)', '[x for x in $A]', 'list($I)', 'sum($A)', '$A.nope', 'torch.tensor($A.tolist())', '$A.element_size()', 'f"{$A}"', 'str($A)',
         'torch.tensor([$N, $N])', 'torch.tensor([[$N], [$N, $N]])', 'torch.is_tensor($A)', '$A.is_floating_point()', 'torch.empty($S).shape', 'torch.as_tensor([$N])', '$n in $A', 'max($A)', 'torch.finfo(torch.float32).eps', 'torch.normal(0.0, 1.0, (2,))']

TEMPLATES = {'A': ANY, 'T': BINARY * 3 + UNARY * 2 + REDUCE * 2 + SHAPE * 2 + MATRIX + OTHER,
             'F': [t.replace('$A', '$F') for t in BINARY[:8] + UNARY[:9] + SHAPE[:8] + REDUCE[:3]], 'I': ['$I + $I', '$I * 2', '$I.t()', '$I[$i]', '$I.reshape($R)', '$F.long()', '$I.sum($D)'], 'B': ['$A > $N', '$A == $A', '~$B', '$B[$i]']}
IN_PLACE = ['{v} += $N', '{v} *= $A', '{v}[$i] = $N', '{v}[$i, $i] = $A', '{v}[{v} > $N] = $N', '{v}.add_($A)', '{v}.mul_(2)', '{v}.zero_()', '{v}.fill_($N)', '{v}.clamp_($N, 3)', '{v}[$i] += $A', '{v} -= $A', '{v} /= $A',
            '{v}.t_()', '{v}.unsqueeze_(0)', '{v}.copy_($A)', '{v}.sub_($A, alpha=2)', '{v}.masked_fill_({v} > 0, $N)', '{v}.relu_()', '{v}.sqrt_()', 'view = {v}[0]; view += 1', '{v}.view(-1)[0] = 9', '{v}.t()[0] = $N']
LOSSES = ['.sum()', '.mean()', '.pow(2).sum()', '.max()', '.sum(0).sum()', '.exp().sum()', '[0].sum()', '.t().sum()', '.norm()', '.sigmoid().mean()', '.prod()', '.std()', '.abs().sum()', '.reshape(-1)[1:].sum()']


class Program(Expressions):
    def __init__(self, seed):
        super().__init__(random.Random(seed), TEMPLATES, LITERALS, shown=['F', 'I', 'B'], wrong=0.03)
        self.serial = 0

    def expression(self, kind, depth):
        # `A` is any tensor: not a step of its own, and never an atom.
        return super().expression(self.random.choice(ANY)[1:] if kind == 'A' else kind, depth)

    def define(self, kind):
        self.serial += 1
        name = f't{self.serial}'
        self.scope.setdefault(kind, []).append(name)
        return name

    def statement(self):
        choice = self.random.random()
        names = self.scope.get('F', []) + self.scope.get('I', [])
        if choice < 0.25:
            kind = self.random.choice('FFFIB')
            text = self.expression(kind, 1)
            return [f'{self.define(kind)} = {text}']
        if choice < 0.4 and names:
            name = self.random.choice(names)
            return [self.fill(self.random.choice(IN_PLACE).replace('{v}', name), 0), f'show(lambda: {name})']
        if choice < 0.55:
            return self.gradient()
        return [f'show(lambda: {self.fill(self.random.choice(TEMPLATES["T"]), 1)})']

    def gradient(self):
        """A leaf, something made of it, its gradient."""
        leaf = self.random.choice([t for t in LITERALS['F'] if 'nan' not in t])
        inner = [t.replace('$A', '$F') for t in BINARY[:13] + UNARY[:9] + SHAPE[:8] + MATRIX[:6]]
        self.serial += 1
        x = f'x{self.serial}'
        self.scope.setdefault('F', []).append(x)
        body = self.fill(self.random.choice(inner), 1)
        self.scope['F'].remove(x)
        body = body if x in body else f'({body}) * {x}'
        return [f'{x} = ({leaf}).clone().requires_grad_()', f'y = ({body}){self.random.choice(LOSSES)}', 'show(lambda: y)', 'y.backward()', f'show(lambda: {x}.grad)']


def program(seed):
    p = Program(seed)
    statements = [p.statement() for _ in range(p.random.randint(3, 7))]
    return [s for s in statements if compiles(s)] or [['pass']]


def batch(programs):
    return join(programs, PRELUDE)
