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
import sys
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from txloop.cells.list_chunks import Put
from txloop.stm.attempt import Attempt, running
from txloop.stm.store import committed
from txloop.stm.types import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from txloop.cells.list_chunks import ListOperation
    from txloop.stm.container import Write

__all__ = [
    "DictTwin",
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


class DictTwin(dict[Any, Any]):
    """A twin of a dict or a set; a plain dict has no weak references."""

    __slots__ = ("__weakref__",)


class _ListTwin(list[Any]):
    __slots__ = ("__weakref__",)


class _Loop(weakref.ref[Any]):
    """Refers to a twin that is gone over by one thread, in one attempt or in none."""

    __slots__ = ("attempt", "key", "number", "thread")

    attempt: Attempt | None
    key: int
    number: int  # of what it is the twin of
    thread: int


loops: dict[int, _Loop] = {}
"""What is gone over just now."""

_keys = itertools.count()

_PROMPT: Final = sys.implementation.name == "cpython"
"""Whether what nothing refers to is gone at once: an iterator, and its twin with it."""


def begin() -> None:
    """Let loops see what their bodies do, from now on, in the whole process."""
    global on
    if not on:
        on = True
        committed.follow(_Others())


class _Others:
    """A `txloop.stm.joining.Follower`: tells loops outside of attempts of commits."""

    hears_births = False
    grows = True  # what grows is direct

    def installed(self, version: int, writes: Sequence[Write], direct: bool) -> None:
        """Have the twins of what was written be as that is now."""
        if loops and not direct:  # else what wrote has told them
            for shared in {id(one): one for one, _, _ in writes}.values():
                for twin in _twins(shared):
                    _renew(shared, twin)

    def dropped(self, number: int) -> None:
        """Do nothing: what is gone over lives."""


def _begin_loop(shared: Any, twin: Any) -> int:
    """Have `twin` follow what is done to the container while anything refers to it."""
    loop = _Loop(twin, _end_loop)
    loop.key = key = next(_keys)
    loop.number = shared._tx_number
    loop.thread = threading.get_ident()
    loop.attempt = running.attempt
    loops[key] = loop
    return key


def _end_loop(loop: _Loop) -> None:
    loops.pop(loop.key, None)  # another thread may end it


def follow(
    shared: Any, twin: Any, parts: Iterator[Any], kind: type = dict
) -> Iterator[Any]:
    """Go over `parts` of a twin, which follows what is done to the container.

    Args:
        shared: The container.
        twin: A plain one of the same contents, to which there can be weak references.
        parts: Goes over it.
        kind: The plain class that its errors are to speak of.
    """
    if _PROMPT and kind is dict:
        _begin_loop(shared, twin)
        return parts  # a generator would take three times as long for each of them
    following = _follow(shared, twin, parts, kind)
    next(following)  # an iterator of a plain one looks at it from the beginning
    return following


def _follow(shared: Any, twin: Any, parts: Iterator[Any], kind: type) -> Iterator[Any]:
    key = _begin_loop(shared, twin)
    try:
        yield
        yield from parts
    except RuntimeError as error:
        if kind is dict or str(error) != _complaint(dict):
            raise
        raise RuntimeError(_complaint(kind)) from None
    finally:
        loops.pop(key, None)


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
    """Go over a list, as Python does: by index."""
    twin = _ListTwin(shared._contents())
    return follow(shared, twin, reversed(twin) if backwards else iter(twin))


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
    over = [one for one in [*loops.values()] if one.number == number]
    if not over:  # as nearly always
        return over
    its = threading.get_ident(), running.attempt
    twins = [one() for one in over if (one.thread, one.attempt) == its]
    return [twin for twin in twins if twin is not None]
