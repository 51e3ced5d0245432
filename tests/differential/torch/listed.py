"""Differences that are meant; docs/differences.md tells the same. Each: op, kind of difference, our text, PyTorch's text (patterns), reason."""
import re

LISTED = []


def reason_for(record, kind, ours, theirs):
    for op, of_kind, our, their, reason in LISTED:
        if re.fullmatch(op, record['op']) and re.search(of_kind, kind) and re.search(our, ours) and re.search(their, theirs):
            return reason
    return None
