"""Pickles with functions and classes by value, on every interpreter.

That is what cloudpickle is for. On PyPy for Python 3.11 its 3.1 pickles code, and the
classes of locks, in a way that cannot be undone; and PyPy's `dis`, which it asks for
the names of globals, fails at variables of closures. All is mended here, there alone.
"""

from __future__ import annotations

import contextlib
import dis
import io
import sys
import types
from collections import ChainMap
from typing import TYPE_CHECKING, Any

import cloudpickle  # type: ignore[import-untyped] # it ships no types

from txloop.stm.held import UNASKED, refuse_unasked, travel_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["HEAP_TYPE", "ByValuePickler", "by_value", "dumps_by_value"]


def dumps_by_value(thing: object, protocol: int) -> bytes:
    """Pickle `thing`; what has no importable name, by value."""
    with io.BytesIO() as file:
        asks = UNASKED.isdisjoint(travel_table)
        (_Pickler if asks else _Asking)(file, protocol=protocol).dump(thing)
        return file.getvalue()


def _reduce_code(code: types.CodeType) -> tuple[Any, ...]:
    """Return the arguments of PyPy's constructor of code, which differ from CPython's.

    They are those of CPython 3.11 without a table of exceptions.
    """
    arguments = (
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_nlocals,
        code.co_stacksize,
        code.co_flags,
        code.co_code,
        code.co_consts,
        code.co_names,
        code.co_varnames,
        code.co_filename,
        code.co_name,
        code.co_qualname,
        code.co_firstlineno,
        code.co_linetable,
        code.co_freevars,
        code.co_cellvars,
    )
    return types.CodeType, arguments


_GLOBAL_OPS = {
    dis.opmap[name]
    for name in ("LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL")
    if name in dis.opmap
}


def _global_names(code: types.CodeType) -> Iterator[str]:
    """Yield the names of the globals that PyPy's bytecode refers to."""
    extended = 0
    for operation, argument in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        argument |= extended
        extended = argument << 8 if operation == dis.EXTENDED_ARG else 0
        if operation in _GLOBAL_OPS:
            yield code.co_names[argument]


def _reduce_file(file: Any) -> tuple[Any, ...]:
    """Return a standard stream's name; another file cannot be somewhere else.

    cloudpickle reads it and makes a `StringIO` of what is in it.
    """
    for name in ("stdout", "stderr"):
        if file is getattr(sys, name):
            return getattr, (sys, name)
    raise TypeError(f"cannot pickle {type(file).__qualname__!r} object")


HEAP_TYPE = 1 << 9
"""CPython's `Py_TPFLAGS_HEAPTYPE`: of classes that a class statement has made."""


def _save_class(pickler: Any, kind: Any, name: Any = None, **options: Any) -> None:
    """Save a class or function, unless it is an interpreter's that has no name.

    By value such a class, for instance that of locks, could not be made again.
    """
    own = isinstance(kind, type) and not kind.__flags__ & HEAP_TYPE
    names = cloudpickle.cloudpickle._BUILTIN_TYPE_NAMES
    by_name = cloudpickle.cloudpickle._should_pickle_by_reference
    if own and kind not in names and kind is not type(None) and not by_name(kind):
        raise TypeError(f"cannot pickle '{kind.__module__}.{kind.__qualname__}' object")
    cloudpickle.CloudPickler.save_global(pickler, kind, name, **options)


_Stock: Any = cloudpickle.CloudPickler
_reducers = ChainMap(
    travel_table, {io.TextIOWrapper: _reduce_file}, _Stock.dispatch_table
)
_mended: dict[str, Any] = {"dispatch_table": _reducers}

if sys.implementation.name == "pypy":
    _mended = {
        "dispatch_table": _reducers.new_child({types.CodeType: _reduce_code}),
        "dispatch": {**_Stock.dispatch, type: _save_class},
        "save_global": _save_class,
    }
    cloudpickle.cloudpickle._walk_global_ops = _global_names

_Pickler: Any = type("_Pickler", (_Stock,), _mended)

# It is asked about each object, which is slower.
_Asking: Any = type("_Asking", (_Pickler,), {"persistent_id": refuse_unasked})

ByValuePickler: Any = _Pickler
"""The class of picklers by value, for those who add to what it does."""


@contextlib.contextmanager
def by_value(modules: Iterable[types.ModuleType]) -> Iterator[None]:
    """Let classes and functions of these modules go by value, though they have names.

    Loop thread only.
    """
    already = cloudpickle.list_registry_pickle_by_value()
    added = [one for one in modules if one.__name__ not in already]
    for module in added:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in added:
            cloudpickle.unregister_pickle_by_value(module)
