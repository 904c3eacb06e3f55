"""The program's methods that run without standing in the code.

They are walked through like methods that are called by name. Operators and builtins
call special methods. ``parser.feed(text)`` runs what a class derived from `HTMLParser`
does with each tag, and ``store.update(rows)`` what one derived from `MutableMapping`
does with an item: which methods a library's method may call is told by the names in the
library's code, and by its operators, from method to method.
"""

from __future__ import annotations

import ast
import dis
import functools
import sys
from collections import deque
from types import CodeType, FunctionType, MappingProxyType
from typing import TYPE_CHECKING

from txloop.scan.live_objects import has_type
from txloop.stm.origin import is_own_function, own_module_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "CALLERS",
    "SHOWING",
    "SHOWN_BY",
    "TRUTH",
    "asked_by",
    "calculating",
    "comparing",
    "in_place",
    "overridden_by",
    "reflected",
]

SHOWING = ("__format__", "__str__", "__repr__")
"""Those of what stands in an f-string: the first that there is."""

TRUTH = ("__bool__", "__len__")
"""Those of a condition."""

_COMPARING: Mapping[type[ast.cmpop], tuple[str, ...]] = MappingProxyType(
    {
        ast.Eq: ("__eq__",),
        ast.NotEq: ("__ne__", "__eq__"),
        ast.Lt: ("__lt__",),
        ast.LtE: ("__le__",),
        ast.Gt: ("__gt__",),
        ast.GtE: ("__ge__",),
        ast.In: ("__contains__", "__iter__"),
        ast.NotIn: ("__contains__", "__iter__"),
    }
)

_REFLECTED: Mapping[type[ast.cmpop], tuple[str, ...]] = MappingProxyType(
    {
        ast.Eq: ("__eq__",),
        ast.NotEq: ("__ne__", "__eq__"),
        ast.Lt: ("__gt__",),
        ast.LtE: ("__ge__",),
        ast.Gt: ("__lt__",),
        ast.GtE: ("__le__",),
    }
)

_CALCULATING: Mapping[type[ast.operator], str] = MappingProxyType(
    {
        ast.Add: "add",
        ast.Sub: "sub",
        ast.Mult: "mul",
        ast.MatMult: "matmul",
        ast.Div: "truediv",
        ast.FloorDiv: "floordiv",
        ast.Mod: "mod",
        ast.Pow: "pow",
        ast.LShift: "lshift",
        ast.RShift: "rshift",
        ast.BitAnd: "and",
        ast.BitXor: "xor",
        ast.BitOr: "or",
    }
)


_UNARY: Mapping[type[ast.unaryop], tuple[str, ...]] = MappingProxyType(
    {
        ast.Invert: ("__invert__",),
        ast.Not: TRUTH,
        ast.UAdd: ("__pos__",),
        ast.USub: ("__neg__",),
    }
)

_GOING_OVER = (
    *(all, any, dict, deque, enumerate, filter, frozenset, iter, list, map, max, min),
    *(set, sorted, sum, tuple, zip),
)
_INDEX = ("__index__",)

CALLERS = (filter, map, max, min, functools.reduce, sorted)
"""Builtins that call the functions they get, before they or their results end."""

SHOWN_BY = frozenset(
    [
        *("critical", "debug", "error", "exception", "fatal", "info", "log", "warn"),
        *("warning", "format", "format_map", "pformat", "pprint", "print", "repr"),
        *("safe_substitute", "str", "substitute"),
    ]
)
"""What makes texts of what it is given, and of what is in that: loggers, and others."""

_BUILTINS: tuple[tuple[object, tuple[str, ...]], ...] = (
    *((each, ("__iter__",)) for each in _GOING_OVER),
    *((each, _INDEX) for each in (bin, hex, oct, range)),
    (abs, ("__abs__",)),
    (bool, TRUTH),
    (bytes, ("__bytes__", "__iter__")),
    (float, ("__float__", "__index__")),
    (format, SHOWING),
    (hash, ("__hash__",)),
    (int, ("__int__", "__index__")),
    (len, ("__len__",)),
    (repr, ("__repr__",)),
    (reversed, ("__reversed__", "__len__")),
    (round, ("__round__",)),
    (str, ("__str__", "__repr__")),
)

