"""What happened to transactions, for whoever listens: statistics, logs, tests.

Events are told on the loop thread, in the order in which things happened there. A
listener must not touch shared state; one that raises is removed with a log line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from txloop.types import Conflict

__all__ = [
    "Aborted",
    "Committed",
    "Conflicted",
    "Event",
    "Listener",
    "RoundRun",
    "Started",
    "Waited",
]


@dataclass(frozen=True, slots=True)
class RoundRun:
    """The transactions of one loop iteration were handed to the executor."""

    transactions: int


@dataclass(frozen=True, slots=True)
class Started:
    """Attempt `attempt` (1 is the first) of a transaction was handed over."""

    transaction: int
    attempt: int
    label: str
    inline: bool


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


Event: TypeAlias = RoundRun | Started | Committed | Conflicted | Aborted | Waited

Listener: TypeAlias = Callable[[Event], None]
"""Takes an event on the loop thread."""
