"""What has to find the faults of mutations_table.py: scripts that pass with the plugin as it is, cases of tests/cuda/device_test.cpp,
what the compiler says of a kernel. Each says '' when all is well, else what it saw."""
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import typing

HERE = pathlib.Path(__file__).resolve().parent
SEEDS = (1, 2, 3, 4, 5)


class Built(typing.NamedTuple):
    """What a check looks at: programs and plugin, the sources that they were made from, a folder for its own files."""
    tsr: str
    plugin: str
    device_test: str
    source: pathlib.Path  # the overlay, which holds what differs from the tree
    folder: pathlib.Path


def last_words(done):
    lines = (done.stderr.strip() or done.stdout.strip() or 'silent').splitlines()
    told = [l for l in lines if re.match(r'CUDA executor:|[\w.]*(Error|Exception)\b|.*\bERROR:', l)]  # notes come behind it
    return (told or lines)[-1]


@dataclasses.dataclass
class Script:
    """A script that asserts, under some seeds of the executor's order; `report` looks at what the executor counted."""
    text: str
    options: str = ''
    report: typing.Callable = None
    seeds: int = len(SEEDS)

    def run(self, built):
        script, counted = built.folder / 'check.tsr', built.folder / 'report.json'
        script.write_text('import torch\n' + self.text)
        for seed in SEEDS[:self.seeds]:
            counted.unlink(missing_ok=True)
            options = ','.join(filter(None, (f'seed={seed}', self.options, self.report and f'report={counted}')))
            environment = dict(os.environ, TESSERA_CUDA_PLUGIN=built.plugin, TESSERA_EXECUTOR=options)
            try:
                done = subprocess.run([built.tsr, str(script)], env=environment, capture_output=True, text=True, timeout=300)
            except subprocess.TimeoutExpired:
                return 'no end'
            if done.returncode != 0:
                return last_words(done)
            said = self.report(json.loads(counted.read_text())) if self.report else ''
            if said:
                return said
        return ''


@dataclasses.dataclass
class DeviceTest:
    """A case of tests/cuda/device_test.cpp."""
    case: str

    def run(self, built):
        environment = dict(os.environ, TESSERA_CUDA_PLUGIN=built.plugin)
        done = subprocess.run([built.device_test, '--no-intro', f'--test-case={self.case}'], env=environment, capture_output=True,
                              text=True, timeout=300)
        if '0 passed' in done.stdout and done.returncode == 0:
            return f'there is no case "{self.case}"'
        return '' if done.returncode == 0 else last_words(done)


@dataclasses.dataclass
class Compiled:
    """What nvcc says of a source's kernels (static.py). `object_of` compiles it; the runner knows how."""
    source: str

    def run(self, built):
        done = subprocess.run([sys.executable, HERE / 'static.py', '--part', built.folder], capture_output=True, text=True)
        return '' if done.returncode == 0 else done.stdout.strip().splitlines()[0]


class Interface:
    """Another op table, or another layout of a call, is another interface: the number that a plugin is refused by."""

    def run(self, built):
        if shutil.which('cmake') is None:
            return 'no cmake'
        root = HERE.parent.parent
        changed = built.source / 'cmake/Interface.cmake'
        rule = changed if changed.exists() else root / 'cmake/Interface.cmake'
        for touched in ('runtime/ops/pointwise.def', 'runtime/device/calls.h'):
            numbers = set()
            for text in ('', '// another one\n'):
                tree = built.folder / 'tree'
                for file in ('runtime/ops/pointwise.def', 'runtime/device/calls.h'):
                    (tree / file).parent.mkdir(parents=True, exist_ok=True)
                    (tree / file).write_text((root / file).read_text() + (text if file == touched else ''))
                header = built.folder / 'interface.h'
                subprocess.run(['cmake', '-D', f'SOURCE={tree}', '-D', f'OUTPUT={header}', '-P', rule], check=True, capture_output=True)
                numbers.add(header.read_text())
            if len(numbers) != 2:
                return f'a plugin of another {touched} would be taken'
        return ''


# ---- what the executor counted ----

