"""Which attributes the code of a class gives its objects, where it declares none.

What is not seen here (`setattr`, code outside of the class) is refused at run time,
with advice to declare it. What is seen and belongs to another object costs a place in
the row and does no harm.
"""

from __future__ import annotations

import dis
import functools
import re
import sys
import types
import typing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["assigned_names", "declared_in", "names_in", "slots_of"]

_CLASS_VARIABLE = re.compile(r"^(\w+\.)*(ClassVar|Final\[ClassVar)\b")


def assigned_names(cls: type) -> list[str]:
    """Return the names that a class declares, has slots for, caches or assigns.

    What its constructor sets comes first, as in the `__dict__` of a plain object.
    """
    declared = declared_in(cls)
    found: dict[str, None] = {}
    for function in _functions_in(vars(cls).get("__init__")):
        stored = names_in(function.__code__, "STORE_ATTR")
        shared = (n for n in stored if _is_shared(declared.get(n, n)))
        found.update(dict.fromkeys(shared))
    found.update(dict.fromkeys(n for n, kind in declared.items() if _is_shared(kind)))
    found.update(dict.fromkeys(slots_of(cls)))
    constants = declared.keys() - found.keys()
    for name, thing in vars(cls).items():
        if isinstance(thing, functools.cached_property):
            found[name] = None
        for function in _functions_in(thing):
            found.update(dict.fromkeys(names_in(function.__code__, "STORE_ATTR")))
    return [name for name in found if name not in constants]


def declared_in(cls: type) -> Mapping[str, object]:
    """Return what a class itself annotates: names, and what is known of their types."""
    if sys.version_info >= (3, 14):
        from annotationlib import Format, get_annotations

        # Some may name what is not there yet, or for type checkers only.
        return get_annotations(cls, format=Format.FORWARDREF)
    found: Mapping[str, object] = vars(cls).get("__annotations__", {})
    return found


def slots_of(cls: type) -> list[str]:
    """Return the names of the slots of a class, those that it has itself."""
    return [
        name
        for name, thing in vars(cls).items()
        if isinstance(thing, types.MemberDescriptorType)
    ]


def _is_shared(annotation: object) -> bool:
    if isinstance(annotation, str):
        return not _CLASS_VARIABLE.match(annotation.strip("'\""))
    return typing.ClassVar not in (annotation, typing.get_origin(annotation))


def _functions_in(thing: Any) -> Iterator[types.FunctionType]:
    """Yield the functions of a class's attribute, without what decorates them."""
    if isinstance(thing, property):
        parts: list[Any] = [thing.fget, thing.fset, thing.fdel]
    elif isinstance(thing, functools.cached_property):
        parts = [thing.func]
    else:
        parts = [getattr(thing, "__func__", thing)]
    for part in parts:
        function = part
        while hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        code = getattr(function, "__code__", None)
        # PyPy's own are functions, too, with code that is none of Python's.
        if isinstance(function, types.FunctionType) and isinstance(
            code, types.CodeType
        ):
            yield function


def names_in(code: types.CodeType, operation: str) -> Iterator[str]:
    """Yield the names that code gives to an operation, its inner functions, too."""
    try:
        steps = list(dis.get_instructions(code))
    except IndexError:  # PyPy's fails at some variables of closures
        yield from code.co_names
    else:
        yield from (step.argval for step in steps if step.opname == operation)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant, operation)
