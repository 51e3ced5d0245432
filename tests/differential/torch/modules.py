#!/usr/bin/env python3
"""Every module of PyTorch's own table (`module_db`), beside PyTorch.

    modules.py --tsr build/release/tsr --python PYTHON_WITH_PYTORCH [--only BatchNorm] [--show 20] [--keep FOLDER]

For each module and each of the table's constructor inputs: made from a seed, run forward in training and in evaluation, in
float32 and float64; compared are repr, modules' and state's names, parameters, outputs, the gradients of inputs and
parameters, the state afterwards, and five training steps. The table's wrong inputs: class and first line of what is raised.
The last line is `N passed, N failed`. Besides PyTorch the table needs the packages expecttest and psutil.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import programs  # noqa: E402

EXERCISE = '''\
def leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    if isinstance(value, dict):
        return leaves(list(value.values()))
    return []

def loss_of(output):
    weighted = [(leaf * torch.linspace(0.5, 1.5, leaf.numel(), dtype=leaf.dtype).reshape(leaf.shape)).sum()
                for leaf in leaves(output) if leaf.requires_grad]
    return sum(weighted) if weighted else None

def exercise(make, dtype, training, args, kwargs):
    torch.manual_seed(7)
    module = make().to(dtype).train(training)
    print(repr(module))
    output = module(*args, **kwargs)
    print(repr(module))
    print([name for name, part in module.named_modules()], list(module.state_dict()))
    show('parameter', list(module.parameters()))
    show('output', output)
    loss = loss_of(output)
    if loss is not None:
        loss.backward()
    show('input grad', [leaf.grad for leaf in leaves(list(args)) + leaves(kwargs)])
    show('parameter grad', [p.grad for p in module.parameters()])
    show('buffer', dict(module.named_buffers()))
    other = make().to(dtype)
    print(other.load_state_dict(module.state_dict()))
    train(module, args, kwargs)

def train(module, args, kwargs):
    parameters = [p for p in module.parameters() if p.requires_grad]
    if not parameters:
        return
    optimizer = torch.optim.SGD(parameters, lr=0.005, momentum=0.9)
    for step in range(5):
        optimizer.zero_grad()
        output = module(*args, **kwargs)
        loss_of(output).backward()
        show(f'step {step}', output)
        optimizer.step()
    show('trained', module.state_dict())

'''


def encoder_layer(layer, text):
    """The call that makes a layer like one of the table's."""
    attention = layer.self_attn
    return ('nn.TransformerEncoderLayer('
            f'{attention.embed_dim}, {attention.num_heads}, {layer.linear1.out_features}, {layer.dropout.p}, '
            f'{text(layer.activation)}, {layer.norm1.eps}, {attention.batch_first}, {layer.norm_first}, '
            f'{attention.in_proj_bias is not None})')


def of_modules(value, text):
    import torch
    if isinstance(value, torch.nn.TransformerEncoderLayer):
        return encoder_layer(value, text)
    if type(value).__name__ == 'LinearCrossEntropyOptions':
        import dataclasses
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return programs.call_text('nn.LinearCrossEntropyOptions', (), fields, text)
    return None


def case_text(name, given, tail, tensors, call):
    """A case of the program: `call` makes its line from the constructor's text and those of the forward arguments."""
    tensors.begin()

    def text(value):
        return programs.text_of(value, tensors, of_modules)
    made = programs.call_text('nn.' + tail, given.constructor_input.args, given.constructor_input.kwargs, text)
    forward = given.forward_input
    args, kwargs = (forward.args, forward.kwargs) if forward else ((), {})
    line = call(made, text(tuple(args)), text(dict(kwargs)))
    return 'def body():\n' + '\n'.join([*tensors.lines, f'    {line}']) + f'\ncase({name!r}, body)\n\n'


def write_module(folder, info):
    """One program for one module."""
    import torch
    tensors, parts, tail = programs.Tensors(), [EXERCISE], info.module_cls.__name__
    for dtype in (torch.float32, torch.float64):
        for training in (True, False):
            how = f'{str(dtype)[6:]} {"train" if training else "eval"}'
            torch.manual_seed(1)
            inputs = info.module_inputs_func(info, device='cpu', dtype=dtype, requires_grad=True, training=training)
            for i, given in enumerate(inputs):
                parts.append(case_text(f'{how} {i} {given.desc}', given, tail, tensors,
                                       lambda made, args, kwargs: f'exercise(lambda: {made}, {dtype}, {training}, {args}, {kwargs})'))
        if info.module_error_inputs_func:
            wrong = info.module_error_inputs_func(info, device='cpu', dtype=dtype, requires_grad=False, training=True)
            for i, entry in enumerate(wrong):
                parts.append(case_text(f'{str(dtype)[6:]} wrong {i}', entry.module_error_input, tail, tensors,
                                       lambda made, args, kwargs: f'show("result", {made}.to({dtype})(*{args}, **{kwargs}))'))
    programs.write(folder, tail, ''.join(parts), tensors)


def make_programs(folder, only):
    import torch
    torch.set_num_threads(1)
    from torch.testing._internal.common_modules import module_db
    for info in module_db:
        if only in info.module_cls.__name__:
            write_module(folder, info)


if __name__ == '__main__':
    sys.exit(programs.main('The modules of module_db, beside PyTorch.', make_programs))
