"""Loops that see what their bodies do to a container, as over plain objects.

A list is gone over by index, so that deleting the item at hand skips the next;
dicts, sets and deques raise RuntimeError. Programs that were written for plain objects
have come to rely on that, rightly or not.

Each loop goes over a plain twin, by Python's own iterator; what its code does to the
container meanwhile, is done to the twin, too. What others commit meanwhile, the loop
does not see in an attempt. Outside of one, as in a coroutine, others commit only while
it waits: then the twin becomes what the container is.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from txloop.cells.list_chunks import Put
from txloop.stm.attempt import Attempt, running
from txloop.stm.types import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from txloop.cells.list_chunks import ListOperation

__all__ = [
    "begin",
    "follow",
    "follow_list",
    "loops",
    "note",
    "note_call",
    "note_operation",
    "on",
]

on = False
"""Whether loops see it; otherwise they go over what there is when they start."""

loops: dict[int, tuple[int, int, Attempt | None, Any]] = {}
"""What is gone over just now: the number, by which thread and attempt, and the twin."""

_keys = itertools.count()


def begin() -> None:
    """Let loops see what their bodies do, from now on, in the whole process."""
    global on
    on = True


def follow(
    shared: Any, twin: Any, parts: Iterator[Any], kind: type = dict
) -> Iterator[Any]:
    """Go over `parts` of a twin, which follows what is done to the container.

    Args:
        shared: A dict, set or deque.
        twin: A plain dict or deque of the same contents.
        parts: Goes over it.
        kind: The plain class that its errors are to speak of.
    """
    following = _follow(shared, twin, parts, kind)
    next(following)  # an iterator of a plain one looks at it from the beginning
    return following


def _follow(shared: Any, twin: Any, parts: Iterator[Any], kind: type) -> Iterator[Any]:
    key = next(_keys)
    loops[key] = shared._tx_number, threading.get_ident(), running.attempt, twin
    seen = shared._tx_changed
    try:
        yield
        yield from parts if running.attempt else _outside(shared, twin, parts, seen)
    except RuntimeError as error:
        if kind is dict or str(error) != _complaint(dict):
            raise
        raise RuntimeError(_complaint(kind)) from None
    finally:
        loops.pop(key, None)  # another thread may end it


def _outside(shared: Any, twin: Any, parts: Iterator[Any], seen: int) -> Iterator[Any]:
    """Go over parts of a twin that becomes, each time, what the container is.

    Args:
        shared: The container.
        twin: As it was at the version `seen`.
        parts: Goes over it.
        seen: The newest version that had written to the container then.
    """
    while True:
        if running.attempt is None and (changed := shared._tx_changed) != seen:
            seen = changed
            _renew(shared, twin)
        try:
            part = next(parts)
        except StopIteration:
            return
        yield part


def _renew(shared: Any, twin: Any) -> None:
    """Have a twin be as the container is; a plain iterator over it notices the same."""
    if isinstance(twin, list):
        twin[:] = shared._contents()
    elif isinstance(twin, deque):
        now = shared._contents()
        other = [
            n for n, (a, b) in enumerate(zip(now, twin, strict=False)) if a is not b
        ]
        if len(now) != len(twin) or len(other) > 1:
            twin.clear()
        else:
            for place in other:  # one item was replaced, which Python does not notice
                twin[place] = now[place]
    else:
        is_set = not hasattr(shared, "_contents")
        found = dict.fromkeys(shared._keys()) if is_set else shared._contents()
        for gone in [one for one in twin if one not in found]:
            del twin[gone]
        before = iter([*twin])
        for key, value in found.items():
            if key in twin and key not in before:  # up to it: it came out, and in again
                del twin[key]
            twin[key] = value


@functools.cache
def _complaint(kind: type) -> str:
    """Return what Python says of a plain one that is changed while it is gone over."""
    made = kind([(1, 1), (2, 2)])
    parts = iter(made)
    next(parts)
    made.clear()
    try:
        next(parts)
    except RuntimeError as error:
        return str(error)
    raise AssertionError(f"a {kind.__name__} may be changed while it is gone over")


def follow_list(shared: Any, backwards: bool = False) -> Iterator[Any]:
    """Go over a list, which is looked at when its first item is asked for."""
    twin = [*shared._contents()]
    key = next(_keys)
    loops[key] = shared._tx_number, threading.get_ident(), running.attempt, twin
    try:
        parts = reversed(twin) if backwards else iter(twin)
        seen = shared._tx_changed
        yield from parts if running.attempt else _outside(shared, twin, parts, seen)
    finally:
        loops.pop(key, None)


# What writes to a container tells loops of it, if there are any.


def note(shared: Any, key: object, value: object) -> None:
    """Tell loops over a dict or a set that a cell was set; MISSING: deleted."""
    for twin in _twins(shared):
        if value is MISSING:
            twin.pop(key, None)
        else:
            twin[key] = value


def note_call(shared: Any, method: str, *arguments: object) -> None:
    """Tell loops over a dict or a set what does the same to a plain dict."""
    for twin in _twins(shared):
        getattr(twin, method)(*arguments)


def note_operation(shared: Any, operation: ListOperation) -> None:
    """Tell loops over a list or a deque what was done to it."""
    for twin in _twins(shared):
        if isinstance(twin, list) or isinstance(operation, Put):
            operation.apply(twin)
        else:
            twin.clear()  # for a deque it only counts that it was changed


def _twins(shared: Any) -> list[Any]:
    """Return those of the loops in which this code runs."""
    number = shared._tx_number
    over = [one for one in [*loops.values()] if one[0] == number]
    if not over:  # as nearly always
        return over
    its = number, threading.get_ident(), running.attempt
    return [twin for *of_its, twin in over if (*of_its,) == its]
