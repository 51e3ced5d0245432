"""Differences that are meant; docs/differences.md tells the same. Each: op, kind of difference, our text, PyTorch's text (patterns), reason."""
import re

LISTED = [
    ('.*', 'error', r'^RuntimeError: mean\(\): could not infer output dtype', r'^NotImplementedError: mean\(\)',
     'mean of integers raises RuntimeError, the base class of what PyTorch raises today'),
    ('.*', 'error', r"has no attribute '(chalf|complex32)'|Expected both inputs to be Half", r'complex32|^NotImplemented|^nothing',
     'there is no complex32'),
]


def reason_for(record, kind, ours, theirs):
    for op, of_kind, our, their, reason in LISTED:
        if re.fullmatch(op, record['op']) and re.search(of_kind, kind) and re.search(our, ours) and re.search(their, theirs):
            return reason
    return None
