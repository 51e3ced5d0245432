"""Cuts a test method out of a file of CPython's test suite: a program with that method and the definitions that it reaches.

The cut works on names alone. A top-level statement is kept if a kept statement mentions a name that it binds; a member of a kept class is
kept if a kept statement mentions its name. Reachability is computed to a fixed point, so that a method does not fail for a feature that only
another method of the file needs.
"""
import ast

# Members that unittest, the class statement or operators call without a mention of their names.
IMPLICIT = {'setUp', 'tearDown', 'setUpClass', 'tearDownClass', 'run', 'addCleanup', 'id', 'shortDescription', 'asyncSetUp', 'asyncTearDown'}
MODULE_HOOKS = {'setUpModule', 'tearDownModule'}
# CPython's test modules in C: a method that imports one of them tests the C API, not the language.
C_TEST_MODULES = {'_testcapi', '_testinternalcapi', '_testbuffer', '_testmultiphase', '_testimportmultiple'}

RUNNER = '''

if __name__ == "__main__":
    import sys as _sys
    import unittest as _unittest
    _suite = _unittest.TestSuite([{cls}({method!r})])
    _result = _unittest.TextTestRunner(stream=_sys.stderr, verbosity=0).run(_suite)
    _sys.stdout.flush()
    print("OUTCOME", "failed" if not _result.wasSuccessful() else "skipped" if _result.skipped else "passed")
'''


def bound_names(node):
    """Names that a top-level statement binds in the module."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(a.asname or a.name.split('.')[0]) for a in node.names}
    found = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, (ast.Store, ast.Del)):
            found.add(child.id)
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(child.name)
        elif isinstance(child, (ast.Import, ast.ImportFrom)):
            found |= {(a.asname or a.name.split('.')[0]) for a in child.names}
    return found


def mentioned(node):
    """Every identifier in a piece of a tree, also attributes, keywords and words of strings (getattr, eval)."""
    found = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            found.add(child.id)
        elif isinstance(child, ast.Attribute):
            found.add(child.attr)
        elif isinstance(child, ast.keyword) and child.arg:
            found.add(child.arg)
        elif isinstance(child, (ast.Global, ast.Nonlocal)):
            found.update(child.names)
        elif isinstance(child, ast.Constant) and isinstance(child.value, (str, bytes)) and len(child.value) < 4000:
            text = child.value if isinstance(child.value, str) else child.value.decode('latin-1')
            found.update(w for w in ''.join(c if c.isalnum() or c == '_' else ' ' for c in text).split())
    return found


def imports_c_tests(text):
    """Does a program import one of the test modules in C: by a statement, or by a call like import_module('_testcapi')?"""
    if not any(name in text for name in C_TEST_MODULES):
        return False
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {node.module}
        elif isinstance(node, ast.Call) and 'import' in ast.unparse(node.func):
            names = {a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)}
        else:
            continue
        if names & C_TEST_MODULES:
            return True
    return False


class Cutter:
    def __init__(self, text):
        self.lines = text.splitlines(keepends=True)
        self.tree = ast.parse(text)
        self.statements = [s for s in self.tree.body if not self.is_main_guard(s)]
        self.names = {}
        for statement in self.statements:
            for name in bound_names(statement):
                self.names.setdefault(name, []).append(statement)
        self.classes = {s.name: s for s in self.statements if isinstance(s, ast.ClassDef)}

    @staticmethod
    def is_main_guard(node):
        return isinstance(node, ast.If) and '__main__' in ast.dump(node.test)

    def local_bases(self, cls):
        """The class and the classes of the module that it inherits from: of these, only the members that are reached are kept."""
        found, stack = [], [cls]
        while stack:
            node = stack.pop()
            if node in found:
                continue
            found.append(node)
            for base in node.bases + [k.value for k in node.keywords]:
                for name in mentioned(base):
                    if name in self.classes:
                        stack.append(self.classes[name])
        return found

    def cut(self, class_name, method):
        """The text of the program, or None if no statement of the module binds the class's name.

        A class that a function of the module makes is kept with the whole function.
        """
        if class_name not in self.names:
            return None
        test_classes = self.local_bases(self.classes[class_name]) if class_name in self.classes else []
        kept, members, words = set(), {}, set(IMPLICIT | MODULE_HOOKS | {method})
        pending = list(self.names[class_name])
        pending += [s for s in self.statements if isinstance(s, ast.ImportFrom) and s.module == '__future__']
        pending += [s for name in MODULE_HOOKS for s in self.names.get(name, ())]
        changed = True
        while changed or pending:
            changed = False
            while pending:
                node = pending.pop()
                if node in kept:
                    continue
                kept.add(node)
                changed = True
                if isinstance(node, ast.ClassDef) and node in test_classes:
                    members[node] = set()
                    for part in node.bases + node.keywords + node.decorator_list:
                        words |= mentioned(part)
                else:
                    words |= mentioned(node)
            for cls, chosen in members.items():
                for member in cls.body:
                    if member not in chosen and self.wanted(member, words, method):
                        chosen.add(member)
                        words |= mentioned(member)
                        changed = True
            for statement in self.statements:
                if statement in kept:
                    continue
                if bound_names(statement) & words:
                    pending.append(statement)
                elif isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Constant):
                    used = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
                    if used and all(any(s in kept for s in self.names.get(n, ())) for n in used if n in self.names) and \
                            any(n in self.names and not isinstance(self.names[n][0], (ast.Import, ast.ImportFrom)) for n in used):
                        pending.append(statement)
        return self.text_of(kept, members, words) + RUNNER.format(cls=class_name, method=method)

    @staticmethod
    def wanted(member, words, method):
        if isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if member.name.startswith('test') and member.name != method:
                return False
            return member.name in words or (member.name.startswith('__') and member.name.endswith('__'))
        if isinstance(member, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            return bool(bound_names(member) & words)
        if isinstance(member, ast.ClassDef):
            return member.name in words
        return not (isinstance(member, ast.Expr) and isinstance(member.value, ast.Constant))

    def source(self, node):
        first = min([node.lineno] + [d.lineno for d in getattr(node, 'decorator_list', [])])
        return ''.join(self.lines[first - 1:node.end_lineno])

    def text_of(self, kept, members, words):
        pieces = []
        for statement in self.statements:
            if statement not in kept:
                continue
            if statement in members:
                pieces.append(self.class_text(statement, members[statement]))
            elif isinstance(statement, (ast.Import, ast.ImportFrom)) and getattr(statement, 'module', '') != '__future__':
                pieces.append(self.import_text(statement, words))
            else:
                pieces.append(self.source(statement))
            if not pieces[-1].endswith('\n'):
                pieces[-1] += '\n'
        return ''.join(pieces)

    def class_text(self, cls, chosen):
        first = min([cls.lineno] + [d.lineno for d in cls.decorator_list])
        head = ''.join(self.lines[first - 1:cls.body[0].lineno - 1 - self.decorators(cls.body[0])])
        if cls.body[0].lineno == cls.lineno:  # class C: pass
            return self.source(cls)
        body = [self.source(m) for m in cls.body if m in chosen]
        return head + (''.join(body) or '    pass\n')

    @staticmethod
    def decorators(node):
        return node.lineno - min([node.lineno] + [d.lineno for d in getattr(node, 'decorator_list', [])])

    @staticmethod
    def import_text(node, words):
        names = [a for a in node.names if a.name == '*' or (a.asname or a.name.split('.')[0]) in words]
        short = ast.ImportFrom(node.module, names, node.level) if isinstance(node, ast.ImportFrom) else ast.Import(names)
        return ast.unparse(short) + '\n' if names else ''
