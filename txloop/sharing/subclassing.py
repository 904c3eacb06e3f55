"""What class statements give: their keywords are arguments of a call.

``class Sub(Base, rows=rows)`` calls ``Base.__init_subclass__(rows=rows)`` when it runs,
or what a metaclass has. So a call stands in the tree, behind the statement, and gets
what is given there; whatever follows calls follows it.
"""

from __future__ import annotations

import ast

from txloop.scan.syntax import walk

__all__ = ["METHODS_OF_CLASSES", "makes_subclass", "with_subclassing"]

METHODS_OF_CLASSES = ("__init_subclass__", "__new__", "__prepare__")
"""What may get the keywords, but for the constructors of metaclasses."""


def makes_subclass(call: ast.Call) -> bool:
    """Tell whether a call makes a class with keywords, or hands such on."""
    match call.func:
        case ast.Attribute(attr="__init_subclass__"):
            return True
        case ast.Name(id="type"):
            return bool(call.keywords)
    return False


def with_subclassing(tree: ast.Module) -> ast.Module:
    """Return a module with calls in the place of what class statements give."""
    given = any(
        isinstance(node, ast.ClassDef) and any(map(_may_be_kept, node.keywords))
        for node in walk(tree)
    )
    return _Statements().visit(tree) if given else tree


class _Statements(ast.NodeTransformer):
    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef | list[ast.stmt]:
        self.generic_visit(node)
        kept = [one for one in node.keywords if _may_be_kept(one)]
        if not kept:
            return node
        node.keywords = [
            ast.copy_location(ast.keyword(one.arg, _nothing_at(one.value)), one)
            if one in kept
            else one
            for one in node.keywords
        ]
        base = ast.Name(node.name, ast.Load())
        called = ast.Attribute(base, "__init_subclass__", ast.Load())
        call = ast.Expr(ast.Call(called, [], kept))
        for new in ast.walk(call):
            if not hasattr(new, "lineno"):
                ast.copy_location(new, kept[0].value)
        return [node, call]


def _may_be_kept(given: ast.keyword) -> bool:
    return given.arg != "metaclass" and not isinstance(given.value, ast.Constant)


def _nothing_at(value: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Constant(None), value)
