"""Context variables: those that an effect finds, and how values travel.

Between processes they travel by the name of a module global.
"""

from __future__ import annotations

import contextvars
import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from txloop.stm.arithmetic import DECIMAL, is_numpy, numpy_state

__all__ = ["Name", "Named", "Variables", "named", "named_value", "set_all"]

T = TypeVar("T")

Name: TypeAlias = tuple[str, str]
"""A module, and a global in it: a variable, or a function that sets one."""

Named: TypeAlias = Mapping[Name, object]
"""Values of variables."""

_names: dict[contextvars.ContextVar[Any], Name] = {}  # a registry


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
        return ("txloop.stm.arithmetic", "set_numpy_state"), state
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
