#!/usr/bin/env python3
"""Every optimizer of PyTorch's own table (`optim_db`), beside PyTorch.

    optimizers.py --tsr build/release/tsr --python PYTHON_WITH_PYTORCH [--only Adam] [--show 20] [--keep FOLDER]

For each optimizer, each of the table's settings, with each way of stepping that it offers (foreach, fused, differentiable), in
float32 and float64: five steps over parameters of several shapes, with and without a closure, in two groups, under
schedulers; the state's names and values, repr, and five more steps of an optimizer that was given the first one's state.
The table's wrong settings: class and first line of what is raised, or the warning.
The last line is `N passed, N failed`. Besides PyTorch the table needs the packages expecttest and psutil.
"""
import copy
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import programs  # noqa: E402

EXERCISE = '''\
def parameters(dtype, only_matrices):
    shapes = [(3, 4), (5, 2), (4, 4)] if only_matrices else [(3, 4), (4,), (2, 3, 2), (), (1,), (130,)]
    made = []
    for k, shape in enumerate(shapes):
        count = torch.Size(shape).numel()
        made.append(nn.Parameter(torch.arange(count).mul(7 + k).remainder(11).sub(5).div(4).to(dtype).reshape(shape)))
    return made

def loss_of(params, sign):
    total = 0.0
    for k, p in enumerate(params):
        total = total + ((p - 0.3 * k) ** 2).sum() * (k + 1) / 4 + p.cos().sum()
    return total * sign

def five(optimizer, params, way, scheduler=None):
    sign = -1 if optimizer.param_groups[0].get('maximize') else 1  # bounded on the side that is sought

    def closure():
        optimizer.zero_grad()
        loss = loss_of(params, sign)
        loss.backward()
        return loss
    for step in range(5):
        if way == 'closure':
            show('loss', optimizer.step(closure))
        else:
            closure()
            optimizer.step()
        if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
            scheduler.step(1.0)
        elif scheduler is not None:
            scheduler.step()
        show(f'after {step}', [p for p in params])
    optimizer.zero_grad()
    print([p.grad for p in params])

def state(optimizer, dtype):
    kept = optimizer.state_dict()
    for key, group in kept['param_groups'][-1].items():
        print(key, group)
    for i, entry in kept['state'].items():
        print(i, list(entry))
        if 'old_dirs' in entry and dtype == torch.float32:
            continue  # the search ends at a tolerance near rounding: one evaluation earlier or later
        show('state', {k: v for k, v in entry.items() if isinstance(v, (torch.Tensor, int, float))})

def exercise(cls, kwargs, dtype, way):
    params = parameters(dtype, cls.__name__ == 'Muon')
    optimizer = cls(params, **kwargs)
    print(repr(optimizer))
    five(optimizer, params, way)
    state(optimizer, dtype)
    others = [nn.Parameter(p.detach().clone()) for p in params]
    second = cls(others, **kwargs)
    second.load_state_dict(optimizer.state_dict())
    five(second, others, way)
    state(second, dtype)

def groups(cls, kwargs, dtype, way):
    params = parameters(dtype, cls.__name__ == 'Muon')
    optimizer = cls([{'params': params[:2], 'lr': 0.02}, {'params': params[2:]}], **kwargs)
    five(optimizer, params, way)
    print(repr(optimizer), optimizer.state_dict()['param_groups'])
    late = nn.Parameter(params[0].detach().clone())
    optimizer.add_param_group({'params': [late], 'lr': 0.05})
    five(optimizer, params + [late], way)

def scheduled(cls, kwargs, dtype, way, make):
    params = parameters(dtype, cls.__name__ == 'Muon')
    optimizer = cls(params, **kwargs)
    schedulers = make(optimizer)
    five(optimizer, params, way, schedulers)
    print(optimizer.param_groups[0]['lr'], schedulers.state_dict())

def wrong(cls, params, kwargs, at_step):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        try:
            optimizer = cls(parameters(torch.float32, cls.__name__ == 'Muon') if params is None else params, **kwargs)
            if at_step:
                for group in optimizer.param_groups:
                    for p in group['params']:
                        p.grad = torch.ones_like(p)
                optimizer.step()
        finally:
            for warning in seen:
                print(warning.category.__name__, str(warning.message).split('\\n')[0])

'''

