"""Classes with `__slots__`, whose objects have no other attributes.

A TObject takes a slot for an attribute, and has no others if all its classes have
slots. That there is no `__dict__`, and that a class shows its slots, it does not keep:
so classes stay as they are where a program would see that.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.syntax import last_name
from txloop.sharing.scopes import attributes_named, nodes_of_kinds
from txloop.sharing.syntax import annotated_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from txloop.sharing.texts import Text

__all__ = ["has_slots", "names_slots", "why_not_slots"]

_SLOTS = "__slots__"
_ASKED = ("__dict__", "__mro__", "mro")  # what a TObject has, and what shows that


def has_slots(node: ast.ClassDef) -> bool:
    """Tell whether a class names its slots, or is a dataclass that gets some."""
    return names_slots(node) or any(
        one.arg == "slots" and getattr(one.value, "value", False)
        for mark in node.decorator_list
        for one in getattr(mark, "keywords", ())
    )


def names_slots(node: ast.ClassDef) -> bool:
    """Tell whether a class names its slots."""
    return any(_SLOTS in map(last_name, _targets_of(one)) for one in node.body)


def why_not_slots(
    texts: Collection[Text], line: Collection[ast.ClassDef], others: Iterable[str]
) -> str:
    """Return which use of a class with slots no TObject allows for; "" if all do.

    Args:
        texts: The modules.
        line: The class and its bases, as far as they are the program's.
        others: The attributes that code outside of it sets, and it may get.
    """
    known: set[str] = set()
    for node in filter(names_slots, line):
        slots = _slots_of(node)
        if slots is None or any(one.startswith("__") for one in slots):
            return f"{node.name} has slots that are no plain names"
        known |= slots
    if all(map(has_slots, line)):
        its = {getattr(one, "name", "") for node in line for one in node.body}
        if more := {*others} - known - its:
            return f"it has no slot for {min(more)}"
    known |= {name for node in line for name in _fields_of(node)}
    names = {node.name for node in line}
    hidden = {*_ASKED} | ({_SLOTS} if not all(map(names_slots, line)) else set())
    for text in texts:
        asked: list[ast.expr] = [
            one for name in hidden for one in attributes_named(text.tree, name)
        ]
        calls = nodes_of_kinds(text.tree, ast.Call)
        asked += [one for one in calls if _asks_for_any(one, hidden)]
        asked += [
            one
            for name in known
            for one in attributes_named(text.tree, name)
            if last_name(one.value) in names and isinstance(one.ctx, ast.Load)
        ]
        if asked:
            return f"it has slots, and {text.place(asked[0])} asks for what has none"
    return ""


def _fields_of(node: ast.ClassDef) -> set[str]:
    """Return the fields that a dataclass makes slots of."""
    if names_slots(node) or not has_slots(node):
        return set()
    return annotated_in(node)


def _asks_for_any(call: ast.Call, hidden: Collection[str]) -> bool:
    texts = {one.value for one in call.args if isinstance(one, ast.Constant)}
    return last_name(call.func) == "vars" or not texts.isdisjoint(hidden)


def _targets_of(line: ast.stmt) -> list[ast.expr]:
    if isinstance(line, ast.Assign):
        return line.targets
    return [line.target] if isinstance(line, ast.AnnAssign | ast.AugAssign) else []


def _slots_of(node: ast.ClassDef) -> set[str] | None:
    """Return the slots that a class names; None if it may have others, or none."""
    found = None
    for one in node.body:
        if _SLOTS not in map(last_name, _targets_of(one)):
            continue
        match one:
            case (
                ast.Assign(targets=[_], value=value)
                | ast.AnnAssign(value=ast.expr() as value)
            ) if found is None:
                found = _texts_in(value)
            case _:
                return None
    return found


def _texts_in(value: ast.expr) -> set[str] | None:
    match value:
        case ast.Constant(value=str(name)):
            return {name}
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(keys=parts):
            texts = [one.value for one in parts if isinstance(one, ast.Constant)]
            if len(texts) == len(parts):
                return {str(one) for one in texts}
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str(names)), attr="split"),
            args=[] | [ast.Constant(value=str())] as given,
            keywords=[],
        ):
            by = [str(one.value) for one in given if isinstance(one, ast.Constant)]
            return {*names.split(by[0] if by else None)}
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            both = _texts_in(left), _texts_in(right)
            if both[0] is not None and both[1] is not None:
                return both[0] | both[1]
    return None
