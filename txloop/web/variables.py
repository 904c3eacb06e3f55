"""Context variables that travel between processes, by the name of a module global."""

from __future__ import annotations

import contextvars
import importlib
import sys
from collections.abc import Mapping

__all__ = ["Named", "context_with", "named", "set_all"]

Named = Mapping[tuple[str, str], object]
"""Values by the module and the global name of their variable."""

_names: dict[contextvars.ContextVar[object], tuple[str, str]] = {}  # a registry

# Set by C code and in no module; workers start with the default one.
_UNNAMED = frozenset({"decimal_context"})


def named(context: contextvars.Context, without: contextvars.Context | None) -> Named:
    """Return the values in `context` that are not the same in `without`.

    Raises:
        TypeError: if a variable is no module global, so that no name leads to it.
    """
    found = {}
    for variable, value in context.items():
        if without is not None and without.get(variable, _names) is value:
            continue
        if variable.name not in _UNNAMED:
            found[_name_of(variable)] = value
    return found


def context_with(values: Named) -> contextvars.Context:
    """Return a new context with those values."""
    context = contextvars.Context()
    context.run(set_all, values)
    return context


def set_all(values: Named) -> None:
    """Set those values in the current context."""
    for (module, name), value in values.items():
        getattr(importlib.import_module(module), name).set(value)


def _name_of(variable: contextvars.ContextVar[object]) -> tuple[str, str]:
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
