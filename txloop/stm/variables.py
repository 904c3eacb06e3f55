"""Context variables: those that an effect finds, and how values travel.

Between processes they travel by the name of a module global. How the program has set
its arithmetic, decimal's context and numpy's errors, lives in context variables, too,
but neither value is like others. A decimal context is one mutable object that all tasks
share which have inherited it; what numpy keeps is a pointer, which no other process can
read.
"""

from __future__ import annotations

import contextvars
import decimal
import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

__all__ = [
    "DECIMAL",
    "Name",
    "Named",
    "NumpyState",
    "OwnDecimals",
    "Variables",
    "is_numpy",
    "named",
    "named_value",
    "numpy_state",
    "own_decimals",
    "same_decimals",
    "set_all",
    "set_numpy_state",
]

T = TypeVar("T")

Name: TypeAlias = tuple[str, str]
"""A module, and a global in it: a variable, or a function that sets one."""

Named: TypeAlias = Mapping[Name, object]
"""Values of variables."""

_names: dict[contextvars.ContextVar[Any], Name] = {}  # a registry


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


class Variables:
    """What code that runs at the commit finds in context variables; pickles.

    Attributes:
        base: The context in which the attempt has begun; when they have arrived from
            another process, that of the call takes its place.
        context: Has their values; None before the attempt has ended.
    """

    __slots__ = ("_values", "base", "context")

    def __init__(
        self, base: contextvars.Context, context: contextvars.Context | None = None
    ) -> None:
        self.base = base
        self.context = context
        self._values: Named = {}

    def __reduce__(self) -> tuple[object, ...]:
        return _arrived, (named(self.context, self.base) if self.context else {},)

    def run(self, function: Callable[..., T], *args: object, **kwargs: object) -> T:
        """Call a function that finds them."""
        if self.context is None:  # they have arrived from where only these were set
            self.context = self.base.copy()
            self.context.run(set_all, self._values)
        # A copy: one of them may have others run within itself, by closing the loop.
        return self.context.copy().run(function, *args, **kwargs)


def _arrived(values: Named) -> Variables:
    variables = Variables(contextvars.Context())
    variables._values = values
    return variables


def named(context: contextvars.Context, without: contextvars.Context) -> Named:
    """Return the values in `context` that are not the same in `without`.

    Raises:
        TypeError: if a variable is no module global, so that no name leads to it.
    """
    found = {}
    for variable, value in context.items():
        if without.get(variable, _names) is not value:
            name, portable = named_value(variable, value, context)
            found[name] = portable
    return found


def set_all(values: Named) -> None:
    """Set those values in the current context."""
    for (module, name), value in values.items():
        found = getattr(importlib.import_module(module), name)
        setter = found.set if isinstance(found, contextvars.ContextVar) else found
        setter(value)


def named_value(
    variable: contextvars.ContextVar[Any], value: object, context: contextvars.Context
) -> tuple[Name, object]:
    """Return the name by which a variable is set elsewhere, and to what.

    Raises:
        TypeError: if there is none.
    """
    if variable is DECIMAL:
        return ("decimal", "setcontext"), value
    if is_numpy(variable):
        state = context.copy().run(numpy_state)
        return ("txloop.stm.variables", "set_numpy_state"), state
    return _name_of(variable), value


def _name_of(variable: contextvars.ContextVar[Any]) -> Name:
    name = _names.get(variable)
    if name is None:
        for module in list(sys.modules.values()):
            for attribute, value in list(getattr(module, "__dict__", {}).items()):
                if isinstance(value, contextvars.ContextVar):
                    _names.setdefault(value, (module.__name__, attribute))
        name = _names.get(variable)
    if name is None:
        raise TypeError(f"the context variable {variable.name!r} is no module global")
    return name
