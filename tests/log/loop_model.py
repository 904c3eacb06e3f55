"""A loop and its workers by themselves: what a scribe is told of, in any order.

Chance chooses what happens, by its seed; time goes on when it is told to. Workers run
their calls while the loop does not look, and their answers lie there until it does.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from txloop.engine.events import (
    Aborted,
    Answered,
    Closed,
    Committed,
    Conflicted,
    Dropped,
    LinedUp,
    Retried,
    RoundRun,
    RoundWaits,
    Started,
    Waited,
)
from txloop.executors.protocol import Running
from txloop.stm.types import Conflict, Trace
from txloop.stmlog.process_log import Hub
from txloop.stmlog.writer import Scribe

if TYPE_CHECKING:
    from random import Random

    from txloop.engine.events import Event, Listener
    from txloop.stm.types import Cell

__all__ = ["LoopModel"]

MICROSECOND = 1000
MILLISECOND = 1_000_000

_CELL: Cell = (1, "key")
_SITES = (("app.py", 7, "get"),)


@dataclass(eq=False)
class Sent:
    """A call at a worker; which runs the first of its calls."""

    transaction: int
    since: int
    began: int = 0
    ended: int = 0


@dataclass
class Worker:
    """Calls of which the loop has no answer: those that are done, and the others."""

    done: deque[Sent] = field(default_factory=deque)
    to_do: deque[Sent] = field(default_factory=deque)

    @property
    def unanswered(self) -> list[Sent]:
        return [*self.done, *self.to_do]


class LoopModel:
    """Tells a scribe what might happen.

    Attributes:
        commits: How many attempts were committed.
        aborts: How many were answered and aborted.
    """

    def __init__(self, path: str, random: Random, workers: int = 2) -> None:
        self.commits = self.aborts = 0
        self._random = random
        self._now = 10**12
        self._hub = Hub(lambda: self._now)
        self._hub.open(path, 1 << 30)
        self._scribe = Scribe(self._hub, self, workers + 1, lambda *_: None, {})
        self._workers = {place: Worker() for place in range(1, workers + 1)}
        self._transactions = 0
        self._open: set[int] = set()
        self._in_line: deque[int] = deque()
        self._inevitable = 0
        self._held: deque[int] = deque()
        self._in_order: deque[int] = deque()
        self._ready: set[int] = set()  # those in order that have been answered

    # What the scribe asks

    def running(self) -> list[tuple[int, Running]]:
        firsts = {place: one.unanswered[:1] for place, one in self._workers.items()}
        return [
            (one.transaction, Running(one.transaction, place, one.since))
            for place, first in firsts.items()
            for one in first
            if one.transaction in self._open
        ]

    def untrace(self, listener: Listener) -> None:
        raise AssertionError("it is wanted to the end")

    # What may happen

    def run(self, steps: int) -> None:
        """Let so much happen, and end."""
        actions = [
            *[self.submit] * 6,
            *[self.next_in_line] * 4,
            *[self.work] * 8,
            *[self.receive] * 8,
            *[self.flush] * 4,
            *[self.stall] * 2,
            *[self.bar, self.end_round, self.end_round],
            *[self.die, self.drop, self.copy],
        ]
        for _ in range(steps):
            self._random.choice(actions)()
            self._pass(MICROSECOND)
        self._open.clear()
        self._scribe(Closed())

    def submit(self) -> None:
        self._transactions += 1
        number, chance = self._transactions, self._random.random()
        self._open.add(number)
        if chance < 0.3:
            self._in_order.append(number)
        if chance < 0.8:
            self._send(number)
        else:
            self._line_up(number)

    def next_in_line(self) -> None:
        if self._in_line:
            self._send(self._in_line.popleft())

    def work(self) -> None:
        """Let a worker end what it runs."""
        worker = self._any_worker()
        if worker.to_do:
            one = worker.to_do.popleft()
            self._pass(3 * MILLISECOND)
            one.ended = self._now
            worker.done.append(one)
            if worker.to_do:
                worker.to_do[0].began = self._pass(MICROSECOND)

    def receive(self) -> None:
        place = self._random.choice(list(self._workers))
        worker = self._workers[place]
        while worker.done:
            one = worker.done.popleft()
            for following in worker.unanswered[:1]:
                following.since = self._now
            if one.transaction in self._open:  # it is not another's copy
                self._answer(one, place)
                self._settle(one.transaction)
        while not self._inevitable and self._settle_next():
            pass

    def flush(self) -> None:
        self._hub.flush()

    def stall(self) -> None:
        self._pass(300 * MILLISECOND)

    def bar(self) -> None:
        self._scribe(RoundWaits())

    def end_round(self) -> None:
        self._scribe(RoundRun(1))

    def die(self) -> None:
        """Let a worker die, and be replaced; its calls go to any worker."""
        worker = self._any_worker()
        lost, worker.done, worker.to_do = worker.unanswered, deque(), deque()
        self._pass(5 * MILLISECOND)
        for one in lost:
            self._give(one.transaction)

    def drop(self) -> None:
        if self._in_line:
            self._leave(number := self._in_line.pop())
            self._scribe(Dropped(number, "label"))

    def copy(self) -> None:
        """Give what a worker has not begun to any other one, too."""
        waiting = list(self._any_worker().to_do)[1:]
        if waiting and waiting[0].transaction in self._open:
            self._give(waiting[0].transaction)

    # Parts of it

    def _pass(self, most: int) -> int:
        self._now += self._random.randrange(1, most)
        return self._now

    def _any_worker(self) -> Worker:
        return self._random.choice(list(self._workers.values()))

    def _send(self, number: int) -> None:
        self._scribe(Started(number, 1, "label", inline=False))
        self._give(number)

    def _give(self, number: int) -> None:
        worker = self._any_worker()
        one = Sent(number, self._pass(MICROSECOND))
        if not worker.to_do:
            one.began = self._pass(MICROSECOND)
        if all(number != other.transaction for other in worker.unanswered):
            worker.to_do.append(one)

    def _line_up(self, number: int) -> None:
        self._in_line.append(number)
        self._scribe(LinedUp(number, "label"))

    def _answer(self, one: Sent, place: int) -> None:
        stop = "app.py", 9, "get"
        writes = {_CELL: 0}
        trace = Trace(place, one.began, one.ended, _SITES, writes, writes, stop)
        self._scribe(Answered(one.transaction, "label", trace))
        self._pass(MICROSECOND)
        for worker in self._workers.values():  # answers of copies are passed over
            for other in worker.unanswered:
                if other.transaction == one.transaction:
                    other.transaction = 0

    def _settle_next(self) -> bool:
        if self._held:
            self._settle(self._held.popleft())
        elif self._in_order and self._in_order[0] in self._ready:
            self._ready.remove(self._in_order[0])
            self._settle(self._in_order[0])
        else:
            return False
        return True

    def _settle(self, number: int) -> None:
        chance = self._random.random()
        if self._inevitable not in {0, number}:
            self._scribe(Waited(number, "label", self._inevitable))
            self._held.append(number)
        elif number in self._in_order and self._in_order[0] != number:
            self._ready.add(number)
        elif chance < 0.6:
            self._commit(number)
        elif chance < 0.8:
            self._conflict(number)
        elif chance < 0.9:
            self.aborts += 1
            self._leave(number)
            self._scribe(Retried(number, "label", 0.1, waits=True))
        else:
            self._run_here(number)

    def _commit(self, number: int) -> None:
        self.commits += 1
        self._leave(number)
        event: Event = Committed(number, "label", 1, 0.1, inline=False, failed=False)
        self._scribe(event)

    def _conflict(self, number: int) -> None:
        self.aborts += 1
        self._scribe(Conflicted(number, "label", Conflict(_CELL, 1, 1), 0.1))
        if self._random.random() < 0.4:
            self._inevitable = number
            self._send(number)
        elif self._random.random() < 0.3 and number != self._inevitable:
            self._line_up(number)
        else:
            self._send(number)

    def _run_here(self, number: int) -> None:
        self.aborts += 1
        self._scribe(Aborted(number, "label", "it asks for it"))
        self._scribe(Started(number, 2, "label", inline=True))
        began = self._now
        trace = Trace(0, began, self._pass(2 * MILLISECOND), _SITES)
        self._scribe(Answered(number, "label", trace))
        self._commit(number)

    def _leave(self, number: int) -> None:
        self._open.discard(number)
        if number in self._in_order:
            self._in_order.remove(number)
        if number == self._inevitable:
            self._inevitable = 0
