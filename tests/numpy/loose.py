"""Rewrites a test file so that a name that is missing costs the tests that use it, and not the file.

Each statement at the top of the file and of its classes runs in a `try` of its own, and each name of an import for itself. A decorated function whose
decorators fail is left out: its tests then do not pass. Both programs, the oracle and tsr, run the rewritten file.
"""
import ast

LOST = 'try:\n    pass\nexcept Exception:\n    pass'


def guarded(statements):
    shell = ast.parse(LOST).body[0]
    shell.body = statements
    return shell


def single_imports(node):
    for alias in node.names:
        if isinstance(node, ast.Import):
            yield ast.Import([alias])
        elif node.module is None and node.level:
            yield ast.Import([alias])
        else:
            yield ast.ImportFrom(node.module, [alias], 0)


def loosened(statements):
    for node in statements:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if isinstance(node, ast.ImportFrom) and node.module == '__future__':
                yield node
            else:
                yield from (guarded([one]) for one in single_imports(node))
        elif isinstance(node, ast.ClassDef):
            node.body = list(loosened(node.body))
            yield guarded([node])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.decorator_list:
            yield node
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node
        else:
            yield guarded([node])


def loose(text):
    tree = ast.parse(text)
    tree.body = list(loosened(tree.body))
    return ast.unparse(ast.fix_missing_locations(tree))
