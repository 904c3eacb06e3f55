"""The values that cross from the loop to an attempt and back: frozen and picklable.

Every other room speaks in these. This room imports only `txloop.errors` and decides
nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging

__all__ = [
    "MISSING",
    "Call",
    "Cell",
    "Commit",
    "Conflict",
    "Effect",
    "Key",
    "Missing",
    "Outcome",
    "Refusal",
    "Unsendable",
]

Cell = tuple[int, Hashable]
"""The unit of conflict: a container's number and a key in it (or a `Key`)."""


class Missing(enum.Enum):
    """The value of a key that is not there: what a delete writes."""

    MISSING = enum.auto()


MISSING = Missing.MISSING


class Key(enum.Enum):
    """The cells of a container that no user key names."""

    VALUE = enum.auto()  # the one cell of a TVar
    KEYS = enum.auto()  # which keys there are, and their order: `len`, iteration


@dataclass(frozen=True, slots=True)
class Call:
    """A transaction's plain function call, which may run more than once.

    Attributes:
        function: What to run.
        args: Its positional arguments.
        kwargs: Its keyword arguments.
        label: Names the call in statistics, warnings and logs.
        ordered: Whether it commits in the order in which calls were added.
        commits_on: The exceptions that commit the writes instead of undoing them.
    """

    function: Callable[..., object]
    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict)
    label: str = ""
    ordered: bool = False
    commits_on: tuple[type[BaseException], ...] = ()


@dataclass(frozen=True, slots=True)
class Effect:
    """A call that waits for the commit, and where the program asked for it."""

    function: Callable[..., object]
    args: tuple[object, ...]
    kwargs: Mapping[str, object]
    origin: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that an attempt found out and wants done; it has changed nothing yet.

    Attributes:
        snapshot: The version that it ran against.
        value: What the function returned.
        error: What it raised instead, or None.
        values: Cells whose value it read.
        presences: Cells of which it learnt only whether the key was there.
        writes: ``(container, key, value)`` in the order of the first write to each.
        effects: What to run at commit, in order.
        records: Log records to hand to their loggers at commit, in order.
        body_seconds: How long the function kept its thread busy or blocked.
        error_answered: Whether it raised and made the answer to that itself, as a
            request does.
    """

    snapshot: int
    value: object = None
    error: BaseException | None = None
    values: frozenset[Cell] = frozenset()
    presences: frozenset[Cell] = frozenset()
    writes: tuple[tuple[object, Hashable, object], ...] = ()
    effects: tuple[Effect, ...] = ()
    records: tuple[logging.LogRecord, ...] = ()
    body_seconds: float = 0.0
    error_answered: bool = False

    @property
    def failed(self) -> bool:
        """Whether it ended with an exception."""
        return self.error is not None or self.error_answered


@dataclass(frozen=True, slots=True)
class Refusal:
    """An attempt that gave up: its call has to run on the loop thread.

    Attributes:
        reason: Why, as the end of the sentence "it runs on the loop thread because".
        lasting: Whether every later call of the same label goes there too.
        warn: Whether the program did not ask for it and should be told.
    """

    reason: str
    lasting: bool = True
    warn: bool = True


@dataclass(frozen=True, slots=True)
class Unsendable:
    """Stands in a worker for a shared value that does not pickle."""

    reason: str


@dataclass(frozen=True, slots=True)
class Commit:
    """The decision that an outcome still holds, so that its writes may be installed."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Conflict:
    """The decision that what an attempt read has changed since its snapshot.

    Attributes:
        cell: The first such cell found.
        snapshot: The version that the attempt ran against.
        version: The commit that changed the cell.
    """

    cell: Cell
    snapshot: int
    version: int
