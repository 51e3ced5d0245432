import torch
from torch.library import custom_op
import numpy as np
@custom_op("door::sinmul", mutates_args=())
def sinmul(x: torch.Tensor, k: float) -> torch.Tensor:
    return x.sin() * k
@sinmul.register_fake
def _(x, k): return torch.empty_like(x)
def setup(ctx, inputs, output):
    x, k = inputs; ctx.save_for_backward(x); ctx.k = k
def back(ctx, g):
    x, = ctx.saved_tensors; return g * x.cos() * ctx.k, None
sinmul.register_autograd(back, setup_context=setup)
x=torch.ones(3,requires_grad=True)
y=sinmul(x,2.0); print(y); y.sum().backward(); print(x.grad)
print(torch.ops.door.sinmul, torch.ops.door.sinmul.default._schema)
class M(torch.nn.Module):
    def forward(self,x): return sinmul(x,3.0)+1
ep=torch.export.export(M(),(torch.ones(3),)); print(ep.graph)
from torch.fx.experimental.proxy_tensor import make_fx
print(make_fx(lambda x: sinmul(x,1.0))(torch.ones(3)).code)
from torch._subclasses.fake_tensor import FakeTensorMode
with FakeTensorMode(): print(sinmul(torch.empty(3),1.0))


@custom_op("door::inc_", mutates_args={"x"})
def inc(x: torch.Tensor) -> None: x.add_(1)
z=torch.zeros(2); inc(z); print(z, torch.ops.door.inc_.default._schema)
