"""What became of the last transactions, in words: for whoever looks for a mistake.

A listener, as the one that writes the log, but for one transaction at a time: which
attempts there were, where each ran, and what it lost to which line.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from txloop.engine.events import (
    Aborted,
    Answered,
    Closed,
    Committed,
    Conflicted,
    Dropped,
    Retried,
    Started,
)
from txloop.stmlog.markers import CellNames, Places
from txloop.stmlog.winners import Winners

if TYPE_CHECKING:
    from collections.abc import Mapping

    from txloop.engine.events import Event, Listener
    from txloop.stm.types import Conflict, Site, Trace

__all__ = ["Stories"]

_MOST_ENDED: Final = 100
_MOST_ATTEMPTS: Final = 20  # of one that waits and runs again and again, the last ones


class Told(Protocol):
    """What is needed of a dispatcher."""

    def trace(self, listener: Listener) -> None:
        """Tell `listener` of what happens, and trace all calls from now on."""


@dataclass(slots=True)
class _Attempt:
    number: int
    inline: bool
    trace: Trace | None = None
    end: str = "has not ended"


@dataclass(slots=True)
class _Story:
    transaction: int
    label: str
    attempts: list[_Attempt] = field(default_factory=list)
    failed: bool = False


class Stories:
    """Keeps what happened to the last transactions; used by the loop thread only."""

    def __init__(
        self, dispatcher: Told, own_place: int, addresses: Mapping[int, str]
    ) -> None:
        """Listen from now on.

        Args:
            dispatcher: Tells what happens.
            own_place: What the loop thread is called among the workers; fronts have
                the numbers that follow.
            addresses: Where workers are that are on other machines, by number.
        """
        self._own_place = own_place
        self._addresses = addresses
        self._cells = CellNames()
        self._winners = Winners(Places())
        self._open: dict[int, _Story] = {}
        self._ended: deque[_Story] = deque(maxlen=_MOST_ENDED)
        dispatcher.trace(self)

    def __call__(self, event: Event) -> None:
        """Note an event."""
        match event:
            case Started():
                story = self._open.setdefault(
                    event.transaction, _Story(event.transaction, event.label)
                )
                story.attempts.append(_Attempt(event.attempt, event.inline))
                del story.attempts[:-_MOST_ATTEMPTS]
            case Answered():
                self._newest(event.transaction).trace = event.trace
            case Conflicted():
                attempt = self._newest(event.transaction)
                attempt.end = self._lost(attempt.trace, event.label, event.conflict)
            case Aborted():
                self._newest(event.transaction).end = f"given up: {event.reason}"
            case Retried():
                how = "waits for a change" if event.waits else "something had changed"
                self._newest(event.transaction).end = f"retried; {how}"
            case Committed():
                self._committed(event)
            case Dropped():
                self._end(event.transaction)
            case Closed():
                self._winners.close()

    def tell(self) -> str:
        """Return the story of the last one that failed or ran more than once."""
        for story in reversed(self._ended):
            if story.failed or len(story.attempts) > 1:
                return self._told(story)
        return (
            "nothing to explain: no transaction has failed or run twice since stories "
            "are kept, that is since the first call of explain(), or the page of an "
            "error in debug mode"
        )

    def tell_of(self, transaction: int) -> str:
        """Return the story of one, or "" if it had one attempt: that tells nothing."""
        for story in reversed(self._ended):
            if story.transaction == transaction and len(story.attempts) > 1:
                return self._told(story)
        return ""

    def _told(self, story: _Story) -> str:
        runs = len(story.attempts)
        lines = [
            f"{story.label}, transaction {story.transaction}: "
            f"{'1 attempt' if runs == 1 else f'{runs} attempts'}"
        ]
        lines += [
            f"  {attempt.number}. {self._where(attempt)}: {attempt.end}"
            for attempt in story.attempts
        ]
        return "\n".join(lines)

    def _newest(self, transaction: int) -> _Attempt:
        story = self._open.setdefault(transaction, _Story(transaction, "?"))
        if not story.attempts:  # it began before these were kept
            story.attempts.append(_Attempt(1, inline=False))
        return story.attempts[-1]

    def _committed(self, event: Committed) -> None:
        attempt = self._newest(event.transaction)
        trace, story = attempt.trace, self._open[event.transaction]
        story.label, story.failed = event.label, event.failed
        how = "failed" if event.failed else "took effect"
        seconds = f"{1000 * event.body_seconds:.3g} ms"
        attempt.end = f"{how} after {seconds}, as of version {event.version}"
        if trace is not None and trace.writes:
            self._winners.note(event.version, event.label, trace)
        self._end(event.transaction)

    def _end(self, transaction: int) -> None:
        story = self._open.pop(transaction, None)
        if story is not None:
            self._ended.append(story)

    def _lost(self, trace: Trace | None, label: str, conflict: Conflict) -> str:
        """Return what an attempt has lost to which other, and at which lines."""
        parts = [f"aborted, because {self._cells.name(conflict.cell)} had changed"]
        mine, winner, theirs = self._winners.sides(trace, conflict)
        if mine is not None:
            parts.append(f"used at {_shown(mine)}")
        if theirs is not None:
            by = f" by {winner}" if winner and winner != label else ""
            parts.append(f"written{by} at {_shown(theirs)}")
        return "; ".join(parts)

    def _where(self, attempt: _Attempt) -> str:
        number = 0 if attempt.trace is None else attempt.trace.worker
        if attempt.inline or (attempt.trace is not None and not number):
            return "on the loop thread"
        if not number:
            return "away from the loop thread"
        address = self._addresses.get(number)
        if address is None and number > self._own_place:
            return f"in front {number - self._own_place}"
        return f"in worker {number} of {address}" if address else f"in worker {number}"


def _shown(site: Site) -> str:
    file, line, function = site
    return f"{file}:{line} in {function}"
