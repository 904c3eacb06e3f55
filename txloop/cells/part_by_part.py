"""Functions of the standard library that go through plain objects part by part.

They tell by the very class of an object whether it has parts. So a container would be
one piece to them: `pprint` would not break it into lines, and `dataclasses.asdict`
would leave a dataclass in a list as it is. After `like_plain` they are given a plain
object in its place, level by level. Each has a function or a table for that without a
public name; where an interpreter does not have it, a container stays one piece.
"""

from __future__ import annotations

import dataclasses
import functools
import pprint
import reprlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["begin", "print_like"]


def begin(plain_of: Callable[[type], type | None]) -> None:
    """Let them go through containers, too, in the whole process.

    Args:
        plain_of: Returns what the objects of a class pass for; None for themselves.
    """
    _sort_in_pprint(plain_of)
    _go_through_in_dataclasses(plain_of)


def print_like(shared: type, plain: type) -> None:
    """Let objects of a class, which print as plain ones, be broken into lines, too."""
    ways = getattr(pprint.PrettyPrinter, "_dispatch", {})
    if plain.__repr__ in ways:
        ways[shared.__repr__] = ways[plain.__repr__]
    # Where each name has a module there, no other class of that name is gone through.
    getattr(reprlib.Repr, "_lookup", {}).pop(plain.__name__, None)


def _go_through_in_dataclasses(plain_of: Callable[[type], type | None]) -> None:
    its: Any = dataclasses
    if hasattr(its, "_asdict_inner") and hasattr(its, "_astuple_inner"):
        dict_of, tuple_of = its._asdict_inner, its._astuple_inner
        dataclasses._asdict_inner = _given_plain(dict_of, plain_of)  # type: ignore[attr-defined] # private
        dataclasses._astuple_inner = _given_plain(tuple_of, plain_of)  # type: ignore[attr-defined] # private


def _given_plain(
    stock: Callable[..., Any], plain_of: Callable[[type], type | None]
) -> Callable[..., Any]:
    @functools.wraps(stock)
    def given_plain(value: Any, *rest: Any) -> Any:
        shared = plain_of(type(value)) is not None and hasattr(value, "copy")
        return stock(value.copy() if shared else value, *rest)

    return given_plain


def _sort_in_pprint(plain_of: Callable[[type], type | None]) -> None:
    stock = pprint.PrettyPrinter._safe_repr  # what all others of pprint call

    def format_plain(
        self: pprint.PrettyPrinter,
        value: Any,
        context: dict[int, int],
        maxlevels: int,
        level: int,
    ) -> tuple[str, bool, bool]:
        number = id(value)
        if plain_of(type(value)) not in (dict, list):
            return stock(self, value, context, maxlevels, level)
        if number in context:
            name = type(value).__name__
            return f"<Recursion on {name} with id={number}>", False, True
        context[number] = 1  # that of the plain one is another at each level
        try:
            return stock(self, value.copy(), context, maxlevels, level)
        finally:
            del context[number]

    wrapper: Any = format_plain
    pprint.PrettyPrinter._safe_repr = wrapper  # type: ignore[method-assign] # wraps it
