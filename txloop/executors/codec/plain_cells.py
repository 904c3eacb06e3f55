"""Cells that were read and written, as plain data: marshalled, where pickle is slow.

Most commits set a few keys to numbers and strings, or to new containers of such. Of
them travel the containers' numbers, the keys and the values. That is all that the other
side needs if it knows the containers already. Of what it may not know the name of the
class travels, too, if that is the same class on both sides: where one process was
forked from the other, and the class was there before. All else has to be pickled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from txloop.executors.codec.frames import loads
from txloop.executors.codec.packing import is_pickled, pack_marshalled, unpack_plain
from txloop.executors.codec.plain_values import (
    NotPlainError,
    container_of,
    key_of,
    plain_container,
    plain_key,
    plain_value,
    value_of,
)
from txloop.stm.immutability import PLAIN
from txloop.stm.store import committed
from txloop.stm.types import Conflict, Outcome

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from txloop.stm.container import Container as Cells
    from txloop.stm.container import Write
    from txloop.stm.types import Cell

__all__ = [
    "Known",
    "PlainOutcome",
    "outcome_of",
    "pack_commits",
    "pack_conflict",
    "plain_outcome",
    "unpack_commits",
    "unpack_conflict",
]

PlainOutcome: TypeAlias = tuple[Any, ...]
"""Snapshot, seconds, whether an error was answered, reads, presences, writes."""


class Known(NamedTuple):
    """What the other side knows.

    Attributes:
        below: All containers with lower numbers.
        others: Numbers of other ones.
        kinds: The classes of containers that are the same there; see `agree_on_kinds`.
    """

    below: int
    others: Container[int]
    kinds: Mapping[str, type[Cells]]


def pack_commits(commits: Iterable[Iterable[Write]], known: Known) -> bytes | None:
    """Marshal commits; None if that is not possible.

    Args:
        commits: Of each the cells and their new values.
        known: What the other side knows.
    """
    try:
        return pack_marshalled([_plain_writes(writes, known) for writes in commits])
    except NotPlainError:
        return None


def unpack_commits(packed: bytes) -> Sequence[Sequence[Write]]:
    """Return the writes of each commit of some that were marshalled, or pickled.

    Raises:
        Exception: whatever the classes of the program raise when they are unpickled.
    """
    if is_pickled(packed):
        return loads(packed)  # type: ignore[no-any-return] # commits were pickled
    return list(map(_written, unpack_plain(packed)))


def plain_outcome(outcome: Outcome, known: Known) -> PlainOutcome | None:
    """Return an outcome without a value as plain data; None if it has other parts."""
    if (
        outcome.value is not None
        or outcome.error is not None
        or outcome.effects
        or outcome.records
        or outcome.trace is not None
        or outcome.files
    ):
        return None
    try:
        return (
            outcome.snapshot,
            outcome.body_seconds,
            outcome.error_answered,
            _plain_cells(outcome.values),
            _plain_cells(outcome.presences),
            _plain_writes(outcome.writes, known),
        )
    except NotPlainError:
        return None


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


def pack_conflict(conflict: Conflict, body_seconds: float) -> bytes:
    """Marshal why an outcome could not commit that has a plain form.

    Args:
        conflict: With a cell that stands in that form.
        body_seconds: How long it had run.
    """
    number, key = conflict.cell
    cell = number, plain_key(key)
    packed = pack_marshalled((cell, conflict.snapshot, conflict.version, body_seconds))
    assert packed is not None
    return packed


def unpack_conflict(packed: bytes) -> tuple[Conflict, float]:
    """Undo `pack_conflict`."""
    (number, key), snapshot, version, body_seconds = unpack_plain(packed)
    return Conflict((number, key_of(key)), snapshot, version), body_seconds


def _plain_cells(cells: Iterable[Cell]) -> list[tuple[int, object]]:
    return [
        (number, key if type(key) in PLAIN else plain_key(key)) for number, key in cells
    ]


def _cells(plain: Iterable[tuple[int, Any]]) -> frozenset[Cell]:
    return frozenset((number, key_of(key)) for number, key in plain)


def _plain_writes(
    writes: Iterable[Any], known: Known
) -> list[tuple[object, object, object]]:
    below, others, kinds = known
    plain: list[tuple[object, object, object]] = []
    last: object = None
    told: tuple[object, ...] = ()
    for container, key, value in writes:
        target = container._tx_number
        if target >= below and target not in others:
            if container is not last:  # else marshal refers to what it has packed
                last, told = container, plain_container(container, kinds)
            target = told
        if type(key) not in PLAIN:
            key = plain_key(key)
        if type(value) not in PLAIN:
            value = plain_value(value, kinds)
        plain.append((target, key, value))
    return plain


def _written(plain: Iterable[tuple[Any, Any, object]]) -> list[Write]:
    """Return writes to those containers that are new or alive here."""
    writes: list[Write] = []
    last = container = None
    for target, key, value in plain:
        if target is not last:
            if type(target) is int:
                container = committed.find(target)
            else:
                container = container_of(target)
            last = target
        if container is not None:
            writes.append((container, key_of(key), value_of(value)))
    return writes
