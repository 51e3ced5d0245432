"""Rewrites a test file so that a name that is missing costs the tests that use it, and not the file.

Each statement at the top of the file and of its classes runs in a `try` of its own, and each name of an import for itself. Where the values of a
`parametrize` cannot all be made, each is made for itself, and so is each that a generator of the file yields: what cannot be made costs its own cases.
A decorated function whose decorators fail even so is left out: its tests then do not pass. Both programs, the oracle and tsr, run the rewritten file.
"""
import ast
import copy

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


class Apart(ast.NodeTransformer):
    """Makes each element of the lists of values in a decorator for itself (`pytest.apart`)."""

    def visit_Call(self, node):
        if isinstance(node.func, ast.Attribute) and node.func.attr == 'parametrize':
            node.args[1:] = [self.values(value) for value in node.args[1:]]
        return node

    def values(self, node):
        if isinstance(node, ast.BinOp):
            return ast.BinOp(self.values(node.left), node.op, self.values(node.right))
        if not isinstance(node, (ast.List, ast.Tuple)) or any(isinstance(each, ast.Starred) for each in node.elts):
            return node
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        return ast.Call(ast.Attribute(ast.Name('pytest', ast.Load()), 'apart', ast.Load()), [ast.Lambda(nothing, each) for each in node.elts], [])


def decorated(node):
    """A decorated function, and what takes its place when a decorator fails."""
    shell = guarded([node])
    if any('parametrize' in ast.unparse(each) for each in node.decorator_list):
        again = copy.deepcopy(node)
        again.decorator_list = [Apart().visit(each) for each in again.decorator_list]
        shell.handlers[0].body = [guarded([again])]
    return shell


class Yields(ast.NodeTransformer):
    """Yields a mark for each value that the generator cannot make; the generator goes on."""

    def visit_Expr(self, node):
        if not isinstance(node.value, ast.Yield) or not isinstance(node.value.value, ast.Call):
            return node
        shell = ast.parse('try:\n    pass\nexcept Exception as error:\n    yield pytest.Lost(error)').body[0]
        shell.body = [node]
        return shell


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
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not node.decorator_list and not node.name.startswith('test'):
                Yields().visit(node)
            yield decorated(node) if node.decorator_list else node
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node
        else:
            yield guarded([node])


def loose(text):
    tree = ast.parse(text)
    tree.body = list(loosened(tree.body))
    return ast.unparse(ast.fix_missing_locations(tree))
