"""Classes of the program that are derived from `dict` or `list`, and only add to that.

Each becomes a TDict or a TList with its methods and attributes: its base is replaced.
For all that follows objects, those of such a class have its name; those of a class that
is derived from it have the name of that, too.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.syntax import bound_by, last_name
from txloop.sharing.scopes import imports_in, nodes_of_kinds, walked
from txloop.sharing.syntax import is_of_self, set_on_self

if TYPE_CHECKING:
    from collections.abc import Collection

    from txloop.sharing.texts import Text

__all__ = ["BASES", "container_classes", "hides", "may_be_attribute"]

BASES = {"dict": "txloop.TDict", "list": "txloop.TList"}
"""What such a class is derived from, before and after."""

_METHODS = {
    name: {*dir(kind)}
    for kind in (dict, list)
    for name in (kind.__name__, f"T{kind.__name__.title()}")
}
_OF_BOTH = {*dir(dict), *dir(list)}

_OWN = frozenset(["__call__", "__init__", "__missing__", "__repr__", "__str__"])
"""Special methods that it may have: containers ask them where plain objects do."""

_OWN_OF_DICTS = frozenset(["__delitem__", "__getattr__", "__setitem__"])
"""Those that a class derived from `dict` itself may have, too: no method asks these."""

_MARKS = frozenset(["classmethod", "property", "staticmethod"])

_ASKED = frozenset(["__class__", "__dict__"])
"""Attributes that containers do not have as objects of such classes do."""


def container_classes(texts: Collection[Text]) -> dict[str, str]:
    """Return these classes, each with the one of them that has the plain base."""
    found: dict[str, list[tuple[Text, ast.ClassDef]]] = {}
    for text in texts:
        for node in nodes_of_kinds(text.tree, ast.ClassDef):
            found.setdefault(node.name, []).append((text, node))
        if any(one.attr in _ASKED for one in nodes_of_kinds(text.tree, ast.Attribute)):
            return {}
    bases = {
        name: last_name(node.bases[0])
        for name, [(text, node), *others] in found.items()
        if not others and _only_adds(text, node)
    }
    roots: dict[str, str] = {}
    while new := {
        name: roots.get(base, name)
        for name, base in bases.items()
        if name not in roots
        if base in roots or _is_plain(*found[name][0])
    }:
        roots |= new
    # All that are derived from one have to be such classes, too.
    odd = {
        last_name(base)
        for name, its in found.items()
        for _, node in its
        for base in node.bases
        if last_name(base) in roots and name not in roots
    }
    if any(one.module == "copy" for text in texts for one in imports_in(text.tree)):
        odd |= {name for name in roots if _sets_items(found[name][0][1])}
    odd |= _with_odd_attributes(texts, {one: found[one][0][1] for one in roots}, roots)
    gone = {roots[name] for name in odd}
    return {name: root for name, root in roots.items() if root not in gone}


def _sets_items(node: ast.ClassDef) -> bool:
    """Tell whether a class sets items in its own way, which `copy` asks for each."""
    return any(getattr(one, "name", "") == "__setitem__" for one in node.body)


def _with_odd_attributes(
    texts: Collection[Text], classes: dict[str, ast.ClassDef], roots: dict[str, str]
) -> set[str]:
    """Return the classes that show their attributes, or have some in another way."""
    shown = any(
        getattr(one, "id", "") == "vars" or getattr(one, "value", "") == "__dict__"
        for text in texts
        for one in nodes_of_kinds(text.tree, ast.Name, ast.Constant)
    )
    own: dict[str, set[str]] = {}
    for name, node in classes.items():
        own.setdefault(roots[name], set()).update(set_on_self(node))
    return {
        name
        for name, node in classes.items()
        if (its := own[roots[name]])
        if shown or any(hides(one, its, name in own) for one in node.body)
    }


def hides(line: ast.stmt, names: set[str], is_root: bool) -> bool:
    """Tell whether a line of a class gives it what hides a shared attribute.

    Args:
        line: The line.
        names: The attributes.
        is_root: Whether it is the class whose base is replaced.
    """
    if is_root and isinstance(line, ast.Assign):
        return False  # objects have it until they get one of their own
    each = [line, *getattr(line, "targets", ())]
    return not names.isdisjoint(one for node in each for one in bound_by(node))


def may_be_attribute(name: str) -> bool:
    """Tell whether objects of such classes can have an attribute of that name."""
    return name not in _OF_BOTH and not name.startswith(("__", "_tx"))


def _is_plain(text: Text, node: ast.ClassDef) -> bool:
    """Tell whether the base of a class is Python's own, or a container by now."""
    base = ast.unparse(node.bases[0])
    taken = any(base in bound_by(one) for one in walked(text.tree))
    return base in BASES.values() or (base in BASES and not taken)


def _only_adds(text: Text, node: ast.ClassDef) -> bool:
    is_shared = len(node.bases) == 1 and ast.unparse(node.bases[0]) in BASES.values()
    if len(node.bases) != 1 or node.decorator_list:
        return False
    if node.keywords and not (is_shared and node.keywords[0].arg == "also"):
        return False
    if getattr(node, "type_params", None) or node not in text.tree.body:
        return False
    for one in _attributes_in(node):
        if last_name(one.value) in BASES:
            return False
        its = is_of_self(one) and may_be_attribute(one.attr)
        if isinstance(one.ctx, ast.Del) or (isinstance(one.ctx, ast.Store) and not its):
            return False
    base = last_name(node.bases[0])
    own = _OWN | (_OWN_OF_DICTS if base in ("dict", "TDict") else frozenset())
    taken = _METHODS.get(base, _OF_BOTH) - own
    return all(_is_harmless(one, taken, own) for one in node.body)


def _attributes_in(node: ast.ClassDef) -> list[ast.Attribute]:
    """Return the attributes that the code of a class names."""
    return [one for one in walked(node) if isinstance(one, ast.Attribute)]


def _is_harmless(line: ast.stmt, taken: Collection[str], own: Collection[str]) -> bool:
    """Tell whether a line of a class's body adds a method, or a constant."""
    match line:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant()):
            return name not in taken and not name.startswith("_")
        case ast.FunctionDef(name=name, decorator_list=marks, body=body):
            if not {*map(last_name, marks)} <= _MARKS or name in taken:
                return False
            if name == "__init__":
                return _makes_base_first(body)
            if name == "__setitem__":
                return _sets_as_given(line)
            return name in own or not name.startswith("__")
    return False


def _sets_as_given(method: ast.FunctionDef) -> bool:
    """Tell whether a `__setitem__` hands on what it gets, and does no more with it."""
    match method.args:
        case ast.arguments(
            posonlyargs=[], args=[_, key, value], vararg=None, kwonlyargs=[]
        ):
            pass
        case _:
            return False
    used = [one.id for one in nodes_of_kinds(method, ast.Name)]
    bound = {name for one in walked(method) for name in bound_by(one)}
    handed = [
        one
        for one in nodes_of_kinds(method, ast.Call)
        if [*map(ast.unparse, one.args)] == [key.arg, value.arg]
        if last_name(one.func) == "__setitem__"
    ]
    only = used.count(value.arg) == len(handed) == 1
    return only and bound.isdisjoint([key.arg, value.arg])


def _makes_base_first(body: list[ast.stmt]) -> bool:
    """Tell whether a constructor first calls that of its base."""
    text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    match body[text:]:
        case [ast.Expr(value=ast.Call(func=ast.Attribute(base, "__init__"))), *_]:
            return isinstance(base, ast.Call) and last_name(base.func) == "super"
    return False
