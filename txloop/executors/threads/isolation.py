"""Calls for other threads: what a run could change, it gets as a copy of its own.

A transaction may run more than once, and beside the code that asked for it. In another
process it has copies of its arguments anyway; a thread gets the same ones, made in the
same way, so that a program does not depend on where its transactions run. What cannot
change, and containers, are passed as they are.
"""

from __future__ import annotations

import dataclasses
import functools
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Never

from txloop.executors.codec.frames import dumps, loads
from txloop.stm.callables import is_found_by_name
from txloop.stm.container import Container
from txloop.stm.immutability import CONSTANTS
from txloop.stm.types import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.stm.types import Call

__all__ = ["PRIVATE", "is_constant", "isolated", "opened"]

PRIVATE = "__txloop_private__"
"""What a class has whose objects no attempt changes, or of which each makes a copy."""

_DEEP = 4  # what is nested deeper is copied, whatever it is


class _Copied:
    """Stands for a function and its arguments, which every run unpacks for itself."""

    __slots__ = ("payload",)

    def __init__(self, payload: bytes) -> None:
        self.payload = payload

    def __call__(self) -> Never:
        raise TypeError("a packed call was called; unpack it by opened()")


def isolated(call: Call) -> Call:
    """Return `call` so that another thread may open and run it; on the loop thread.

    Raises:
        UNPICKLABLE: if something in it can be changed, and cannot be copied.
    """
    parts = (call.function, call.args, dict(call.kwargs))
    if (
        is_constant(call.function)
        and all(map(is_constant, call.args))
        and all(map(is_constant, call.kwargs.values()))
    ):
        return call
    copied: Callable[..., object] = _Copied(dumps(parts))
    return dataclasses.replace(call, function=copied, args=(), kwargs={})


def opened(call: Call) -> Call | Refusal:
    """Return what `isolated` has packed, in the thread that runs it."""
    copied: Any = call.function
    if type(copied) is not _Copied:
        return call
    try:
        function, args, kwargs = loads(copied.payload)
    except Exception as error:  # whatever the classes of the program raise
        return Refusal(f"its arguments cannot be copied ({error!r})")
    return dataclasses.replace(call, function=function, args=args, kwargs=kwargs)


def is_constant(value: Any, depth: int = 0) -> bool:
    """Tell whether `value` cannot change, as far as that is easily seen."""
    kind = type(value)
    if kind in CONSTANTS or isinstance(value, Container | type):
        return True
    if depth == _DEEP:
        return False
    if kind is tuple or kind is frozenset:
        return all(is_constant(part, depth + 1) for part in value)
    if kind is FunctionType:
        return _is_constant_function(value, depth + 1)
    if kind is BuiltinFunctionType or kind is MethodType:
        owner = value.__self__
        return (
            owner is None
            or isinstance(owner, ModuleType)
            or is_constant(owner, depth + 1)
        )
    if kind is functools.partial:
        parts = (value.func, *value.args, *value.keywords.values())
        return all(is_constant(part, depth + 1) for part in parts)
    return hasattr(kind, PRIVATE)


def _is_constant_function(function: FunctionType, depth: int) -> bool:
    cells = function.__closure__ or ()
    if not all(_is_constant_cell(cell, depth) for cell in cells):
        return False
    defaults = (
        *(function.__defaults__ or ()),
        *(function.__kwdefaults__ or {}).values(),
    )
    # One that is found by name is never copied, and its defaults are watched.
    return all(is_constant(one, depth) for one in defaults) or is_found_by_name(
        function
    )


def _is_constant_cell(cell: Any, depth: int) -> bool:
    try:
        return is_constant(cell.cell_contents, depth)
    except ValueError:  # it is empty, and may be filled
        return False