def vector_loads(report):
    kernel = next((k for name, k in report['kernels'].items() if name.startswith('dense<')), None)
    if kernel is None:
        return 'no dense kernel ran'
    if kernel['bytes_read'] > 1.05 * kernel['ideal_read'] or kernel['bytes_written'] > 1.05 * kernel['ideal_written']:
        return 'more bytes move than there are'
    if kernel['bytes_of_a_warp_load'] < 500:
        return f"a warp loads {kernel['bytes_of_a_warp_load']} bytes at a time"
    return ''


def whole_sectors(report):
    for name, k in report['kernels'].items():
        for side in ('load', 'store'):
            if k[f'{side}_sectors'] * 0.85 > k[f'ideal_{side}_sectors']:
                return f"{name}: {k[f'{side}_sectors']} sectors to {side} instead of {k[f'ideal_{side}_sectors']}"
    return ''


def many_blocks(report):
    blocks = max((k['blocks'] / k['launches'] for name, k in report['kernels'].items() if 'fold_kernel' in name), default=0)
    return '' if blocks >= 16 else f'a sum of a million numbers runs in {blocks} blocks'


def same_device(report):
    return '' if report['current_device'] == 0 else f"the host's thread is left at device {report['current_device']}"


def little_from_host(report):
    return '' if report['bytes_from_host'] < 1000 else f"{report['bytes_from_host']} bytes come from the host"


