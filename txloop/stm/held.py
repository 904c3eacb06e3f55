"""What a container may hold although it cannot be shared: it has a thread of its own.

A lock, a socket, a request handler or a loop means something in one process, mostly in
one thread. A container holds the object itself. A read on the loop thread returns it;
an attempt elsewhere that comes upon it is given up, and its call runs on the loop
thread. It never travels: the codec refuses its class, and replicas have something in
its place that tells why.

What is of use elsewhere in part, as a WebSocket is that is only written to, becomes a
*reference*: see `register_reference`.

A wrapper around each was rejected: all reads on the loop thread would have to take it
off, those that are fastest too.
"""

from __future__ import annotations

import _thread
import asyncio
import functools
import io
import queue
import socket
import sys
import threading
import types
import weakref
from typing import TYPE_CHECKING, Any, Never

from txloop.stm.types import Unsendable, strange

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "REFERENCE",
    "STRANGE",
    "UNASKED",
    "becomes_reference",
    "hold",
    "hold_the_rest",
    "holds_the_rest",
    "is_held_kind",
    "is_reference",
    "refuse_unasked",
    "register_held",
    "register_reference",
    "travel_table",
    "why_it_stays",
]

_kinds: list[type] = [
    _thread.LockType,
    type(threading.RLock()),
    threading.Barrier,
    threading.Condition,
    threading.Event,
    threading.Semaphore,
    threading.Thread,
    threading.local,
    asyncio.AbstractEventLoop,
    asyncio.Condition,
    asyncio.Event,
    asyncio.Future,
    asyncio.Handle,
    asyncio.Lock,
    asyncio.Queue,
    asyncio.Semaphore,
    io.BufferedRandom,
    io.BufferedReader,
    io.BufferedRWPair,
    io.BufferedWriter,
    io.RawIOBase,
    io.TextIOWrapper,
    queue.Queue,
    queue.SimpleQueue,
    socket.socket,
]

_OF_MODULES = {"sqlite3": ("Connection", "Cursor")}
"""Classes of modules that nothing here imports."""

STRANGE: set[type] = {Unsendable}
"""Classes whose objects end an attempt that comes upon them, unless it stays.

Those of held objects join it when the first one is stored.
"""

REFERENCE = "__txloop_reference__"
"""What a class has whose objects stand for the same thing in each process.

Each travels by a number of its own, and ends an attempt by itself that asks it for what
only the loop thread has.
"""

_references: list[tuple[type, Callable[[Any], bool]]] = []
"""Classes, and what makes their objects references; filled at import."""

travel_table: dict[type, Any] = {}
"""What the codec does with objects of these classes, by class."""

UNASKED = frozenset({bytearray, types.FunctionType})
"""Classes whose objects pickle writes without a look at the table."""

_PICKLED_UNASKED = UNASKED | {tuple, frozenset, type}
"""Those, and others of which pickle looks at the parts, or at the name."""

_functions: weakref.WeakSet[Any] = weakref.WeakSet()
"""Held functions; others may travel."""


def register_held(*kinds: type) -> None:
    """Let containers hold objects of these classes, and of those derived from them."""
    _kinds.extend(kinds)


def hold_the_rest() -> None:
    """Let containers hold whatever they would refuse, from now on."""
    register_held(object)


def holds_the_rest() -> bool:
    """Tell whether nothing is refused."""
    return object in _kinds


def register_reference(kind: type, adopt: Callable[[Any], bool]) -> None:
    """Let objects of a class become references when a container first holds them.

    Args:
        kind: The class; those derived from it are meant, too.
        adopt: Makes an object one, in its place, and tells whether it could; on the
            loop thread.
    """
    _references.append((kind, adopt))


def becomes_reference(kind: type) -> bool:
    """Tell whether objects of a class become references when a container holds them."""
    return any(issubclass(kind, one) for one, _ in _references)


def is_reference(value: object) -> bool:
    """Tell whether it stands for the same thing wherever it is."""
    return hasattr(type(value), REFERENCE)


def is_held_kind(value: object) -> bool:
    """Tell whether a container may hold it."""
    if isinstance(value, tuple(_kinds)):
        return True
    for name, classes in _OF_MODULES.items():
        module = sys.modules.get(name)
        if any(isinstance(value, getattr(module, one, ())) for one in classes):
            return True
    return False


def hold(value: object) -> None:
    """Take note that a container holds such an object."""
    for one, adopt in _references:
        if isinstance(value, one) and adopt(value):
            return
    kind = type(value)
    if kind is types.FunctionType:
        _functions.add(value)
    if kind not in STRANGE:
        travel_table[kind] = _refuse_to_travel
        STRANGE.add(kind)
        strange.seen = True


def refuse_unasked(pickler: object, thing: object) -> None:
    """Refuse, as the `persistent_id` of a pickler, what the table cannot refuse."""
    kind = type(thing)
    if kind not in UNASKED or kind not in travel_table:
        return
    if kind is not types.FunctionType or thing in _functions:
        _refuse_to_travel(thing)


def why_it_stays(value: object) -> str | None:
    """Return what pickle would say of an object that a container holds.

    Returns:
        None where it is not held, or where only pickle can tell.
    """
    kind: Any = type(value)
    if kind not in travel_table or kind in _PICKLED_UNASKED:
        return None
    return _reason(kind)


def _refuse_to_travel(value: object) -> Never:
    """Say, to pickle, that it does not travel."""
    kind: Any = type(value)
    raise TypeError(_reason(kind))


@functools.cache  # the table keeps these classes, too
def _reason(kind: Any) -> str:
    return (
        f"cannot pickle '{kind.__module__}.{kind.__qualname__}' object: it means "
        "something on the loop thread only"
    )
