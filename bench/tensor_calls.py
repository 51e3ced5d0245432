"""What calls on four numbers cost, in ns and beside `a + b` of the same run: no way of calling is a second-class citizen.

    tsr bench/tensor_calls.py [--check] [NAME...]      also runs under Python with PyTorch

With --check it fails when a row of CITIZENS takes more than 1.6 times as long as `a + b`.
"""
import sys
import time

import torch
import torch.nn.functional as F

STEPS = 10000
ROUNDS = 15
MOST = 1.6
CITIZENS = ('sum_dim', 'neg', 'number_minus', 'number_over', 'view', 'unsqueeze', 'shape', 't', 'T', 'reshape', 'item',
            'index', 'mean', 'to_dtype', 'zeros', 'F_relu', 'sum_keywords')


def c_add(n, a, b, m):
    for i in range(n): a + b
def c_sum_dim(n, a, b, m):
    for i in range(n): m.sum(1)
def c_sum_keywords(n, a, b, m):
    for i in range(n): m.sum(dim=1, keepdim=True)
def c_sum(n, a, b, m):
    for i in range(n): a.sum()
def c_mean(n, a, b, m):
    for i in range(n): a.mean()
def c_max_dim(n, a, b, m):
    for i in range(n): m.max(1)
def c_argmax(n, a, b, m):
    for i in range(n): m.argmax(1)
def c_neg(n, a, b, m):
    for i in range(n): -a
def c_number_minus(n, a, b, m):
    for i in range(n): 1.0 - a
def c_number_over(n, a, b, m):
    for i in range(n): 1.0 / a
def c_pow(n, a, b, m):
    for i in range(n): a ** 2
def c_add_alpha(n, a, b, m):
    for i in range(n): a.add(b, alpha=2)
def c_clamp(n, a, b, m):
    for i in range(n): a.clamp(0, 1)
def c_where(n, a, b, m):
    mask = a > 0
    for i in range(n): torch.where(mask, a, b)
def c_view(n, a, b, m):
    for i in range(n): a.view(2, 2)
def c_reshape(n, a, b, m):
    for i in range(n): a.reshape(2, 2)
def c_unsqueeze(n, a, b, m):
    for i in range(n): a.unsqueeze(0)
def c_permute(n, a, b, m):
    for i in range(n): m.permute(1, 0)
def c_t(n, a, b, m):
    for i in range(n): m.t()
def c_T(n, a, b, m):
    for i in range(n): m.T
def c_shape(n, a, b, m):
    for i in range(n): a.shape
def c_dtype(n, a, b, m):
    for i in range(n): a.dtype
def c_requires_grad(n, a, b, m):
    for i in range(n): a.requires_grad
def c_size(n, a, b, m):
    for i in range(n): a.size(0)
def c_item(n, a, b, m):
    one = a[0]
    for i in range(n): one.item()
def c_index(n, a, b, m):
    for i in range(n): a[0]
def c_slice(n, a, b, m):
    for i in range(n): a[1:3]
def c_detach(n, a, b, m):
    for i in range(n): a.detach()
def c_to_dtype(n, a, b, m):
    for i in range(n): a.to(torch.float64)
def c_double(n, a, b, m):
    for i in range(n): a.double()
def c_zeros(n, a, b, m):
    for i in range(n): torch.zeros(4)
def c_zeros_like(n, a, b, m):
    for i in range(n): torch.zeros_like(a)
def c_tensor(n, a, b, m):
    for i in range(n): torch.tensor([1.0, 2.0, 3.0, 4.0])
def c_cat(n, a, b, m):
    for i in range(n): torch.cat([a, b])
def c_relu(n, a, b, m):
    for i in range(n): torch.relu(a)
def c_F_relu(n, a, b, m):
    for i in range(n): F.relu(a)
def c_F_softmax(n, a, b, m):
    for i in range(n): F.softmax(a, 0)
def c_F_linear(n, a, b, m):
    for i in range(n): F.linear(m, m)
def c_matmul(n, a, b, m):
    for i in range(n): m @ m


def seconds(function, operands):
    start = time.process_time()
    function(STEPS, *operands)
    return time.process_time() - start


def median(values):
    return sorted(values)[len(values) // 2]


def main(arguments):
    check = '--check' in arguments
    wanted = [name for name in arguments if not name.startswith('-')]
    operands = torch.ones(4), torch.ones(4), torch.ones(2, 2)
    rows = []
    for name, function in list(globals().items()):
        if not name.startswith('c_') or (wanted and name[2:] not in wanted):
            continue
        pairs = [(seconds(function, operands), seconds(c_add, operands)) for _ in range(ROUNDS)]
        rows.append((median([t / unit for t, unit in pairs]), median([t for t, _ in pairs]) / STEPS * 1e9, name[2:]))
    slow = []
    for ratio, ns, name in sorted(rows, reverse=True):
        print(f'{name:14s} {ns:8.1f} ns {ratio:6.2f}')
        if name in CITIZENS and ratio > MOST:
            slow.append(name)
    if check and slow:
        sys.exit(f'more than {MOST} times a + b: {", ".join(slow)}')


main(sys.argv[1:])
