"""Classes whose objects may show their attributes in another order than plain ones.

``vars(user)`` has them in the order in which they were set. A TObject has them in one
order for all objects of a class: as its constructors set them, then what is set later.
That is the same where these set them one by one, whatever they are given, and no more
than one comes later.
"""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from txloop.scan.syntax import last_name
from txloop.sharing.scopes import functions_in, nodes_of, walked
from txloop.sharing.syntax import is_of_self, leaves, targets_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["deleted_in", "objects_shown", "why_in_any_order"]

_OF_ONE = frozenset(["__contains__", "get", "keys", "pop", "setdefault", "update"])
"""Methods of dicts that do the same in any order; ``keys`` mostly."""

_NO_ORDER = frozenset(["bool", "len", "set", "sorted"])


@functools.lru_cache(maxsize=1024)
def objects_shown(tree: ast.Module) -> list[tuple[ast.AST, ast.expr]]:
    """Return where a module shows all attributes of an object.

    Returns:
        The function, or the module, in which that is, and the expression of the object.
    """
    above = {c: one for one in walked(tree) for c in ast.iter_child_nodes(one)}
    found: list[tuple[ast.AST, ast.expr]] = []
    for scope in (tree, *(function for function, _ in functions_in(tree))):
        for node in nodes_of(scope):
            match node:
                case ast.Attribute(value=base, attr="__dict__", ctx=ast.Load()):
                    pass
                case ast.Call(func=ast.Name(id="vars"), args=[base]):
                    pass
                case _:
                    continue
            if not _is_of_one(above, node):
                found.append((scope, base))
    return found


def _is_of_one(above: dict[ast.AST, ast.AST], node: ast.AST) -> bool:
    """Tell whether a namespace is only asked for one attribute, or for how many."""
    match around := above.get(node):
        case ast.Subscript() | ast.Compare():
            return True
        case ast.Attribute(attr=name):
            return name in _OF_ONE
        case ast.Call(func=function):
            return last_name(function) in _NO_ORDER and function is not node
    return isinstance(around, ast.Expr)


@functools.lru_cache(maxsize=1024)
def deleted_in(tree: ast.Module) -> frozenset[str]:
    """Return the attributes that a module deletes: what is set again comes last."""
    found: set[str] = set()
    for node in walked(tree):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Del()):
                found.add(name)
            case (
                ast.Call(
                    func=ast.Attribute(
                        value=ast.Attribute(attr="__dict__"), attr="pop"
                    ),
                    args=[ast.Constant(value=str(name)), *_],
                )
                | ast.Call(
                    func=ast.Name(id="delattr"), args=[_, ast.Constant(value=str(name))]
                )
            ):
                found.add(name)
    return frozenset(found)


def why_in_any_order(
    line: Iterable[ast.ClassDef], names: set[str], deleted: set[str]
) -> str:
    """Return which attribute may come before or after another one; "" for none.

    Args:
        line: A class and its bases, as far as they are the program's, bases first.
        names: The attributes that are set elsewhere than in it.
        deleted: Those that the program deletes.
    """
    line = [*line]
    names = names | {
        one.attr
        for cls in line
        for one in walked(cls)
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
    }
    if names & deleted:
        return f"{min(names & deleted)} may be set again"
    makers = [
        one
        for cls in line
        for one in cls.body
        if isinstance(one, ast.FunctionDef) and one.name == "__init__"
    ]
    straight: set[str] = set()
    for maker in makers:
        its: set[str] = set()
        for statement in maker.body:
            if its and _calls_base(statement):
                return f"{min(its)} is set before those of a base"
            simple = isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign)
            set_here = {
                leaf.attr
                for node in walked(statement)
                for target, _ in targets_of(node)
                for leaf in leaves(target)
                if isinstance(leaf, ast.Attribute) and is_of_self(leaf)
            }
            if not simple and set_here - its - straight:
                return f"{min(set_here - its - straight)} is set, or not"
            its |= set_here
        straight |= its
    late = names - straight
    if len(late) > 1:
        return f"{' and '.join(sorted(late)[:2])} are set later"
    if late and any(map(_calls_own, makers)):
        return f"{min(late)} may be set first"
    return ""


def _calls_base(statement: ast.stmt) -> bool:
    return any(last_name(one) == "__init__" for one in walked(statement))


def _calls_own(maker: ast.FunctionDef) -> bool:
    return any(
        isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and is_of_self(one.func)
        for one in walked(maker)
    )
