"""What the source says about objects that the scan does not have.

The application may be made after the scan; what it will hold is then guessed from what
the source stores under the same name.
"""

from __future__ import annotations

import ast
from types import MappingProxyType
from typing import TYPE_CHECKING

from txloop.scan.things import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_DISPLAYS: Mapping[type, object] = MappingProxyType(
    {
        ast.Dict: {},
        ast.DictComp: {},
        ast.List: [],
        ast.ListComp: [],
        ast.Set: set(),
        ast.SetComp: set(),
    }
)
_MAKERS: Mapping[str, object] = MappingProxyType(
    {
        "Counter": {},
        "OrderedDict": {},
        "bytearray": bytearray(),
        "defaultdict": {},
        "deque": [],
        "dict": {},
        "list": [],
        "set": set(),
    }
)


def evidence(tree: ast.Module) -> Iterator[tuple[str, object]]:
    """Return names with an object like the one stored under them, or UNKNOWN."""
    for name, value in _stored(tree):
        if type(value) in _DISPLAYS:
            yield name, _DISPLAYS[type(value)]
        elif isinstance(value, ast.Call):
            maker = getattr(value.func, "attr", getattr(value.func, "id", ""))
            yield name, _MAKERS.get(maker, UNKNOWN)


def _stored(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Return what is stored as an attribute, or passed by keyword or key."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                for each in targets:
                    if isinstance(each, ast.Attribute):
                        yield each.attr, value
            case ast.AnnAssign(ast.Attribute(attr=name), value=ast.expr() as value):
                yield name, value
            case ast.keyword(arg=str(name), value=value):
                yield name, value
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield key.value, value
