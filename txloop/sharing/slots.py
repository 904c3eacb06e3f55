"""Classes with `__slots__`, whose objects have no other attributes.

A TObject has what its class assigns, and takes a slot for one of these. That an
attribute without a slot cannot be set, and that there is no `__dict__`, it does not
keep: so classes stay as they are where a program would see that.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.syntax import last_name
from txloop.sharing.scopes import attributes_named, nodes_of_kinds
from txloop.sharing.syntax import assigned_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from txloop.sharing.texts import Text

__all__ = ["has_slots", "why_not_slots"]

_SLOTS = "__slots__"
_ASKED = ("__dict__", "__mro__", "mro")  # what a TObject has, and what shows that


def has_slots(node: ast.ClassDef) -> bool:
    """Tell whether a class names its slots."""
    return any(_SLOTS in map(last_name, _targets_of(one)) for one in node.body)


def why_not_slots(
    texts: Iterable[Text], line: Iterable[ast.ClassDef], others: Iterable[str]
) -> str:
    """Return which use of a class with slots no TObject allows for; "" if all do.

    Args:
        texts: The modules.
        line: The class and its bases, as far as they are the program's.
        others: The attributes that code outside of it sets.
    """
    known: set[str] = set()
    assigned = {*others}
    for node in line:
        slots = _slots_of(node)
        if slots is None or any(one.startswith("__") for one in slots):
            return f"{node.name} has slots that are no plain names, or none"
        known |= slots | {getattr(one, "name", "") for one in node.body}
        assigned |= assigned_in(node)
    if more := assigned - known:
        return f"it has no slot for {min(more)}"
    for text in texts:
        asked: list[ast.expr] = [
            one for name in _ASKED for one in attributes_named(text.tree, name)
        ]
        calls = nodes_of_kinds(text.tree, ast.Call)
        asked += [one for one in calls if _asks_for_dict(one)]
        if asked:
            return f"it has slots, and {text.place(asked[0])} asks for what has none"
    return ""


def _asks_for_dict(call: ast.Call) -> bool:
    texts = {one.value for one in call.args if isinstance(one, ast.Constant)}
    return last_name(call.func) == "vars" or "__dict__" in texts


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
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            texts = [one.value for one in parts if isinstance(one, ast.Constant)]
            if len(texts) == len(parts):
                return {str(one) for one in texts}
    return None
