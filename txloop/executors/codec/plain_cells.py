"""Cells that were read and written, as plain data: marshalled, where pickle is slow.

Most commits set a few keys to numbers and strings. Of them travel the containers'
numbers, the keys and the values. That is all that the other side needs if it knows the
containers already; what it may not know has to be pickled, which tells of which class
it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from txloop.executors.codec.frames import loads
from txloop.executors.codec.packing import is_pickled, pack_marshalled, unpack_plain
from txloop.executors.codec.plain_forms import is_plain
from txloop.stm.container import Operation
from txloop.stm.immutability import PLAIN
from txloop.stm.store import committed
from txloop.stm.types import MISSING, Key, Outcome

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from txloop.stm.container import Write
    from txloop.stm.types import Cell

__all__ = [
    "PlainOutcome",
    "outcome_of",
    "pack_commits",
    "plain_outcome",
    "unpack_commits",
]

PlainOutcome: TypeAlias = tuple[Any, ...]
"""Snapshot, seconds, whether an error was answered, reads, presences, writes."""

_THERE = ...  # in the place of the one key of a `TVar`, and of what deletes a key

# What stands for another of our keys, or for an operation, is a tuple that begins so;
# no plain one does.
_OURS = ...


def pack_commits(
    commits: Iterable[Iterable[Write]], below: int, known: Container[int]
) -> bytes | None:
    """Marshal commits; None if that is not possible.

    Args:
        commits: Of each the cells and their new values.
        below: The other side knows all containers with lower numbers.
        known: Numbers of others that it knows.
    """
    every = []
    for writes in commits:
        plain = _plain_writes(writes, below, known)
        if plain is None:
            return None
        every.append(plain)
    return pack_marshalled(every)


def unpack_commits(packed: bytes) -> Sequence[Sequence[Write]]:
    """Return the writes of each commit of some that were marshalled, or pickled.

    Raises:
        Exception: whatever the classes of the program raise when they are unpickled.
    """
    if is_pickled(packed):
        return loads(packed)  # type: ignore[no-any-return] # commits were pickled
    return list(map(_written, unpack_plain(packed)))


def plain_outcome(outcome: Outcome, known: Container[int]) -> PlainOutcome | None:
    """Return an outcome without a value as plain data; None if it has other parts.

    Args:
        outcome: The outcome.
        known: Numbers of containers that the other side knows.
    """
    if (
        outcome.value is not None
        or outcome.error is not None
        or outcome.effects
        or outcome.records
        or outcome.trace is not None
        or outcome.files
    ):
        return None
    values, presences = _plain_cells(outcome.values), _plain_cells(outcome.presences)
    writes = _plain_writes(outcome.writes, 0, known)
    if values is None or presences is None or writes is None:
        return None
    run = outcome.snapshot, outcome.body_seconds, outcome.error_answered
    return *run, values, presences, writes


def outcome_of(plain: PlainOutcome) -> Outcome:
    """Undo `plain_outcome`."""
    snapshot, body_seconds, error_answered, values, presences, writes = plain
    return Outcome(
        snapshot,
        values=_cells(values),
        presences=_cells(presences),
        writes=tuple(_written(writes)),
        body_seconds=body_seconds,
        error_answered=error_answered,
    )


def _plain_cells(cells: Iterable[Cell]) -> list[tuple[int, object]] | None:
    plain: list[tuple[int, object]] = []
    for number, key in cells:
        if type(key) in PLAIN or (type(key) is tuple and is_plain(key)):
            plain.append((number, key))
        elif isinstance(key, Key):
            plain.append((number, _plain_key(key)))
        else:
            return None
    return plain


def _plain_key(key: Key) -> object:
    return _THERE if key is Key.VALUE else (_OURS, key.value)


def _key(plain: Any) -> Any:
    """Undo `_plain_key`; what is no key of ours is as it was."""
    if plain is _THERE:
        return Key.VALUE
    if type(plain) is tuple and plain and plain[0] is _OURS:
        return Key(plain[1])
    return plain


def _cells(plain: Iterable[tuple[int, Any]]) -> frozenset[Cell]:
    return frozenset((number, _key(key)) for number, key in plain)


def _plain_writes(
    writes: Iterable[Any], below: int, known: Container[int]
) -> list[tuple[int, object, object]] | None:
    plain: list[tuple[int, object, object]] = []
    for container, key, value in writes:
        number = container._tx_number
        if number >= below and number not in known:
            return None
        if type(key) not in PLAIN and not (type(key) is tuple and is_plain(key)):
            if not isinstance(key, Key):
                return None
            key = _plain_key(key)
        if type(value) not in PLAIN and not (type(value) is tuple and is_plain(value)):
            if value is MISSING:
                value = _THERE
            elif isinstance(value, Operation):
                value = _plain_operation(value)
                if value is None:
                    return None
            else:
                return None
        plain.append((number, key, value))
    return plain


def _plain_operation(operation: Operation) -> tuple[object, ...] | None:
    kind = type(operation)
    if kind.__reduce__ is object.__reduce__:
        return None
    reduced: Any = operation.__reduce__()
    made, arguments = reduced
    if made is not kind or not is_plain(arguments):
        return None
    return _OURS, kind.__name__, arguments


def _value(plain: Any) -> Any:
    """Return what was stored, or is to be done."""
    if plain is _THERE:
        return MISSING
    if type(plain) is tuple and plain and plain[0] is _OURS:
        _, name, arguments = plain
        return Operation.named[name](*arguments)
    return plain


def _written(plain: Iterable[tuple[int, Any, object]]) -> list[Write]:
    """Return writes to those containers that are alive here."""
    writes: list[Write] = []
    for number, key, value in plain:
        container = committed.find(number)
        if container is not None:
            writes.append((container, _key(key), _value(value)))
    return writes
