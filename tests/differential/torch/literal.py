"""Values as text that both sides read to the same bits."""
import math

import torch

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.complex128,
          torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]
# Dtypes that few kernels of the CPU take, of which the table has no samples: those of the wider dtype, converted.
SMALL = {torch.float8_e4m3fn: torch.float32, torch.float8_e5m2: torch.float32, torch.complex32: torch.complex64}
LARGEST = 2500


class Unwritable(Exception):
    """A value that has no text: a function, a sparse tensor, a tensor of too many elements."""


def number(v):
    if isinstance(v, bool):
        return repr(v)
    if isinstance(v, complex):
        return f'complex({number(v.real)}, {number(v.imag)})'
    if isinstance(v, float) and not math.isfinite(v):
        return f"float('{v}')"
    return repr(v)


def span(t):
    return 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride())) if t.numel() else 0


def tensor(t):
    if t.layout is not torch.strided or t.device.type != 'cpu' or t.is_quantized or t.dtype not in (*DTYPES, *SMALL) or type(t) not in (torch.Tensor, torch.nn.Parameter):
        raise Unwritable(str(t.dtype))
    flags = ', True' if t.requires_grad else ''
    t = t.detach()
    if t.is_conj() or t.is_neg():
        t = t.resolve_conj().resolve_neg()
    extent = span(t)
    if t.numel() > LARGEST or extent > 4 * LARGEST:
        raise Unwritable('large')
    lead = min(t.storage_offset(), 2)
    memory = t.as_strided((lead + extent,), (1,), t.storage_offset() - lead) if extent else t
    data = memory.contiguous().view(torch.uint8).numpy().tobytes().hex() if extent else ''
    return f'T({t.dtype}, {tuple(t.shape)}, {t.stride()}, {lead if extent else 0}, {data!r}{flags})'


class Arguments:
    """Writes arguments; tensors become parameters a0, a1, ... whose makers are gathered."""

    def __init__(self):
        self.makers, self.seen = [], {}

    def value(self, v):
        if isinstance(v, torch.Tensor):
            if id(v) not in self.seen:
                self.makers.append(tensor(v))
                self.seen[id(v)] = (f'a{len(self.makers) - 1}', v)
            return self.seen[id(v)][0]
        if isinstance(v, torch.Size):
            return f'torch.Size({list(v)})'
        if isinstance(v, tuple):
            return '(' + ''.join(self.value(i) + ', ' for i in v) + ')'
        if isinstance(v, list):
            return '[' + ', '.join(map(self.value, v)) + ']'
        if isinstance(v, slice):
            return f'slice({self.value(v.start)}, {self.value(v.stop)}, {self.value(v.step)})'
        if isinstance(v, (bool, int, float, complex)):
            return number(v)
        if v is Ellipsis:
            return '...'
        if isinstance(v, (torch.dtype, torch.memory_format, torch.layout, str)) or v is None:
            return repr(v)
        if isinstance(v, torch.device):
            return f'torch.device({str(v)!r})'
        if hasattr(v, 'item') and getattr(v, 'ndim', 1) == 0:
            return number(v.item())
        raise Unwritable(type(v).__name__)

    def names(self):
        return [f'a{i}' for i in range(len(self.makers))]
