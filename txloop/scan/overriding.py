"""What methods of the standard library call of the program's classes.

``parser.feed(text)`` runs what a class derived from `HTMLParser` does with each tag,
and ``store.update(rows)`` what one derived from `MutableMapping` does with an item.
Nothing in the program says so. Which methods that may be is told by the names in the
library's code, and by its operators, from method to method.
"""

from __future__ import annotations

import dis
import functools
import sys
from types import CodeType, FunctionType, MappingProxyType
from typing import TYPE_CHECKING

from txloop.scan.live_objects import has_type
from txloop.stm.origin import own_module_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["overridden_by"]

_OPERATORS: Mapping[str, str] = MappingProxyType(
    {
        "BINARY_SUBSCR": "__getitem__",
        "CONTAINS_OP": "__contains__",
        "DELETE_SUBSCR": "__delitem__",
        "GET_ITER": "__iter__",
        "STORE_SUBSCR": "__setitem__",
    }
)
"""The methods that instructions call."""


def overridden_by(cls: type, owner: type, name: str) -> tuple[str, ...]:
    """Return the methods of the program that a method of a library may call.

    Args:
        cls: The class of the object.
        owner: The class among its bases that has the method.
        name: The method.
    """
    if own_module_of(owner) is not None or not _is_pythons(owner):
        return ()
    found: dict[str, None] = {}
    seen, waiting = {name}, [vars(owner).get(name)]
    while waiting:
        for each in _named_in(waiting.pop()) - seen:
            seen.add(each)
            holder = next((one for one in cls.__mro__ if each in vars(one)), None)
            if holder is None:
                continue
            if own_module_of(holder) is None:
                waiting.append(vars(holder)[each])
            else:
                found[each] = None
    return tuple(sorted(found))


def _is_pythons(cls: type) -> bool:
    home = str(cls.__module__).partition(".")[0]
    return home != "builtins" and home in sys.stdlib_module_names


def _named_in(raw: object) -> frozenset[str]:
    function = getattr(raw, "__func__", raw)
    if not has_type(function, FunctionType) or function.__globals__ is None:
        return frozenset()  # the latter of PyPy's own
    return _names(function.__code__)


@functools.lru_cache
def _names(code: CodeType) -> frozenset[str]:
    """Return the names and the special methods that code uses."""
    names = {name for each in _nested(code) for name in each.co_names}
    for each in _nested(code):
        for one in dis.get_instructions(each):
            name = _OPERATORS.get(one.opname)
            if one.opname == "BINARY_OP" and one.argrepr == "[]":
                name = "__getitem__"  # since Python 3.14
            if name is not None:
                names.add(name)
    return frozenset(names)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _nested(each)
