import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.overrides import TorchFunctionMode
class L(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        r=func(*args, **(kwargs or {})); print(func, [tuple(a.shape) for a in args if isinstance(a, torch.Tensor)]); return r
torch.manual_seed(0)
m=torch.nn.Sequential(torch.nn.Conv2d(1,2,3), torch.nn.GroupNorm(1,2), torch.nn.GELU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(18,4), torch.nn.LayerNorm(4), torch.nn.Softmax(-1))
x=torch.randn(2,1,8,8)
with L():
    y=m(x); y.amax(1).sum().backward()
opt=torch.optim.SGD(m.parameters(), lr=.1, momentum=.9, foreach=False)
with L(): opt.step()
with L():
    torch.nn.functional.interpolate(x, scale_factor=2); torch.nn.functional.pad(x,(1,1)); torch.einsum('bchw,bchw->b', x, x); torch.stack([x,x]).unbind(0); x.flatten(1).topk(2); torch.where(x>0,x,0.); x.clamp(0,1); x.std(); torch.linalg.norm(x); torch.nn.functional.cross_entropy(x.flatten(1), torch.tensor([0,1])); torch.cdist(x[0,0],x[1,0]); torch.nn.functional.normalize(x); torch.cumsum(x,0); x.mean((2,3)); torch.nn.functional.one_hot(torch.tensor([0,1]),3); torch.tril(x[0,0]); torch.triu_indices(2,2); torch.meshgrid(torch.arange(2),torch.arange(3),indexing='ij'); torch.nn.functional.kl_div(x,x,reduction='sum'); torch.nn.functional.mse_loss(x,x); torch.bmm(x[:,0],x[:,0]); torch.nn.functional.embedding(torch.tensor([0,1]),x[0,0]); torch.nn.functional.hardtanh(x); torch.nn.functional.dropout(x,0.5); x.sum(-1).argmax(); torch.sort(x); torch.scatter(x,0,torch.zeros(1,1,1,1,dtype=torch.long),1.); torch.nn.functional.avg_pool2d(x,2); torch.nn.functional.adaptive_max_pool2d(x,2); torch.nn.functional.unfold(x,2); torch.nn.functional.l1_loss(x,x); torch.nn.functional.softplus(x); torch.nn.functional.scaled_dot_product_attention(x,x,x)
