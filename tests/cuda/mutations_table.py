"""The faults that mutations.py puts into the plugin, and the checks that have to find them. `old` is a regular expression: keep it as
short as it is clear, so that a tidier source does not lose it. The first ones are the faults that the plugin once had."""


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


def no_waits(report):
    return '' if report['synchronisations'] <= 4 else f"the host waits {report['synchronisations']} times"


CHECKS = {
    'numbers': {'script': '''
import torch
x = torch.arange(7, device='cuda', dtype=torch.int32)
assert (x * 3).tolist() == [0, 3, 6, 9, 12, 15, 18]
assert (2 - x).tolist() == [2, 1, 0, -1, -2, -3, -4]
assert torch.maximum(x, torch.tensor(4, dtype=torch.int32)).tolist() == [4, 4, 4, 4, 4, 5, 6]
'''},
    'numbers in place': {'script': '''
import torch
x = torch.arange(48, device='cuda', dtype=torch.int32).view(6, 8)
x[:, ::2].mul_(2)
x.t()[::3].neg_()
assert x[1].tolist() == [-16, 9, 20, -11, 24, 13, -28, 15], x
'''},
    'softmax': {'script': '''
import torch
for n in (1, 3, 33, 700, 5000):
    x = torch.randn(3, n)
    assert torch.allclose(torch.softmax(x.cuda(), 1).cpu(), torch.softmax(x, 1)), n
    x = torch.randn(3, n + 1)[:, 1:]
    assert torch.allclose(torch.softmax(x.cuda(), 1).cpu(), torch.softmax(x, 1)), n
'''},
    'unaligned softmax': {'script': '''
import torch
x = torch.randn(4 * 64 + 1, device='cuda')[1:].view(4, 64)
assert torch.allclose(torch.softmax(x, 1).cpu(), torch.softmax(x.cpu(), 1))
'''},
    'second device': {'script': '''
import torch
x = torch.arange(12., device='cuda:1').view(3, 4)
assert torch.allclose(torch.softmax(x, 1).cpu(), torch.softmax(x.cpu(), 1))
assert torch.cuda.current_device() == 0
assert abs(torch.softmax(x.to('cuda:0'), 1).sum().item() - 3) < 1e-5
'''},
    'between devices': {'script': '''
import torch
for k in range(4):
    x = torch.full((1000,), float(k), device='cuda:0')
    x = x.view(10, 100).t().contiguous()
    y = x.to('cuda:1')
    x.fill_(-1)
    assert (y.cpu() == k).all()
'''},
    'copies': {'script': '''
import torch
x = torch.arange(2 * 37 * 41).view(2, 37, 41)
y = x.cuda()
assert torch.equal(y.transpose(1, 2).contiguous().cpu(), x.transpose(1, 2).contiguous())
assert torch.equal(y[:, ::2, 1::3].contiguous().cpu(), x[:, ::2, 1::3].contiguous())
assert torch.equal(y.flip(2)[:, :, ::2].contiguous().cpu(), x.flip(2)[:, :, ::2].contiguous())
for n in (1, 2, 3, 5, 255, 257, 4099):
    z = torch.arange(float(n + 1), device='cuda')[1:]
    assert torch.equal((z * 2).cpu(), torch.arange(float(n + 1))[1:] * 2)
'''},
    'conversions': {'script': '''
import torch
big = [3e9, -3e9, float('inf'), float('nan'), 2147483647.0, 1.5, -1.5, 0.0]
x = torch.tensor(big, dtype=torch.float64)
for to in (torch.int32, torch.int64, torch.int8, torch.bool, torch.float16):
    assert torch.equal(x.cuda().to(to).cpu().nan_to_num(), x.to(to).nan_to_num()), to
assert torch.equal(torch.tensor([1 << 60 | 1]).cuda().to(torch.int64).cpu(), torch.tensor([1 << 60 | 1]))
'''},
    'values': {'script': '''
import torch
x = torch.tensor([float('nan'), -2.0, 0.0, 3.0])
assert torch.equal(torch.sign(x.cuda()).cpu().nan_to_num(7), torch.sign(x).nan_to_num(7))
low = torch.full((5,), -2 ** 63)
assert low.cuda().amax().item() == -2 ** 63 and low.cuda().max().item() == -2 ** 63
z = torch.complex(torch.arange(6.), -torch.arange(6.)).view(2, 3)
assert torch.equal(z.cuda().t().contiguous().cpu(), z.t().contiguous())
'''},
    'sums': {'script': '''
import torch
for shape in ((1,), (7,), (1000,), (3, 50), (50, 3), (300, 700), (700, 300), (2, 33, 5)):
    x = torch.randint(-9, 9, shape).float()
    for d in range(len(shape)):
        assert torch.equal(x.cuda().sum(d).cpu(), x.sum(d)), (shape, d)
    assert x.cuda().sum().item() == x.sum().item(), shape
    assert x.cuda().amax().item() == x.amax().item(), shape
'''},
    'large sum': {'script': '''
import torch
assert torch.ones(1 << 20, device='cuda').sum().item() == 1 << 20
''', 'report': many_blocks, 'seeds': 1},
    'running sums': {'script': '''
import torch
for n in (1, 5, 33, 1000, 9000):
    x = torch.randint(-9, 9, (2, n))
    assert torch.equal(x.cuda().cumsum(1).cpu(), x.cumsum(1)), n
'''},
    'convolution bits': {'script': '''
import torch
x, w = torch.randn(2, 3, 9, 9, device='cuda', requires_grad=True), torch.randn(4, 3, 3, 3, device='cuda', requires_grad=True)
g = torch.randn(2, 4, 7, 7, device='cuda')
runs = [torch.autograd.grad(torch.conv2d(x, w), (x, w), g) for _ in range(4)]
for run in runs:
    assert all(torch.equal(a, b) for a, b in zip(run, runs[0]))
'''},
    'convolution in a graph': {'script': '''
import torch
torch.backends.cudnn.benchmark = True
x, w = torch.randn(2, 3, 9, 9, device='cuda'), torch.randn(4, 3, 3, 3, device='cuda')
torch.conv2d(x, w[:, :, 1:])
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = torch.conv2d(x, w)
graph.replay()
assert torch.allclose(y.cpu(), torch.conv2d(x.cpu(), w.cpu()), atol=0.1)
'''},
    'attention': {'script': '''
import torch
import torch.nn.functional as F
q, k, v = [torch.randn(1, 2, 70, 8) for _ in range(3)]
there = [t.cuda().requires_grad_() for t in (q, k, v)]
here = [t.clone().requires_grad_() for t in (q, k, v)]
for leaves in (there, here):
    F.scaled_dot_product_attention(*leaves, is_causal=True).square().sum().backward()
assert all(torch.allclose(a.grad.cpu(), b.grad, atol=1e-4) for a, b in zip(there, here))
'''},
    'streams': {'script': '''
import torch
x = torch.ones(1000, device='cuda')
s = torch.cuda.Stream()
s.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(s):
    y = x * 2
torch.cuda.current_stream().wait_stream(s)
z = y + 1
assert (z.cpu() == 3).all()
torch.cuda.synchronize()
'''},
    'record_stream': {'script': '''
import torch
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
'''},
    'refused launch': {'script': '''
import torch
x = torch.arange(12., device='cuda').view(3, 4)
try:
    torch.softmax(x, 1)
except RuntimeError as e:
    assert 'CUDA error' in str(e), e
else:
    assert False, 'nothing was raised'
''', 'options': 'fail=cudaLaunchKernel@2:9', 'seeds': 1},
    'out of memory': {'script': '''
import torch
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
''', 'options': 'memory=64M', 'seeds': 1},
    'index errors': {'script': '''
import torch
x = torch.arange(10., device='cuda')
i = torch.tensor([1, 10], device='cuda')
try:
    x[i].cpu()
except IndexError as e:
    assert 'index 10 is out of bounds for dimension 0 with size 10' in str(e), e
else:
    assert False
assert x[torch.tensor([-1, 3], device='cuda')].tolist() == [9, 3]
'''},
    'vector loads': {'script': '''
import torch
x, y = torch.ones(1 << 16, device='cuda', dtype=torch.int32), torch.ones(1 << 16, device='cuda', dtype=torch.int32)
(x * y).cpu()
''', 'report': vector_loads, 'seeds': 1},
    'whole sectors': {'script': '''
import torch
x = torch.ones(256, 256, device='cuda', dtype=torch.int32)
x.t().contiguous().cpu()
''', 'report': whole_sectors, 'seeds': 1},
}