_OF_PARTS: tuple[tuple[object, tuple[str, ...]], ...] = (
    (max, ("__gt__", "__lt__")),
    (min, ("__lt__", "__gt__")),
    (sorted, ("__lt__", "__gt__")),
    (sum, ("__radd__", "__add__")),
)


def asked_by(function: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what a builtin calls of what it gets, and of the parts of that.

    Of each of the two it calls the first that there is.
    """
    whole = next((names for each, names in _BUILTINS if each is function), ())
    parts = next((names for each, names in _OF_PARTS if each is function), ())
    return whole, parts


def reflected(op: ast.operator | ast.cmpop | ast.unaryop) -> tuple[str, ...]:
    """Return the method that an operator calls on what stands right of it."""
    if isinstance(op, ast.unaryop):
        return _UNARY[type(op)]
    if isinstance(op, ast.operator):
        return (f"__r{_CALCULATING[type(op)]}__",)
    return _REFLECTED.get(type(op), ())


def comparing(op: ast.cmpop) -> tuple[str, ...]:
    """Return the methods of which a comparison calls the first that there is.

    For `in` they are those of what stands right of it.
    """
    return _COMPARING.get(type(op), ())


def calculating(op: ast.operator) -> tuple[str, ...]:
    """Return the method that an operator calls on what stands left of it."""
    return (f"__{_CALCULATING[type(op)]}__",)


def in_place(op: ast.operator) -> tuple[str, ...]:
    """Return the methods of which an operator such as `+=` calls the first there is."""
    return (f"__i{_CALCULATING[type(op)]}__", *calculating(op))


_INSTRUCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "BINARY_SUBSCR": "__getitem__",
        "CONTAINS_OP": "__contains__",
        "DELETE_SUBSCR": "__delitem__",
        "GET_ITER": "__iter__",
        "STORE_SUBSCR": "__setitem__",
    }
)
"""The methods that instructions call."""

_COMPARED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "!=": ("__ne__", "__eq__"),
        "<": ("__lt__", "__gt__"),
        "<=": ("__le__", "__ge__"),
        "==": ("__eq__",),
        ">": ("__gt__", "__lt__"),
        ">=": ("__ge__", "__le__"),
    }
)
"""Those of comparisons, and of what these are of the other one."""

_OF_VIEWS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ItemsView": ("__getitem__", "__iter__"),
        "KeysView": ("__contains__", "__iter__"),
        "ValuesView": ("__getitem__", "__iter__"),
    }
)
"""Those that views call of the mapping that they are given."""


def overridden_by(cls: type, owner: type, name: str) -> tuple[str, ...]:
    """Return the methods of the program that a method of a library may call.

    Args:
        cls: The class of the object.
        owner: The class that has the method: the same, or one of its bases.
        name: The method.
    """
    raw = vars(owner).get(name)
    if not (is_pythons(owner) or _is_added(raw)):
        return ()
    found: dict[str, None] = {}
    seen, waiting = {name}, [raw]
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


def is_pythons(cls: type) -> bool:
    """Tell whether a class is of Python's library, and written in Python."""
    return own_module_of(cls) is None and _is_of_python(str(cls.__module__))


def _is_added(raw: object) -> bool:
    """Tell whether a decorator of Python's has given it to a class: `total_ordering`'s.

    It is a function of `functools`.
    """
    if not has_type(raw, FunctionType) or raw.__globals__ is None:
        return False  # the latter of PyPy's own
    return not is_own_function(raw) and _is_of_python(str(raw.__globals__["__name__"]))


def _is_of_python(module: str) -> bool:
    home = module.partition(".")[0]
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
    names.update(one for name in names & _OF_VIEWS.keys() for one in _OF_VIEWS[name])
    for each in _nested(code):
        for one in dis.get_instructions(each):
            name = _INSTRUCTIONS.get(one.opname)
            if one.opname == "BINARY_OP" and one.argrepr == "[]":
                name = "__getitem__"  # since Python 3.14
            if name is not None:
                names.add(name)
            if one.opname == "COMPARE_OP":
                names.update(_COMPARED.get(one.argval, ()))
    return frozenset(names)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _nested(each)
