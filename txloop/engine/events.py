"""What happened to transactions, as listeners are told: statistics, logs, tests.

Events are told on the loop thread, in the order in which things happened there. A
listener must not touch shared state; one that raises is removed with a log line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from txloop.stm.types import Conflict, Trace

__all__ = [
    "Aborted",
    "Answered",
    "Closed",
    "Committed",
    "Conflicted",
    "Dropped",
    "Event",
    "LinedUp",
    "Listener",
    "Retried",
    "RoundRun",
    "RoundWaits",
    "Started",
    "Waited",
    "Woken",
]


@dataclass(frozen=True, slots=True)
class RoundRun:
    """The transactions of one loop iteration were handed to the executor."""

    transactions: int


@dataclass(frozen=True, slots=True)
class RoundWaits:
    """There are transactions for the next round, which waits for the end of this one.

    It is over with the next `RoundRun`.
    """


@dataclass(frozen=True, slots=True)
class Started:
    """Attempt `attempt` (1 is the first) of a transaction was handed over."""

    transaction: int
    attempt: int
    label: str
    inline: bool


@dataclass(frozen=True, slots=True)
class LinedUp:
    """A transaction stands in line: it would conflict with one that runs.

    It is over when it is started, or dropped.
    """

    transaction: int
    label: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to an attempt is there; it is not decided yet what becomes of it.

    Told of traced attempts only (`Dispatcher.trace`), wherever they ran.
    """

    transaction: int
    label: str
    trace: Trace


@dataclass(frozen=True, slots=True)
class Committed:
    """A transaction took effect as `version`; it may have written nothing."""

    transaction: int
    label: str
    version: int
    body_seconds: float
    inline: bool
    failed: bool


@dataclass(frozen=True, slots=True)
class Conflicted:
    """An attempt was thrown away because what it had read has changed."""

    transaction: int
    label: str
    conflict: Conflict
    body_seconds: float


@dataclass(frozen=True, slots=True)
class Aborted:
    """An attempt was given up for another reason; its call runs on the loop thread."""

    transaction: int
    label: str
    reason: str


@dataclass(frozen=True, slots=True)
class Waited:
    """An outcome was put aside until an inevitable transaction has committed."""

    transaction: int
    label: str
    inevitable: int


@dataclass(frozen=True, slots=True)
class Retried:
    """An attempt gave up until something changes; `waits`: nothing has changed yet."""

    transaction: int
    label: str
    body_seconds: float
    waits: bool


@dataclass(frozen=True, slots=True)
class Woken:
    """A waiting transaction runs again; `timed_out`: its time is up."""

    transaction: int
    label: str
    timed_out: bool


@dataclass(frozen=True, slots=True)
class Dropped:
    """A transaction that waited will not run: its result is not wanted any more."""

    transaction: int
    label: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The loop has ended: nothing more will happen."""


Event: TypeAlias = (
    RoundRun
    | RoundWaits
    | Started
    | LinedUp
    | Answered
    | Committed
    | Conflicted
    | Aborted
    | Waited
    | Retried
    | Woken
    | Dropped
    | Closed
)

Listener: TypeAlias = Callable[[Event], None]
"""Takes an event on the loop thread."""
