"""What of txloop itself belongs to a program, and goes along where that is copied.

A forked process inherits all. A process on another machine is given what the modules
that know something register here, at import: which code the program claims, what its
`on_worker_start` functions are, which numbers its request handlers have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["carried", "carry", "put_carried", "reduce_carried", "reducer_of"]

_parts: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {}

_reducers: dict[type, Callable[[Any], tuple[Any, ...]]] = {}


def carry(name: str, take: Callable[[], Any], put: Callable[[Any], object]) -> None:
    """Have something go along; call it at import.

    Args:
        name: Tells it from other things.
        take: Returns it where the program is; called on the loop thread.
        put: Given it where the copy is, before anything runs there.
    """
    _parts[name] = take, put


def reduce_carried(kind: type, reduce: Callable[[Any], tuple[Any, ...]]) -> None:
    """Have objects of a class, and of its subclasses, made anew; call it at import."""
    _reducers[kind] = reduce


def reducer_of(kind: type) -> Callable[[Any], tuple[Any, ...]] | None:
    """Return what takes objects of that class apart for a copy, if anything."""
    return next((_reducers[one] for one in kind.__mro__ if one in _reducers), None)


def carried() -> dict[str, Any]:
    """Return all that goes along, by name."""
    return {name: take() for name, (take, _) in _parts.items()}


def put_carried(parts: Mapping[str, Any]) -> None:
    """Put all that came along in its place."""
    for name, part in parts.items():
        _parts[name][1](part)
