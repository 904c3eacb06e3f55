"""Executors for tests: one whose every step the test chooses, one that rehearses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from txloop.executors.protocol import Executor, register_executor
from txloop.stm.run import run_attempt
from txloop.stm.store import committed
from txloop.stm.types import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from txloop.executors.protocol import Deliver, Reactor, Work
    from txloop.stm.types import Answer

__all__ = ["RehearsalExecutor", "ScriptedExecutor", "register_all"]


class ScriptedExecutor(Executor):
    """Runs an attempt when told to, and delivers its outcome when told to.

    An attempt's body runs at `begin`, against the version of that moment; whatever is
    committed between `begin` and `finish` happens while it is under way.

    Attributes:
        waiting: Work that has not begun, by attempt number.
        begun: Answers that have not been delivered, by attempt number.
    """

    name = "scripted"
    transport_seconds = 0.0  # everything is sent away

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or 2
        self.own_place = self.workers + 1
        self.waiting: dict[int, Work] = {}
        self.begun: dict[int, Answer] = {}
        self._deliver: Deliver | None = None

    def start(self, reactor: Reactor, deliver: Deliver) -> None:
        self._deliver = deliver

    def run(self, batch: Sequence[Work]) -> None:
        self.waiting.update((work.number, work) for work in batch)

    def begin(self, number: int) -> Answer:
        """Run the body of a waiting attempt and keep its answer back."""
        work = self.waiting.pop(number)
        snapshot = committed.open_snapshot()
        answer = run_attempt(work.call, speculative=True)
        if isinstance(answer, Refusal):
            committed.close_snapshot(snapshot)
        self.begun[number] = answer
        return answer

    def finish(self, number: int) -> None:
        """Deliver the answer of an attempt that has begun."""
        assert self._deliver is not None
        self._deliver(number, self.begun.pop(number))

    def refuse(self, number: int, reason: str) -> None:
        """Deliver a refusal instead of the answer of an attempt that has begun."""
        assert self._deliver is not None
        answer = self.begun.pop(number)
        if not isinstance(answer, Refusal):
            committed.close_snapshot(answer.snapshot)
        self._deliver(number, Refusal(reason))

    def run_all(self) -> None:
        """Begin and finish what waits, one after another, until nothing does."""
        while self.waiting or self.begun:
            if self.waiting:
                self.begin(min(self.waiting))
            self.finish(min(self.begun))

    def withdraw(self, number: int) -> bool:
        return self.waiting.pop(number, None) is not None

    def close(self) -> None:
        for answer in self.begun.values():
            if not isinstance(answer, Refusal):
                committed.close_snapshot(answer.snapshot)
        self.begun.clear()
        self.waiting.clear()


class RehearsalExecutor(Executor):
    """Runs every body twice on the loop thread, and throws the first run away."""

    name = "rehearsal"
    workers = 1
    own_place = 2
    transport_seconds = 0.0  # everything is sent here

    def __init__(self, workers: int | None = None) -> None:
        self.rehearsals = 0
        self._deliver: Deliver | None = None

    def start(self, reactor: Reactor, deliver: Deliver) -> None:
        self._deliver = deliver

    def run(self, batch: Sequence[Work]) -> None:
        assert self._deliver is not None
        for work in batch:
            self.rehearsals += 1
            rehearsal = run_attempt(work.call, speculative=True)
            if isinstance(rehearsal, Refusal):
                self._deliver(work.number, rehearsal)
                continue
            committed.open_snapshot()
            self._deliver(work.number, run_attempt(work.call, speculative=False))

    def close(self) -> None:
        pass


def register_all() -> None:
    """Make them known to txloop by name."""
    for kind in (ScriptedExecutor, RehearsalExecutor):
        register_executor(kind.name, f"{__name__}:{kind.__name__}")