SCHEDULERS = '''\
StepLR(o, 2, 0.5)
MultiStepLR(o, [1, 3], 0.1)
ConstantLR(o, 0.25, 3)
LinearLR(o, 0.25, total_iters=3)
ExponentialLR(o, 0.9)
CosineAnnealingLR(o, 4, 0.001)
CosineAnnealingWarmRestarts(o, 2, 2)
PolynomialLR(o, 4, 2.0)
ReduceLROnPlateau(o, patience=1)
OneCycleLR(o, 0.1, 5, cycle_momentum=False)
CyclicLR(o, 0.01, 0.1, 2, cycle_momentum=False)
LambdaLR(o, lambda n: 0.95 ** n)
MultiplicativeLR(o, lambda n: 0.9)
SequentialLR(o, [s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9)], [2])
ChainedScheduler([s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9)])
'''.splitlines()


def settings(info):
    """The table's kwargs, plain and with each way of stepping."""
    for given in info.optim_inputs_func(device='cpu'):
        yield dict(given.kwargs)
        for flag in info.supported_impls:
            if 'tensor' not in str(given.kwargs) or flag == 'fused':
                yield {**given.kwargs, flag: True}


def add_case(parts, tensors, name, line):
    """line(text) makes the case's call."""
    tensors.begin()
    call = line(lambda value: programs.text_of(value, tensors))
    parts.append('def body():\n' + '\n'.join([*tensors.lines, f'    {call}']) + f'\ncase({name!r}, body)\n\n')


def add_wrong(parts, tensors, info, cls):
    for i, entry in enumerate(info.optim_error_inputs_func('cpu', None) if info.optim_error_inputs_func else []):
        given = entry.optimizer_error_input
        at_step = entry.error_on.name == 'STEP_ERROR'
        try:
            add_case(parts, tensors, f'wrong {i} {given.desc}',
                     lambda text, given=given, at_step=at_step: f'wrong({cls}, {text(given.params)}, {text(given.kwargs)}, {at_step})')
        except (TypeError, AttributeError, RuntimeError) as error:  # sparse parameters have no text
            print(f'left out: {cls} wrong {i}: {error}')


def write_optimizer(folder, info):
    import torch
    name = info.optim_cls.__name__
    cls, tensors, parts = f'torch.optim.{name}', programs.Tensors(), [EXERCISE]
    ways = ['closure'] if info.step_requires_closure else ['plain', 'closure']
    # SparseAdam steps by sparse gradients alone, and sparse tensors are left out (docs/differences.md).
    for dtype in (torch.float32, torch.float64) if name != 'SparseAdam' else ():
        for i, kwargs in enumerate(settings(info)):
            for way in ways:
                add_case(parts, tensors, f'{str(dtype)[6:]} {i} {way} {programs.single_line(kwargs)}',
                         lambda text, kwargs=copy.deepcopy(kwargs), way=way: f'exercise({cls}, {text(kwargs)}, {dtype}, {way!r})')
        if info.supports_param_groups:
            add_case(parts, tensors, f'{str(dtype)[6:]} groups', lambda text: f'groups({cls}, {{}}, {dtype}, {ways[0]!r})')
        for scheduler in SCHEDULERS:
            add_case(parts, tensors, f'{str(dtype)[6:]} {scheduler}', lambda text, scheduler=scheduler: (
                f's = torch.optim.lr_scheduler; scheduled({cls}, {{}}, {dtype}, {ways[0]!r}, lambda o: s.{scheduler})'))
    add_wrong(parts, tensors, info, cls)
    programs.write(folder, name, ''.join(parts), tensors)


def make_programs(folder, only):
    import torch
    torch.set_num_threads(1)
    from torch.testing._internal.common_optimizers import optim_db
    for info in optim_db:
        if only in info.optim_cls.__name__:
            write_optimizer(folder, info)


if __name__ == '__main__':
    sys.exit(programs.main('The optimizers of optim_db, beside PyTorch.', make_programs))
