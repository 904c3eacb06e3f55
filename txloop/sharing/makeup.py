"""Lines that ask what a class is made of: its bases, and all that is in it.

A TObject has a base of ours, and its class has names that are not the program's. Who
calls methods, uses attributes, or asks an object for its `__dict__` does not see that;
but ``Room.__mro__``, ``dir(room)`` and ``vars(Room)`` show it. And the namespace of a
class shows a TVar where an attribute of the class is one.
"""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from txloop.scan.syntax import last_name
from txloop.sharing.bindings import bindings
from txloop.sharing.scopes import functions_in, imports_in, nodes_of, walked
from txloop.sharing.syntax import leaves

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["asked_for_all", "namespaces_of_classes"]

_OF_CLASSES = frozenset(["__base__", "__bases__", "__mro__", "getmro", "mro"])

_OF_FUNCTIONS = frozenset(["__closure__", "__code__", "__defaults__", "__kwdefaults__"])
"""What a constructor has that Python calls by way of another function."""

_LISTING = frozenset(
    [
        *("classify_class_attrs", "dir", "getattr_static", "getdoc", "getmembers"),
        "getmembers_static",
    ]
)
"""Functions that tell what an object has, and what its class has."""

_GIVING = frozenset(["__class__", "__subclasses__", "type"])
"""What gives a class: attributes, methods and functions."""


@functools.lru_cache(maxsize=1024)
def asked_for_all(tree: ast.Module) -> list[tuple[ast.AST, ast.AST, ast.expr]]:
    """Return where a module shows what some class is made of.

    Returns:
        The function, or the module, in which that is, the node that shows it, and the
        expression of the class or of an object of its.
    """
    modules = {one.bound for one in imports_in(tree)} | {"modules"}
    found: list[tuple[ast.AST, ast.AST, ast.expr]] = []
    for scope in (tree, *(function for function, _ in functions_in(tree))):
        for node in nodes_of(scope):
            match node:
                case ast.Attribute(value=value, attr=name) if name in _OF_CLASSES:
                    found.append((scope, node, value))
                case ast.Attribute(
                    value=ast.Attribute(value=value, attr="__init__"), attr=name
                ) if name in _OF_FUNCTIONS:
                    found.append((scope, node, value))
                case ast.Attribute(
                    value=ast.Name(id="object") as value, attr="__subclasses__"
                ):
                    found.append((scope, node, value))  # any that has no other base
                case ast.Call(func=ast.Name(id=name), args=[value, *_]) if (
                    name in _OF_CLASSES - {"mro"}
                ):
                    found.append((scope, node, value))
                case ast.Call(func=function, args=[value, *_]):
                    asked = {last_name(one) for one in walked(value)}
                    if last_name(function) in _LISTING and modules.isdisjoint(asked):
                        found.append((scope, node, value))
                case ast.Name(id=name) if name in _OF_CLASSES - {"mro"}:
                    found.append((scope, node, node))
    return found


@functools.lru_cache(maxsize=1024)
def namespaces_of_classes(
    tree: ast.Module, classes: frozenset[str]
) -> list[tuple[ast.AST, str]]:
    """Return where a module asks a class for its namespace, and which class.

    Args:
        tree: The module.
        classes: The names of the program's classes.

    Returns:
        The line, and the name of the class; "" where it may be any.
    """
    found: list[tuple[ast.AST, str]] = []
    for scope, owner in ((tree, None), *functions_in(tree)):
        for node in nodes_of(scope):
            match node:
                case ast.Attribute(value=base, attr="__dict__"):
                    pass
                case ast.Call(func=ast.Name(id="vars"), args=[base]):
                    pass
                case _:
                    continue
            for name in _classes_of(tree, scope, base, classes):
                its = owner.name if name == "cls" and owner is not None else name
                found.append((node, its if its in classes else ""))
    return found


def _classes_of(
    tree: ast.Module, scope: ast.AST, value: ast.expr, classes: frozenset[str]
) -> Iterator[str]:
    """Yield the names of the classes that an expression may give, or of what does."""
    values = [value]
    if isinstance(value, ast.Name):
        for where in {scope, tree}:
            values += bindings(where, value.id)[0]
    for one in (inner for each in values for inner in leaves(each)):
        name = last_name(one.func) if isinstance(one, ast.Call) else last_name(one)
        is_class = not isinstance(one, ast.Call) and name in classes | {"cls"}
        if is_class or name in _GIVING:
            yield name