CHECKS = {
    'numbers': Script('''
x = torch.arange(7, device='cuda', dtype=torch.int32)
assert (x * 3).tolist() == [0, 3, 6, 9, 12, 15, 18]
assert (2 - x).tolist() == [2, 1, 0, -1, -2, -3, -4]
assert torch.maximum(x, torch.tensor(4, dtype=torch.int32)).tolist() == [4, 4, 4, 4, 4, 5, 6]
''', seeds=1),
    'numbers in place': Script('''
x = torch.arange(48, device='cuda', dtype=torch.int32).view(6, 8)
x[:, ::2].mul_(2)
x.t()[::3].neg_()
assert x[1].tolist() == [-16, 9, 20, -11, 24, 13, -28, 15], x
'''),
    'softmax': Script('''
for n in (1, 3, 33, 700, 5000):
    x = torch.randn(3, n)
    assert torch.allclose(torch.softmax(x.cuda(), 1).cpu(), torch.softmax(x, 1)), n
    x = torch.randn(3, n + 1)[:, 1:]
    assert torch.allclose(torch.softmax(x.cuda(), 1).cpu(), torch.softmax(x, 1)), n
'''),
    'unaligned softmax': Script('''
x = torch.randn(4 * 64 + 1, device='cuda')[1:].view(4, 64)
assert torch.allclose(torch.softmax(x, 1).cpu(), torch.softmax(x.cpu(), 1))
''', seeds=1),
    'second device': Script('''
x = torch.arange(12., device='cuda:1').view(3, 4)
assert torch.allclose(torch.softmax(x, 1).cpu(), torch.softmax(x.cpu(), 1))
assert torch.cuda.current_device() == 0
assert abs(torch.softmax(x.to('cuda:0'), 1).sum().item() - 3) < 1e-5
'''),
    'between devices': Script('''
for k in range(4):
    x = torch.full((1000,), float(k), device='cuda:0')
    x = x.view(10, 100).t().contiguous()
    y = x.to('cuda:1')
    x.fill_(-1)
    assert (y.cpu() == k).all()
'''),
    'copies': Script('''
x = torch.arange(2 * 37 * 41).view(2, 37, 41)
y = x.cuda()
assert torch.equal(y.transpose(1, 2).contiguous().cpu(), x.transpose(1, 2).contiguous())
assert torch.equal(y[:, ::2, 1::3].contiguous().cpu(), x[:, ::2, 1::3].contiguous())
assert torch.equal(y.flip(2)[:, :, ::2].contiguous().cpu(), x.flip(2)[:, :, ::2].contiguous())
for n in (1, 2, 3, 5, 255, 257, 4099):
    z = torch.arange(float(n + 1), device='cuda')[1:]
    assert torch.equal((z * 2).cpu(), torch.arange(float(n + 1))[1:] * 2)
'''),
    'conversions': Script('''
big = [3e9, -3e9, float('inf'), float('nan'), 2147483647.0, 1.5, -1.5, 0.0]
x = torch.tensor(big, dtype=torch.float64)
for to in (torch.int32, torch.int64, torch.int8, torch.bool, torch.float16):
    assert torch.equal(x.cuda().to(to).cpu().nan_to_num(), x.to(to).nan_to_num()), to
assert torch.equal(torch.tensor([1 << 60 | 1]).cuda().to(torch.int64).cpu(), torch.tensor([1 << 60 | 1]))
''', seeds=1),
    'sums': Script('''
for shape in ((1,), (7,), (1000,), (3, 50), (50, 3), (300, 700), (700, 300), (2, 33, 5)):
    x = torch.randint(-9, 9, shape).float()
    for d in range(len(shape)):
        assert torch.equal(x.cuda().sum(d).cpu(), x.sum(d)), (shape, d)
    assert x.cuda().sum().item() == x.sum().item(), shape
    assert x.cuda().amax().item() == x.amax().item(), shape
'''),
    'large sum': Script('''
assert torch.ones(1 << 20, device='cuda').sum().item() == 1 << 20
''', report=many_blocks, seeds=1),
    'running sums': Script('''
for n in (1, 5, 33, 1000, 9000):
    x = torch.randint(-9, 9, (2, n))
    assert torch.equal(x.cuda().cumsum(1).cpu(), x.cumsum(1)), n
'''),
    'streams': Script('''
x = torch.ones(1000, device='cuda')
s = torch.cuda.Stream()
s.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(s):
    y = x * 2
torch.cuda.current_stream().wait_stream(s)
z = y + 1
assert (z.cpu() == 3).all()
torch.cuda.synchronize()
'''),
    'record_stream': Script('''
s = torch.cuda.Stream()
for k in range(6):
    x = torch.full((999,), float(k), device='cuda')
    s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        y = x * 2
        torch._cuda.record_stream(x, s.cuda_stream)
    del x
    again = torch.full((999,), -1.0, device='cuda')
    s.synchronize()
    assert (y.cpu() == 2 * k).all()
'''),
    'refused launch': Script('''
x = torch.arange(12., device='cuda').view(3, 4)
try:
    torch.softmax(x, 1)
except RuntimeError as e:
    assert 'CUDA error' in str(e), e
else:
    assert False, 'nothing was raised'
''', options='fail=cudaLaunchKernel@2:9', seeds=1),
    'out of memory': Script('''
held = [torch.ones(1 << 20, device='cuda') for _ in range(8)]
del held
x = torch.ones(12 << 20, device='cuda')       # needs what the others gave back
try:
    y = torch.ones(40 << 20, device='cuda')
except torch.OutOfMemoryError:
    pass
else:
    assert False
assert x.sum().item() == 12 << 20
''', options='memory=64M', seeds=1),
    'index errors': Script('''
x = torch.arange(10., device='cuda')
i = torch.tensor([1, 10], device='cuda')
try:
    x[i].cpu()
except IndexError as e:
    assert 'index 10 is out of bounds for dimension 0 with size 10' in str(e), e
else:
    assert False
assert x[torch.tensor([-1, 3], device='cuda')].tolist() == [9, 3]
'''),
    'vector loads': Script('''
x, y = torch.ones(1 << 16, device='cuda', dtype=torch.int32), torch.ones(1 << 16, device='cuda', dtype=torch.int32)
(x * y).cpu()
''', report=vector_loads, seeds=1),
    'whole sectors': Script('''
x = torch.ones(256, 256, device='cuda', dtype=torch.int32)
x.t().contiguous().cpu()
''', report=whole_sectors, seeds=1),
    'sign of NaN': Script('''
x = torch.tensor([float('nan'), -2.0, 0.0, 3.0])
assert torch.equal(torch.sign(x.cuda()).cpu().nan_to_num(7), torch.sign(x).nan_to_num(7))
''', seeds=1),
    'largest of the lowest': Script('''
least = torch.iinfo(torch.int64).min
low = torch.full((5,), least)
assert low.cuda().amax().item() == least and low.cuda().max().item() == least
''', seeds=1),
    'complex copies': Script('''
for dtype in (torch.complex64, torch.complex128):
    z = torch.complex(torch.arange(6.), -torch.arange(6.)).view(2, 3).to(dtype)
    assert torch.equal(z.cuda().t().contiguous().cpu(), z.t().contiguous())
''', seeds=1),
    'products on each device': Script('''
for device in ('cuda:0', 'cuda:1', 'cuda:0'):
    x = torch.arange(12., device=device).view(3, 4)
    assert torch.equal((x @ x.t()).cpu(), x.cpu() @ x.cpu().t())
''', seeds=1),
    'rows far apart': Script('''
far = 2 ** 31 + 8
memory = torch.empty(far + 16, dtype=torch.float16, device='cuda')
x = memory.as_strided((2, 4), (far, 1))
x.fill_(3)
assert torch.equal((x @ torch.ones(4, 5, dtype=torch.float16, device='cuda')).cpu(), torch.full((2, 5), 12, dtype=torch.float16))
''', options='memory=8G', seeds=1),
    'the device stays': Script('''
x = torch.ones(1000, device='cuda:1')
del x
''', report=same_device, seeds=1),
    'devices are counted once': Script('''
for k in range(3):
    x = torch.ones(1000 + k, device='cuda')
assert x.sum().item() == 1002
''', options='fail=cudaGetDeviceCount@2:999!', seeds=1),
    'captured steps': Script((HERE / 'scripts/captured_steps.tsr').read_text(), seeds=1),
    'scaled steps': Script((HERE / 'scripts/scaled_steps.tsr').read_text(), seeds=1),
    'draws': Script('''
torch.manual_seed(1)
x = torch.rand(1 << 16, device='cuda')
assert 0 <= x.min().item() and x.max().item() <= 1
''', report=little_from_host, seeds=1),
    'distinct elements': Script('''
found, inverse, counts = torch.unique_consecutive(torch.tensor([1, 1, 2, 3, 3], device='cuda'), return_inverse=True, return_counts=True)
assert found.is_cuda and inverse.is_cuda and counts.is_cuda
assert found.tolist() == [1, 2, 3] and counts.tolist() == [2, 1, 2]
''', seeds=1),
    'natives': Script((HERE / 'scripts/natives.tsr').read_text(), seeds=1),
    'convolution bits': Script('''
x, w = torch.randn(2, 3, 9, 9, device='cuda', requires_grad=True), torch.randn(4, 3, 3, 3, device='cuda', requires_grad=True)
g = torch.randn(2, 4, 7, 7, device='cuda')
runs = [torch.autograd.grad(torch.conv2d(x, w), (x, w), g) for _ in range(4)]
for run in runs:
    assert all(torch.equal(a, b) for a, b in zip(run, runs[0]))
'''),
    'convolution in a graph': Script('''
torch.backends.cudnn.benchmark = True
x, w = torch.randn(2, 3, 9, 9, device='cuda'), torch.randn(4, 3, 3, 3, device='cuda')
torch.conv2d(x, w[:, :, 1:])
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = torch.conv2d(x, w)
graph.replay()
assert torch.allclose(y.cpu(), torch.conv2d(x.cpu(), w.cpu()), atol=0.1)
'''),
    'attention': Script('''
import torch.nn.functional as F
q, k, v = [torch.randn(1, 2, 70, 8) for _ in range(3)]
there = [t.cuda().requires_grad_() for t in (q, k, v)]
here = [t.clone().requires_grad_() for t in (q, k, v)]
for leaves in (there, here):
    F.scaled_dot_product_attention(*leaves, is_causal=True).square().sum().backward()
assert all(torch.allclose(a.grad.cpu(), b.grad, atol=1e-4) for a, b in zip(there, here))
'''),
    'threads': DeviceTest('host threads hand tensors to each other'),
    'parameters': DeviceTest("of an op's parameters no more is read than there is"),
    'interface': Interface(),
    'divisions': Compiled('backends/cuda/copy.cu'),
}
