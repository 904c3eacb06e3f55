"""How the program has set its arithmetic: decimal's context, numpy's errors.

Both live in context variables, but neither value is like others. A decimal context is
one mutable object that all tasks share which have inherited it; what numpy keeps is a
pointer, which no other process can read.
"""

from __future__ import annotations

import contextvars
import decimal
import sys
from typing import Any, TypeAlias

__all__ = [
    "DECIMAL",
    "NumpyState",
    "OwnDecimals",
    "is_numpy",
    "numpy_state",
    "own_decimals",
    "same_decimals",
    "set_numpy_state",
]


def _decimal_variable() -> contextvars.ContextVar[Any] | None:
    # The variable itself is hidden in C code.
    context = contextvars.Context()
    context.run(decimal.getcontext)
    return next(iter(context), None)


DECIMAL = _decimal_variable()
"""The variable that holds decimal's context; None where that belongs to the thread."""


def _settings(decimals: decimal.Context) -> tuple[object, ...]:
    # All but the flags, which each inexact operation sets.
    parts: Any = decimals.__reduce__()[1]
    *settings, _, traps = parts
    return (*settings, frozenset(traps))


_SETTINGS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp", "traps")


def same_decimals(one: decimal.Context, other: decimal.Context) -> bool:
    """Tell whether they compute alike."""
    return one is other or _settings(one) == _settings(other)


class OwnDecimals:
    """An attempt's own copy of decimal's context, so that it can be thrown away."""

    __slots__ = ("_before", "_copy", "_shared")

    def __init__(self, shared: decimal.Context) -> None:
        """Copy what others share."""
        self._copy = shared.copy()
        self._before = _settings(shared)
        self._shared = shared

    @property
    def changed(self) -> bool:
        """Whether the attempt has changed what others share.

        What it puts in its place (`decimal.setcontext`, `decimal.localcontext`) is its
        own anyway.
        """
        return _settings(self._copy) != self._before

    def share(self) -> None:
        """Change what others share likewise: the attempt is not thrown away.

        Called while the loop thread waits.
        """
        for name in _SETTINGS:
            setattr(self._shared, name, getattr(self._copy, name))


def own_decimals(context: contextvars.Context) -> OwnDecimals | None:
    """Put a copy into `context`, if there is one in it that others share."""
    if DECIMAL is None or DECIMAL not in context:
        return None
    own = OwnDecimals(context[DECIMAL])
    context.run(DECIMAL.set, own._copy)
    return own


NumpyState: TypeAlias = tuple[dict[str, str], int, object]
"""What numpy does with errors, the size of its buffers, and what it calls."""


def is_numpy(variable: contextvars.ContextVar[Any]) -> bool:
    """Tell whether numpy keeps its error state in this variable, as from 2.0 on."""
    return variable.name == "numpy.ufunc.extobj"


def numpy_state() -> NumpyState | None:
    """Return numpy's error state in this context and thread; None without numpy."""
    numpy: Any = sys.modules.get("numpy")
    if not hasattr(numpy, "geterr"):
        return None
    return numpy.geterr(), numpy.getbufsize(), numpy.geterrcall()


def set_numpy_state(state: NumpyState | None) -> None:
    """Set it here."""
    numpy: Any = sys.modules.get("numpy")
    if state is not None and numpy is not None:
        errors, buffer_size, call = state
        numpy.seterr(**errors)
        numpy.setbufsize(buffer_size)
        numpy.seterrcall(call)
