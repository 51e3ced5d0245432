#!/usr/bin/env python3
"""tests/cuda/traffic.py: what kernels move and what a training step costs, counted by the host executor: the stand-in for times.

Each case runs a line of script and looks at one kernel in the report (TESSERA_EXECUTOR=report): bytes read and written beside those
there are (a warp's lanes that read one number count each), sectors of 32 bytes that warps ask for beside the least that would do, bytes
of one access of a warp (512: 16 of each thread). A step is what five more steps of a training loop add.
--tsr PROGRAM, --plugin FILE. The last line is `N passed, N failed`."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(__file__).resolve().parent.parent.parent / 'build/release'

# (what, script, kernel, limits). bytes: at most so many times the ideal; sectors: at least that share; warp: bytes of an access.
KERNELS = [
    ('float32', 'x, y = torch.ones(1 << 16, device="cuda"), torch.ones(1 << 16, device="cuda"); z = x * y', r'^dense<', dict(bytes=1.05, sectors=0.9, warp=500)),
    ('bfloat16', 'x = torch.ones(1 << 16, device="cuda", dtype=torch.bfloat16); z = x * x.clone()', r'^dense<', dict(bytes=1.05, sectors=0.9, warp=250)),
    ('with a number', 'x = torch.ones(1 << 16, device="cuda"); y = x + 2', r'^dense<', dict(bytes=1.05, sectors=0.9, warp=500)),
    ('compared', 'x = torch.ones(1 << 16, device="cuda"); z = x < x.clone()', r'^dense<', dict(bytes=1.05, sectors=0.9, warp=120)),
    ('a view that begins askew', 'x = torch.ones((1 << 16) + 1, device="cuda")[1:]; y = torch.ones(1 << 16, device="cuda"); z = x * y',
     r'^(dense|strided)<', dict(bytes=1.05, sectors=0.75)),
    ('a row for all', 'x = torch.ones(256, 256, device="cuda"); y = x * torch.ones(256, device="cuda")', r'^dense<', dict(sectors=0.9)),
    ('converted', 'x = torch.ones(1 << 16, device="cuda"); y = x.half()', r'^dense<ConvertBody', dict(bytes=1.05, sectors=0.9)),
    ('transposed', 'x = torch.ones(256, 256, device="cuda"); y = x.t().contiguous()', r'transpose', dict(bytes=1.05, sectors=0.9)),
    ('sums of rows', 'x = torch.ones(128, 1024, device="cuda"); y = x.sum(1)', r'^fold_kernel<', dict(read=1.05, sectors=0.85)),
    ('sums of columns', 'x = torch.ones(1024, 128, device="cuda"); y = x.sum(0)', r'^fold_kernel<', dict(read=1.05, sectors=0.85)),
    ('sum of all', 'x = torch.ones(1 << 18, device="cuda"); y = x.sum()', r'^fold_kernel<', dict(read=1.05, sectors=0.85, blocks=8)),
    ('softmax', 'x = torch.ones(64, 1024, device="cuda"); y = x.softmax(1)', r'^softmax_lines<', dict(bytes=1.05, sectors=0.9, warp=500)),
    ('softmax, long', 'x = torch.ones(2, 20000, device="cuda"); y = x.softmax(1)', r'^softmax_lines<', dict(read=2.05, written=1.05, sectors=0.9)),
    ('layer norm', 'x = torch.ones(64, 1024, device="cuda"); y = torch.nn.functional.layer_norm(x, (1024,))', r'layer_norm', dict(bytes=1.05, sectors=0.85)),
]

TRAINING = '''
import torch
from torch import nn
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, steps, width = x.shape
        q, k, v = self.qkv(self.first(x)).view(batch, steps, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, steps, width))
        return x + self.down(nn.functional.gelu(self.up(self.second(x))))

form, x, layers = {model}
model = nn.Sequential(*layers).to('cuda', memory_format=form)
optimizer = torch.optim.{optimizer}
scaler = torch.amp.GradScaler(init_scale=16.0, enabled={scaled})
x, y = x.cuda().to(memory_format=form), torch.randint(0, 4, (8,)).cuda()

def train():
    optimizer.zero_grad(set_to_none=not {graph})
    loss = nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return loss

if {graph}:
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        before = [train() for _ in range(3)][0].item()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = train()
    train = graph.replay
for step in range({steps}):
    train()
torch.cuda.synchronize()
assert not {graph} or loss.item() < before
'''
DENSE = 'torch.contiguous_format, torch.randn(8, 16), [nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)]'
IMAGES = 'torch.randn(8, 3, 9, 9), [nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 3, stride=2), nn.AdaptiveAvgPool2d(1), nn.Flatten()]'
LETTERS = 'torch.contiguous_format, torch.randint(0, 11, (2, 4)), [nn.Embedding(11, 8), Block(8, 2), nn.LayerNorm(8), nn.Flatten(0, 1), nn.Linear(8, 4)]'
NOTHING = dict(synchronisations=0, allocations=0, bytes_to_host=0, bytes_from_host=0)
ONE_GRAPH = NOTHING | dict(launches=0, library_calls=0, copies=0, graph_launches=1)
# (what, model, optimizer, whether it is replayed from a graph, limits of one step, whether the loss is scaled).
STEPS = [
    ('a step with SGD', DENSE, 'SGD(model.parameters(), lr=0.1)', False, NOTHING | dict(launches=14, library_calls=5)),
    ('a step with Adam', DENSE, 'Adam(model.parameters(), lr=0.1)', False, NOTHING | dict(launches=14, library_calls=5)),
    ('a step of convolutions', 'torch.contiguous_format, ' + IMAGES, 'SGD(model.parameters(), lr=0.1)', False,
     NOTHING | dict(launches=24, library_calls=5)),
    ('a step of convolutions, channels last', 'torch.channels_last, ' + IMAGES, 'SGD(model.parameters(), lr=0.1)', False,
     NOTHING | dict(launches=29, library_calls=5)),
    ('a step of a transformer', LETTERS, 'AdamW(model.parameters(), lr=0.1)', False, NOTHING | dict(launches=57, library_calls=22)),
    ('a step in a graph', DENSE, 'SGD(model.parameters(), lr=0.1)', True, ONE_GRAPH),
    ('a step of convolutions in a graph', 'torch.contiguous_format, ' + IMAGES, 'SGD(model.parameters(), lr=0.1)', True, ONE_GRAPH),
    ('a step in a graph with Adam', DENSE, 'Adam(model.parameters(), lr=torch.tensor(0.1).cuda(), capturable=True)', True, ONE_GRAPH),
    ('a capturable step', DENSE, 'AdamW(model.parameters(), lr=0.1, capturable=True)', False, NOTHING | dict(launches=15, library_calls=5)),
    ('a scaled step', DENSE, 'Adam(model.parameters(), lr=0.1)', False,
     NOTHING | dict(synchronisations=1, bytes_to_host=36, launches=34, library_calls=5), True),
    ('a scaled step in a graph', DENSE, 'AdamW(model.parameters(), lr=0.1, capturable=True, fused=True)', True, ONE_GRAPH, True),
    ('a step of a transformer in a graph', LETTERS, 'AdamW(model.parameters(), lr=0.1, capturable=True)', True, ONE_GRAPH),
]


def report_of(script, args):
    with tempfile.TemporaryDirectory(prefix='tessera-traffic-') as folder:
        path, source = pathlib.Path(folder, 'report.json'), pathlib.Path(folder, 'script.tsr')
        source.write_text(script)
        environment = dict(os.environ, TESSERA_CUDA_PLUGIN=os.path.realpath(args.plugin), TESSERA_EXECUTOR=f'report={path}')
        done = subprocess.run([args.tsr, str(source)], env=environment, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise RuntimeError('\n    '.join(done.stderr.strip().splitlines()[-3:]))
        return json.loads(path.read_text())


def faults_of_kernel(k, limits):
    for side, done in (('read', 'load'), ('written', 'store')):
        ratio = k['bytes_' + side] / max(k['ideal_' + side], 1)
        most = limits.get(side, limits.get('bytes'))
        if most and ratio > most:
            yield f'{ratio:.2f} times the bytes are {side}, at most {most} should be'
        share = k[f'ideal_{done}_sectors'] / max(k[f'{done}_sectors'], 1)
        if k[f'{done}_sectors'] and share < limits.get('sectors', 0):
            yield f'{share:.2f} of the sectors of a {done} are needed, at least {limits["sectors"]} should be'
        if k[f'{done}_sectors'] and k[f'bytes_of_a_warp_{done}'] < limits.get('warp', 0):
            yield f'a {done} of a warp has {k[f"bytes_of_a_warp_{done}"]} bytes, at least {limits["warp"]} should be'
    if k['blocks'] / k['launches'] < limits.get('blocks', 0):
        yield f'{k["blocks"]} blocks'


def check_kernel(script, pattern, limits, args):
    kernels = {name: k for name, k in report_of('import torch\n' + script + '\ntorch.cuda.synchronize()\n', args)['kernels'].items()
               if re.search(pattern, name) and k['ideal_written']}
    # Making the operands is no part of it: those kernels read nothing.
    kernels = {name: k for name, k in kernels.items() if k['ideal_read']}
    if not kernels:
        return f'no kernel /{pattern}/ ran'
    return '; '.join(f'{name}: {said}' for name, k in kernels.items() for said in faults_of_kernel(k, limits))


def check_step(args, model, optimizer, graph, limits, scaled=False):
    few, many = (report_of(TRAINING.format(model=model, optimizer=optimizer, graph=graph, scaled=scaled, steps=n), args) for n in (3, 8))
    return '; '.join(f'{(many[name] - few[name]) / 5:g} {name} a step, at most {most} should be'
                     for name, most in limits.items() if many[name] - few[name] > most * 5)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tsr', default=str(BUILD / 'tsr'))
    parser.add_argument('--plugin', default=str(BUILD / 'libtessera_cuda_executor.so'))
    args = parser.parse_args()
    passed = failed = 0
    cases = [(what, lambda s=script, p=pattern, l=limits: check_kernel(s, p, l, args)) for what, script, pattern, limits in KERNELS]
    cases += [(what, lambda step=step: check_step(args, *step)) for what, *step in STEPS]
    for what, check in cases:
        try:
            said = check()
        except RuntimeError as error:
            said = str(error)
        passed, failed = passed + (not said), failed + bool(said)
        if said:
            print(f'FAILED {what}: {said}')
    print(f'{passed} passed, {failed} failed')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