MUTATIONS = [
    # ---- faults that the plugin once had ----
    {'name': 'numbers of the host are pointers', 'file': 'backends/cuda/elementwise.cuh', 'check': 'numbers',
     'old': r'operands\.in\[k\] = number \? nullptr : loop\.data\[of\];',
     'new': 'operands.in[k] = of < 0 ? nullptr : number ? reinterpret_cast<const char*>(loop.numbers[of]) : loop.data[of];',
     'compile': ['backends/cuda/pointwise_int32.cu']},
    {'name': 'a slot is not filled', 'file': 'backends/cuda/softmax.cu', 'check': 'softmax',
     'old': r'const CudaKernel<SoftmaxCall> entry\([^;]*;', 'new': ''},
    {'name': 'the host reads device memory', 'file': 'backends/cuda/softmax.cu', 'check': 'softmax',
     'old': r'(void run\(const SoftmaxCall& c\) \{)', 'new': r'\1 if (*static_cast<const volatile char*>(c.in) == 77) return;'},
    {'name': 'kernels do not set the device', 'file': 'backends/cuda/cuda.h', 'check': 'second device',
     'old': r'if \(changed_\) check_call\(cudaSetDevice[^;]*;', 'new': '', 'compile': ['backends/cuda/softmax.cu']},
    {'name': 'a copy between devices does not wait for its source', 'file': 'backends/cuda/memory.cpp', 'check': 'between devices',
     'old': r'cudaStreamWaitEvent\(to, ready, 0\)', 'new': 'cudaSuccess'},
    {'name': 'a source does not wait for the copy to a peer', 'file': 'backends/cuda/memory.cpp', 'check': 'between devices',
     'old': r'result = cudaStreamWaitEvent\(from, done, 0\);', 'new': ''},
    {'name': 'a kernel runs on a stream of its own', 'file': 'backends/cuda/launch.cuh', 'check': 'softmax',
     'old': r'queue_call<kernel>\(place\.stream\(\)',
     'new': 'queue_call<kernel>([&] { cudaStream_t made = place.stream(); cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking); return made; }()',
     'compile': ['backends/cuda/softmax.cu']},
    {'name': 'a plugin of another build', 'file': 'backends/cuda/plugin.cpp', 'check': 'softmax',
     'old': r'plugin = \{TESSERA_INTERFACE', 'new': 'plugin = {TESSERA_INTERFACE + 1'},
    {'name': 'a float beyond int32 is cast', 'file': 'backends/cuda/element.cuh', 'check': 'conversions',
     'old': r'To\(x > below && x < From\(2147483648\.0\) \? int32_t\(x\) : INT32_MIN\)', 'new': 'To(int64_t(x))',
     'compile': ['backends/cuda/convert.cu']},
    {'name': 'a sum runs in one block', 'file': 'backends/cuda/fold.cuh', 'check': 'large sum',
     'old': r'kManyBlocks = 1024', 'new': 'kManyBlocks = 1', 'compile': ['backends/cuda/reduce.cu']},
    {'name': 'no vector loads', 'file': 'backends/cuda/elementwise.cuh', 'check': 'vector loads',
     'old': r'kBytes % 16 == 0, uint4,', 'new': 'kBytes % 16 == 0, uint32_t,', 'compile': ['backends/cuda/pointwise_int32.cu']},

    # ---- threads ----
    {'name': 'no barrier before what others left is read', 'file': 'backends/cuda/team.cuh', 'check': 'softmax',
     'old': r'slots\[thread\] = x;\s*__syncthreads\(\);', 'new': 'slots[thread] = x;', 'compile': ['backends/cuda/softmax.cu']},
    {'name': 'no barrier before the memory is used again', 'file': 'backends/cuda/team.cuh', 'check': 'running sums',
     'old': r'__syncthreads\(\);\s*total = sum;', 'new': 'total = sum;', 'compile': ['backends/cuda/cumsum.cu']},
    {'name': 'a barrier that some threads pass by', 'file': 'backends/cuda/team.cuh', 'check': 'softmax',
     'old': r'slots\[thread\] = x;\s*__syncthreads\(\);', 'new': 'slots[thread] = x; if (thread < 64) __syncthreads();',
     'compile': ['backends/cuda/softmax.cu']},
    {'name': 'no barrier in a transpose', 'file': 'backends/cuda/copy.cu', 'check': 'copies',
     'old': r'__syncthreads\(\);', 'new': ''},
    {'name': 'no barrier in running sums', 'file': 'backends/cuda/team.cuh', 'check': 'running sums',
     'old': r'slots\[thread / 32\] = x;\s*__syncthreads\(\);', 'new': 'slots[thread / 32] = x;', 'compile': ['backends/cuda/cumsum.cu']},
    {'name': 'a lane too far', 'file': 'backends/cuda/team.cuh', 'check': 'softmax',
     'old': r'for \(int lanes = nearest_; lanes <= farthest_;', 'new': 'for (int lanes = nearest_; lanes < farthest_;',
     'compile': ['backends/cuda/softmax.cu']},
    {'name': 'parts that every block writes at one place', 'file': 'backends/cuda/fold.cuh', 'check': 'large sum',
     'old': r'partial\[int64_t\(blockIdx\.y\) \* shape\.results \+ result\]', 'new': 'partial[result]',
     'compile': ['backends/cuda/reduce.cu']},

    # ---- bounds, strides, alignment ----
    {'name': 'one element beyond the end', 'file': 'backends/cuda/fold.cuh', 'check': 'sums',
     'old': r'exists && i < end;', 'new': 'exists && i <= end;', 'compile': ['backends/cuda/reduce.cu']},
    {'name': 'the last elements are left out', 'file': 'backends/cuda/fold.cuh', 'check': 'sums',
     'old': r'exists && i < end;', 'new': 'exists && i < end - 1;', 'compile': ['backends/cuda/reduce.cu']},
    {'name': 'groups beyond the end', 'file': 'backends/cuda/elementwise.cuh', 'check': 'numbers',
     'old': r'if \(g >= groups\.count\) break;', 'new': 'if (g > groups.count) break;', 'compile': ['backends/cuda/pointwise_int32.cu']},
    {'name': 'the edges of a dense loop are left out', 'file': 'backends/cuda/elementwise.cuh', 'check': 'numbers',
     'old': r'if \(blockIdx\.x == 0 && int\(threadIdx\.x\) < groups\.edges\[0\] \+ groups\.edges\[1\]\)',
     'new': 'if (blockIdx.x == 0 && int(threadIdx.x) < groups.edges[0])', 'compile': ['backends/cuda/pointwise_int32.cu']},
    {'name': 'an idle thread reads what another writes', 'file': 'backends/cuda/elementwise.cuh', 'check': 'numbers in place',
     'old': r'if \(first >= nest\.numel\) return;(.*?)\? first \+ i \* kThreads : first;',
     'new': r'\1? first + i * kThreads : nest.numel - 1;', 'compile': ['backends/cuda/pointwise_int32.cu']},
    {'name': 'strides are swapped', 'file': 'backends/cuda/elementwise.cuh', 'check': 'copies',
     'old': r'nest\.in\[k\]\[d\] = operands\.in\[k\] == nullptr \? 0 : int32_t\(loop\.strides\[inputs\.of\[k\]\]\[d\]\);',
     'new': 'nest.in[k][d] = operands.in[k] == nullptr ? 0 : int32_t(loop.strides[0][d]);', 'compile': ['backends/cuda/copy.cu']},
    {'name': 'rows and columns of a tile are swapped', 'file': 'backends/cuda/copy.cu', 'check': 'copies',
     'old': r'= tile\[x \* \(kTile \+ 1\) \+ j\]', 'new': '= tile[j * (kTile + 1) + x]'},
    {'name': 'a tile beyond the last row', 'file': 'backends/cuda/copy.cu', 'check': 'copies',
     'old': r'if \(column < c\.columns && row < c\.rows\)\s*tile', 'new': 'if (column < c.columns) tile'},
    {'name': 'a transpose without tiles', 'file': 'backends/cuda/copy.cu', 'check': 'whole sectors',
     'old': r'if \(tile_dimension\(loop\) == 0\) return move', 'new': 'return move'},
    {'name': 'vectors at any address', 'file': 'backends/cuda/softmax.cu', 'check': 'unaligned softmax',
     'old': r'VectorRule\(c\.dtype\)\.start\(c\.in\)\.start\(c\.out\)', 'new': 'VectorRule(c.dtype).start(c.out)'},

    {'name': 'an algorithm of cuDNN with other bits each time', 'file': 'backends/cuda/cudnn.cpp', 'check': 'convolution bits',
     'old': r' \|\| result\.determinism != CUDNN_DETERMINISTIC', 'new': ''},
    {'name': "cuDNN's workspace has any size", 'file': 'backends/cuda/cudnn.cpp', 'check': 'convolution bits',
     'old': r'if \(candidate\.bytes <= most\) ', 'new': ''},
    {'name': 'cuDNN measures in a capture', 'file': 'backends/cuda/cudnn.cpp', 'check': 'convolution in a graph',
     'old': r'&& is_captured\(place\)', 'new': '&& false'},
    {'name': "cuDNN's stream is the default one", 'file': 'backends/cuda/cudnn.cpp', 'check': 'convolution in a graph',
     'old': r'cudnnSetStream\(made_, place\.stream\(\)\)', 'new': 'cudnnSetStream(made_, nullptr)'},
    {'name': 'keys are written over while they are read', 'file': 'backends/cuda/attention.cu', 'check': 'attention',
     'old': r'__syncthreads\(\);(\s*load_tile<kStep, kWidth>\(other, values)', 'new': r'\1'},
    {'name': 'a query sees the keys behind it', 'file': 'backends/cuda/attention.cu', 'check': 'attention',
     'old': r'c\.causal && key > query', 'new': 'c.causal && key > query + 1'},
    {'name': 'sums are not made smaller when a larger score comes', 'file': 'backends/cuda/attention.cu', 'check': 'attention',
     'old': r'sum\[i\] \* shrink', 'new': 'sum[i]'},

    # ---- streams, memory, errors ----
    {'name': 'memory of another stream is given back at once', 'file': 'backends/cuda/allocator.cpp', 'check': 'record_stream',
     'old': r'if \(block->users\.empty\(\)\)(.*?)return give_back\(block\);', 'new': 'return give_back(block);'},
    {'name': 'a refused launch is not noticed', 'file': 'backends/cuda/cuda.h', 'check': 'refused launch',
     'old': r'void check_launch\(\) \{ check_call\(cudaGetLastError\(\)\); \}', 'new': 'void check_launch() {}',
     'compile': ['backends/cuda/fill.cu', 'backends/cuda/softmax.cu']},
    {'name': 'a wait for an event is left out', 'file': 'backends/cuda/streams.cpp', 'check': 'streams',
     'old': r'check_call\(cudaStreamWaitEvent\([^;]*;', 'new': ''},
    {'name': 'an index is not looked at', 'file': 'backends/cuda/index_plan.cuh', 'check': 'index errors',
     'old': r'report\([^;]*;', 'new': '', 'compile': ['backends/cuda/index.cu']},
]
