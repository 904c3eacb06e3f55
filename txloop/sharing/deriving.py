"""Class statements of classes that become TObjects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from txloop.scan.syntax import last_name
from txloop.sharing.stated import dataclass_mark, options_kept

if TYPE_CHECKING:
    import ast

    from txloop.sharing.texts import Edits, Text

__all__ = ["also_given", "derive", "undecorate"]


def undecorate(
    text: Text, node: ast.ClassDef, edits: Edits, *, is_derived: bool
) -> None:
    """Remove the decorator of a dataclass, but not its line.

    Args:
        text: Its module.
        node: The class.
        edits: Where the change goes.
        is_derived: It is derived from one that becomes a TObject; its options stay.
    """
    decorator = dataclass_mark(text, node)
    assert decorator is not None, node.name
    at = text.source.rindex("@", 0, text.start(decorator))
    edits.replace(at, text.end(decorator), "")
    if is_derived and (options := _options(decorator)):
        end = text.end(node.bases[-1])
        edits.replace(end, end, options)


def _options(mark: ast.expr) -> str:
    return "".join(f", {one}=True" for one in options_kept(mark))


def also_given(names: list[str]) -> str:
    """Return what a class statement says of attributes besides; "" if there are none.

    Args:
        names: The attributes.
    """
    texts = ", ".join(f'"{name}"' for name in names)
    return f", also=({texts}{',' * (len(names) == 1)})" if names else ""


def derive(
    text: Text, node: ast.ClassDef, also: list[str], edits: Edits, *, is_open: bool
) -> None:
    """Derive a class from TObject, or from TNamespace.

    Args:
        text: Its module.
        node: The class.
        also: The attributes that it has besides those that it declares.
        edits: Where the change goes.
        is_open: It has attributes whose names are not known.
    """
    mark = dataclass_mark(text, node)
    base = "txloop.TNamespace" if is_open else "txloop.TObject"
    given = _options(mark) if mark else "" if is_open else ", dataclass=False"
    given += also_given(also)
    if node.bases and last_name(node.bases[0]) != "object":  # it is `abc.ABC`
        at, end = text.start(node.bases[0]), text.end(node.bases[-1])
        edits.replace(at, at, f"{base}, ")
        edits.replace(end, end, given)
        return
    given = f"{base}{given}"
    if node.bases:
        edits.replace(text.start(node.bases[0]), text.end(node.bases[0]), given)
        return
    if node.keywords:
        at = text.start(node.keywords[0])
        edits.replace(at, at, f"{given}, ")
        return
    start = text.start(node)
    head = re.compile(rf"class\s+{node.name}(\s*\(\s*\))?").match(text.source, start)
    assert head is not None, text.segment(node)[:80]
    name_end = start + head[0].index(node.name, len("class")) + len(node.name)
    edits.replace(name_end, head.end(), f"({given})")
