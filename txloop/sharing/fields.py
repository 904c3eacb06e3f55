"""Constructors that stand in no text: decorators write them.

``@dataclass`` gives a class a constructor that keeps what it is given. All that follows
objects is given the syntax of one, as if the program had it; the class, which may be
changed, stays without.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from txloop.scan.syntax import last_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["constructor_of"]

_MARKS = frozenset(["attrs", "dataclass", "define", "frozen", "mutable", "s"])
"""Decorators of `dataclasses` and `attrs`."""

_FIELDS = frozenset(["attrib", "field", "ib"])
"""Functions that describe a field."""


def constructor_of(
    node: ast.ClassDef, classes: Mapping[str, Sequence[ast.ClassDef]]
) -> ast.FunctionDef | None:
    """Return the constructor that a class gets from a decorator; None if it gets none.

    Args:
        node: The class.
        classes: Those of the program, by name.
    """
    has_one = any(getattr(one, "name", "") == "__init__" for one in node.body)
    if has_one or not _is_marked(node):
        return None
    fields = _fields(node, classes)
    given = [f"{name}=None" for name in fields]
    kept = [f"    self.{name} = {name}" for name, is_kept in fields.items() if is_kept]
    text = f"def __init__({', '.join(['self', *given])}):\n"
    function = ast.parse(text + "\n".join([*kept, "    pass"])).body[0]
    for one in ast.walk(function):
        if hasattr(one, "lineno"):
            ast.copy_location(one, node)
    return function  # type: ignore[return-value] # it is the statement of that text


def _is_marked(node: ast.ClassDef) -> bool:
    marks = (last_name(getattr(one, "func", one)) for one in node.decorator_list)
    return not _MARKS.isdisjoint(marks)


def _fields(
    node: ast.ClassDef, classes: Mapping[str, Sequence[ast.ClassDef]]
) -> dict[str, bool]:
    """Return the fields, those of bases first; each with whether it is an attribute."""
    found: dict[str, bool] = {}
    for base in map(last_name, node.bases):
        for one in classes.get(base, ()):
            if one is not node and _is_marked(one):
                found |= _fields(one, classes)
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=kind, value=value):
                text = ast.unparse(kind)
                if not ("ClassVar" in text or text.endswith("KW_ONLY") or _left(value)):
                    found[name] = "InitVar" not in text
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value):
                if last_name(value.func) in _FIELDS and not _left(value):
                    found[name] = True
    return found


def _left(value: ast.expr | None) -> bool:
    """Tell whether a field is no argument of the constructor."""
    named = getattr(value, "keywords", ())
    texts = {one.arg: ast.unparse(one.value) for one in named}
    return texts.get("init") == "False"
