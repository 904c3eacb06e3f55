"""What became of the last transactions, in words, for finding a mistake.

A listener, as the one that writes the log, but for one transaction at a time: which
attempts there were, where each ran, and what it lost to which line.
"""

from __future__ import annotations

import math
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

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
from txloop.stm.callables import weakly
from txloop.stmlog.sides import CellNames, Places, Winners

if TYPE_CHECKING:
    from txloop.engine.dispatcher import Dispatcher
    from txloop.engine.events import Event
    from txloop.stm.types import Conflict, Site, Trace

__all__ = ["KeptStories", "Stories"]

_MOST_ENDED: Final = 100
_MOST_ATTEMPTS: Final = 20  # of one that waits and runs again and again, the last ones


_KEPT_SECONDS = 60.0  # after the story of a transaction was asked for


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

    def __init__(self, dispatcher: Dispatcher) -> None:
        """Prepare to listen to a dispatcher, with `Dispatcher.trace`."""
        executor = dispatcher.executor
        self._own_place = executor.own_place  # fronts have the numbers that follow
        self._addresses = executor.addresses
        self._cells = CellNames()
        self._winners = Winners(Places())
        self._open: dict[int, _Story] = {}
        self._ended: deque[_Story] = deque(maxlen=_MOST_ENDED)

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
                self.close()

    def close(self) -> None:
        """Follow the store no more; what is known stays."""
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


class KeptStories:
    """The stories of one loop, while they are wanted; used by its thread only.

    To listen costs each call more than what is short takes, so it begins when a story
    is asked for.
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._stories: Stories | None = None
        self._until = 0.0  # they are kept, by `time.monotonic`

    def tell(self) -> str:
        """Do as `Stories.tell`; stories are kept from the first call on."""
        return self._kept(math.inf).tell()

    def tell_of(self, transaction: int) -> str:
        """Do as `Stories.tell_of`; stories are kept for a minute."""
        return self._kept(_KEPT_SECONDS).tell_of(transaction)

    def _kept(self, seconds: float) -> Stories:
        self._until = max(self._until, time.monotonic() + seconds)
        if self._stories is None:
            self._stories = Stories(self._dispatcher)
            self._dispatcher.trace(self._stories)
            self._forget_in_time()
        return self._stories

    def _forget_in_time(self) -> None:
        left = self._until - time.monotonic()
        if self._stories is None or left == math.inf:
            return
        if left > 0:
            self._dispatcher.reactor.call_later(left, weakly(self._forget_in_time))
            return
        self._dispatcher.untrace(self._stories)
        self._stories.close()
        self._stories = None


def _shown(site: Site) -> str:
    file, line, function = site
    return f"{file}:{line} in {function}"
