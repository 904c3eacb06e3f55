"""Contexts that travel to another process: only what differs from what is there.

A worker has inherited the context in which it was forked, whatever is in it; a `Base`
keeps it, on both sides. Of a call's context travels what is not the same there: with
its value the number that a variable has in the base, or the name of a module global.

A value that can change is sent each time, since it may have changed since the fork.
"""

from __future__ import annotations

import contextvars
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from txloop.executors.codec.frames import UNPICKLABLE, dumps
from txloop.executors.threads.isolation import is_constant
from txloop.stm.variables import (
    DECIMAL,
    Named,
    is_numpy,
    named_value,
    same_decimals,
    set_all,
)

__all__ = ["Base", "Difference"]

Difference: TypeAlias = tuple[Sequence[int], Mapping[int, object], Named]
"""The numbers of variables that are not set; values by number, and by name."""

_Variable: TypeAlias = contextvars.ContextVar[Any]


class Base:
    """The context that workers inherit; owned by the loop thread, then by each worker.

    Attributes:
        context: In a worker it also has what start hooks set there.
    """

    def __init__(self) -> None:
        self.context = contextvars.Context()
        self._variables: list[_Variable] = []
        self._numbers: dict[_Variable, int] = {}

    def capture(self, context: contextvars.Context) -> None:
        """Remember what is in `context`; just before workers are forked."""
        self.context = context.copy()
        if DECIMAL is not None and DECIMAL in context:
            # A copy, because the program may change its own one.
            self.context.run(DECIMAL.set, context[DECIMAL].copy())
        self._variables = list(self.context)
        self._numbers = {each: n for n, each in enumerate(self._variables)}

    def difference(self, context: contextvars.Context) -> bytes | None:
        """Return what `restored` needs to make `context` again; None for nothing.

        Raises:
            TypeError: if no name leads to a variable, or if a value does not pickle.
        """
        known = 0
        by_number: dict[int, object] = {}
        by_name: dict[tuple[str, str], object] = {}
        for variable, value in context.items():
            number = self._numbers.get(variable)
            if number is not None:
                known += 1
                if _is_same(variable, value, self.context[variable]):
                    continue
            if number is None or variable is DECIMAL or is_numpy(variable):
                name, portable = named_value(variable, value, context)
                by_name[name] = portable
            else:
                by_number[number] = value
        if known == len(self._variables) and not by_number and not by_name:
            return None
        variables = enumerate(self._variables)
        missing = [number for number, one in variables if one not in context]
        try:
            return dumps((missing, by_number, by_name))
        except UNPICKLABLE as error:
            raise TypeError(f"the value of a context variable, {error}") from None

    def restored(self, difference: Difference | None) -> contextvars.Context:
        """Return a new context that differs so from the base."""
        if difference is None:
            return self.context.copy()
        missing, by_number, by_name = difference
        context = self._without(missing) if missing else self.context.copy()
        for number, value in by_number.items():
            context.run(self._variables[number].set, value)
        context.run(set_all, by_name)
        return context

    def _without(self, missing: Sequence[int]) -> contextvars.Context:
        # What was set cannot be unset.
        absent = {self._variables[number] for number in missing}
        context = contextvars.Context()
        for variable, value in self.context.items():
            if variable not in absent:
                context.run(variable.set, value)
        return context


def _is_same(variable: _Variable, value: Any, inherited: Any) -> bool:
    """Tell whether a value is what a worker has inherited, and cannot have changed."""
    if variable is DECIMAL:
        return same_decimals(value, inherited)
    return value is inherited and (is_constant(value) or is_numpy(variable))
