import torch
from torch.func import grad, vmap, jacrev, jacfwd, hessian, functional_call, vjp, jvp, linearize, stack_module_state, grad_and_value
torch.manual_seed(0)
f=lambda x: (x.sin()*x).sum()
x=torch.randn(3)
print(grad(f)(x), vmap(grad(f))(torch.randn(2,3)), hessian(f)(x), jacfwd(jacrev(f))(x), jacrev(jacfwd(f))(x))
print(vmap(vmap(lambda a,b:a*b))(torch.ones(2,3),torch.ones(2,3)), grad(grad(lambda x:x**3))(torch.tensor(2.)))
m=[torch.nn.Linear(3,2) for _ in range(3)]; p,b=stack_module_state(m)
print(vmap(lambda p,b,x: functional_call(m[0],(p,b),(x,)),in_dims=(0,0,None))(p,b,x))
o,fn=vjp(f,x); print(fn(torch.tensor(1.))); print(jvp(f,(x,),(torch.ones(3),))); o,l=linearize(f,x); print(o,l(torch.ones(3)))
print(grad_and_value(f)(x)); print(vmap(grad(lambda p,x:(functional_call(m[0],p,(x,))**2).sum()),in_dims=(None,0))(dict(m[0].named_parameters()),torch.randn(2,3)))
from torch.fx.experimental.proxy_tensor import make_fx
print(make_fx(grad(f))(x).code); print(make_fx(vmap(lambda x:x.sin()+x.sum()))(torch.ones(2,3)).code)
print(make_fx(grad(f),tracing_mode='symbolic')(x).code)
print(make_fx(torch.func.functionalize(lambda x: x.clone().add_(1).view(-1)))(x).code)
for f2 in (lambda x: torch.linalg.inv(x), lambda x: torch.linalg.det(x), lambda x: x.softmax(-1), lambda x: torch.logsumexp(x,0)): print(jacrev(f2)(torch.eye(2)+.1), jacfwd(f2)(torch.eye(2)+.1))
print(vmap(lambda x: torch.randn(2).shape, randomness='different')(torch.ones(2)) if False else '')
