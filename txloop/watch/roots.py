"""Where the walk of a call begins: what its function really runs."""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

from txloop.watch.parts import is_by_reference
from txloop.watch.places import Roots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["ROOTS_OF", "add_functions", "known_functions", "roots_of"]

ROOTS_OF = "__txloop_roots__"
"""The attribute of a function that tells, given its arguments, what it really runs."""


_functions: list[Callable[[], Iterable[Roots]]] = []  # filled at import


def add_functions(roots: Callable[[], Iterable[Roots]]) -> None:
    """Have pictures taken of all that these functions reach, called yet or not."""
    _functions.append(roots)


def known_functions() -> Iterator[Roots]:
    """Yield the roots of the functions that `add_functions` tells, as it is now."""
    for roots in _functions:
        yield from roots()


def roots_of(function: Callable[..., object], args: Sequence[object]) -> Roots:
    """Return where to look for what a call can reach.

    What travels by value, such as its arguments, is not among it: see `Given`.
    """
    tell = getattr(function, ROOTS_OF, None)
    if tell is not None:
        roots: Roots = tell(*args)
        return roots
    bare, owner = _peeled(function)
    name = getattr(bare, "__qualname__", type(bare).__qualname__)
    things: list[tuple[str, object]] = []
    names = frozenset[str]()
    if isinstance(bare, types.FunctionType):
        things.append((name, bare if is_by_reference(bare) else _emptied(bare)))
        key: object = bare.__code__
    else:
        things.append((name, type(bare)))
        names, key = frozenset(["__call__"]), type(bare)
    if isinstance(owner, type):
        things.append((owner.__qualname__, owner))
    return Roots(key, tuple(things), names)


def _peeled(function: Any) -> tuple[Any, object]:
    """Return what is inside of partials and methods, and whose method it is."""
    bare, owner = function, None
    while True:
        if isinstance(bare, functools.partial):
            bare = bare.func
        elif isinstance(bare, types.MethodType):
            bound: Any = bare
            bare, owner = bound.__func__, bound.__self__
        else:
            return bare, owner


def _emptied(function: types.FunctionType) -> types.FunctionType:
    """Return a function without what is around it: that travels by value."""
    code = function.__code__
    cells = tuple(types.CellType() for _ in code.co_freevars)
    return types.FunctionType(code, function.__globals__, closure=cells or None)
