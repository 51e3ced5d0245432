"""Something else in the arguments of a call, drawn at random: a dtype, a layout, a size, a value, a number, a keyword."""
import torch

from literal import DTYPES

SPECIAL = [float('nan'), float('inf'), float('-inf'), 0.0, -0.0, 1.0, -1.0, 1e-30, 1e30, 0.5]


def leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in leaves(item)]
    return []


def replaced(value, change):
    """A tree of arguments with `change` made to each tensor."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, list):
        return [replaced(v, change) for v in value]
    if type(value) is tuple:
        return tuple(replaced(v, change) for v in value)
    return value


def keep(t, new):
    return new.detach().requires_grad_(t.requires_grad and (new.is_floating_point() or new.is_complex()))


def other_dtype(t, dice):
    dtype = dice.choice(DTYPES)
    plain = t.detach()
    if plain.is_complex() and not dtype.is_complex:
        plain = plain.real
    if not dtype.is_floating_point and not dtype.is_complex and plain.is_floating_point():
        plain = plain.nan_to_num(0, 100, -100).clamp(-100, 100)   # what lies outside of an integer's range is undefined
        if dtype == torch.uint8:
            plain = plain.abs()
    return keep(t, plain.to(dtype))


def other_layout(t, dice):
    plain, way = t.detach(), dice.randrange(4)
    if plain.dim() == 0 or plain.numel() > 600:
        return t
    if way == 0 and plain.dim() > 1:
        a, b = dice.sample(range(plain.dim()), 2)
        new = plain.transpose(a, b).contiguous().transpose(a, b)
    elif way == 1:
        d = dice.randrange(plain.dim())
        new = torch.repeat_interleave(plain, 2, dim=d)[(slice(None),) * d + (slice(None, None, 2),)]
    elif way == 2:
        room = torch.zeros(plain.numel() + 3, dtype=plain.dtype)
        new = room[2:2 + plain.numel()].view(plain.shape)
        new.copy_(plain)
    else:
        d = dice.randrange(plain.dim())
        if plain.shape[d] == 0:
            return t
        new = plain.narrow(d, 0, 1).clone().expand(plain.shape)
    return keep(t, new)


def other_values(t, dice):
    new = t.detach().clone(memory_format=torch.preserve_format)
    if new.numel() == 0 or new.dim() == 0:
        return t
    view = new.view(-1) if new.is_contiguous() else None
    if view is None:
        return t
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(view.numel())
        if new.is_floating_point() or new.is_complex():
            view[at] = dice.choice(SPECIAL)
        elif new.dtype == torch.bool:
            view[at] = dice.random() < 0.5
        else:
            info = torch.iinfo(new.dtype)
            view[at] = dice.choice([0, 1, 2, -1 if info.min else 3, 100, info.max if new.dtype != torch.int64 else 5])
    return keep(t, new)


def resized(args, kwargs, dice):
    """A dimension of size 0 or 1, one more or one fewer; of one tensor or of all."""
    way, place = dice.choice(['empty', 'empty', 'one', 'more', 'fewer', 'scalar']), dice.randrange(3)
    everywhere = dice.random() < 0.5
    all_leaves = leaves([args, list(kwargs.values())])
    if not all_leaves:
        return args, kwargs
    target = dice.choice(all_leaves)

    def change(t):
        if not everywhere and t is not target:
            return t
        p = t.detach()
        if way == 'more':
            return keep(t, p.unsqueeze(min(place, p.dim())).clone())
        if p.dim() == 0:
            return t
        d = place % p.dim()
        if way == 'empty':
            return keep(t, p.narrow(d, 0, 0).clone())
        if p.shape[d] == 0:
            return t
        if way == 'one':
            return keep(t, p.narrow(d, 0, 1).clone())
        if way == 'fewer':
            return keep(t, p.select(d, 0).clone())
        return keep(t, p.flatten()[0].clone()) if p.numel() else t
    return [replaced(a, change) for a in args], {k: replaced(v, change) for k, v in kwargs.items()}


def other_number(v, dice):
    if isinstance(v, bool):
        return not v
    if isinstance(v, int):
        return dice.choice([-3, -2, -1, 0, 1, 2, 3, v + 1, v - 1, 1.5, True])
    if isinstance(v, float):
        return dice.choice([0.0, 1.0, -1.5, 2.0, float('nan'), float('inf'), 3, True])
    if isinstance(v, complex):
        return dice.choice([0.5, 1 + 2j, 2])
    if isinstance(v, (tuple, list)) and v and all(isinstance(i, (int, float)) for i in v):
        new = list(v)
        if dice.random() < 0.3:
            new.pop(dice.randrange(len(new)))
        elif dice.random() < 0.3:
            new.append(dice.choice(new))
        else:
            at = dice.randrange(len(new))
            new[at] = other_number(new[at], dice)
        return type(v)(new) if type(v) in (tuple, list) else tuple(new)
    if isinstance(v, torch.dtype):
        return dice.choice(DTYPES)
    if v is None:
        return dice.choice([None, 0, 1])
    return v


def renumbered(args, kwargs, dice):
    places = [('a', i) for i, v in enumerate(args) if not leaves(v)] + [('k', k) for k, v in kwargs.items() if not leaves(v)]
    if not places:
        return args, kwargs
    args, kwargs = list(args), dict(kwargs)
    kind, at = dice.choice(places)
    if kind == 'a':
        args[at] = other_number(args[at], dice)
    elif dice.random() < 0.3:
        del kwargs[at]
    else:
        kwargs[at] = other_number(kwargs[at], dice)
    return args, kwargs


def mutated(args, kwargs, dice):
    for _ in range(dice.choice([1, 1, 1, 2])):
        way = dice.choices(['dtype', 'layout', 'values', 'size', 'number', 'scalar', 'fewer'], [22, 22, 14, 24, 24, 3, 2])[0]
        if way in ('dtype', 'layout', 'values'):
            every = dice.random() < 0.4
            found = leaves([args, list(kwargs.values())])
            if not found:
                continue
            target = dice.choice(found)
            make = {'dtype': other_dtype, 'layout': other_layout, 'values': other_values}[way]
            fixed = dice.randrange(1 << 30)

            def change(t):
                if not every and t is not target:
                    return t
                dice.seed(fixed)
                return make(t, dice)
            args, kwargs = [replaced(a, change) for a in args], {k: replaced(v, change) for k, v in kwargs.items()}
        elif way == 'size':
            args, kwargs = resized(args, kwargs, dice)
        elif way == 'number':
            args, kwargs = renumbered(args, kwargs, dice)
        elif way == 'scalar' and len(args) > 1:
            args = list(args)
            args[dice.randrange(1, len(args))] = dice.choice([2, 1.5, True, 'x', None, 1j])
        elif way == 'fewer' and len(args) > 1:
            args = list(args)[:-1]
    return args, kwargs
