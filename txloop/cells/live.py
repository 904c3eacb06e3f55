"""Loops that see what their bodies do to a container, as over plain objects.

A list is gone over by index, so that deleting the item at hand skips the next;
dicts, sets and deques raise RuntimeError. Programs that were written for plain objects
have come to rely on that, rightly or not. A loop over a list gets a list of its own,
which follows what its own code does to the shared one; what others commit meanwhile it
does not see.
"""

from __future__ import annotations

import functools
import itertools
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from txloop.stm.attempt import Attempt, running

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator

__all__ = [
    "begin",
    "iterate_list",
    "iterate_unchanged",
    "iterate_unresized",
    "note_write",
    "on",
]

on = False
"""Whether loops do; otherwise they go over what there is when they start."""


class _GoneOver(threading.local):
    """What loops of this thread go over: number, attempt, what to do at a change."""

    def __init__(self) -> None:
        self.loops: dict[int, tuple[int, Attempt | None, Callable[[bool], object]]] = {}


_keys = itertools.count()
_gone_over = _GoneOver()


def begin() -> None:
    """Let loops see what their bodies do, from now on, in the whole process."""
    global on
    on = True


def note_write(shared: Any, moves: bool) -> None:
    """Tell loops over a list or a deque that their own code has written to it.

    Args:
        shared: What it has written to.
        moves: Whether it does more than to replace items.
    """
    for number, attempt, note in list(_gone_over.loops.values()):
        if number == shared._tx_number and attempt is running.attempt:
            note(moves)


@contextmanager
def _told(shared: Any, note: Callable[[bool], object]) -> Generator[None]:
    """Have `note` called for each of these writes meanwhile."""
    key, loops = next(_keys), _gone_over.loops
    loops[key] = shared._tx_number, running.attempt, note
    try:
        yield
    finally:
        loops.pop(key, None)  # another thread may end it


def iterate_list(shared: Any, backwards: bool = False) -> Iterator[Any]:
    """Go over a list as over a plain one."""
    items = list(shared._contents())

    def renew(_: bool) -> None:
        items[:] = shared._contents()

    with _told(shared, renew):
        yield from reversed(items) if backwards else items


def iterate_unchanged(shared: Any, backwards: bool = False) -> Iterator[Any]:
    """Go over a deque, and fail when it is changed meanwhile."""
    items, moved = list(shared._contents()), False

    def renew(moves: bool) -> None:
        nonlocal moved
        moved = moved or moves
        items[:] = shared._contents()

    complaint = _complaint(shared.__class__, backwards)
    with _told(shared, renew):
        parts = reversed(items) if backwards else items
        yield from _unless(lambda: moved, parts, len(items), complaint)


def iterate_unresized(
    shared: Any, parts: Collection[Any], backwards: bool = False
) -> Iterator[Any]:
    """Go over what a dict or a set has, and fail when it is more or less meanwhile."""
    size = len(shared)
    complaint = _complaint(shared.__class__, backwards)
    return _unless(lambda: len(shared) != size, parts, size, complaint)


def _unless(
    changed: Callable[[], bool],
    parts: Iterable[Any],
    last: int,
    complaint: tuple[str, bool],
) -> Iterator[Any]:
    message, also_last = complaint
    for number, part in enumerate(parts, 1):
        yield part
        if changed() and (also_last or number < last):
            raise RuntimeError(message)


@functools.cache
def _complaint(kind: type, backwards: bool) -> tuple[str, bool]:
    """Return what a changed one of a plain class says, and whether after its last part.

    It depends on the interpreter.
    """
    said = []
    for size in (2, 1):
        made = kind()
        for one in range(size):
            if isinstance(made, dict):
                made[one] = one
            else:
                (made.add if isinstance(made, set) else made.append)(one)
        parts = reversed(made) if backwards else iter(made)
        next(parts)
        made.clear()
        try:
            next(parts, None)
        except RuntimeError as error:
            said.append(str(error))
    return said[0], len(said) == 2
