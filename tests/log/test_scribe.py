"""What the scribe writes, told step by step: any order of events is a whole log."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import conflict_log
from tests.logs import expect_log
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
    from collections.abc import Callable

    from txloop.engine.events import Event

WORKERS = 2
CELL = (1, "key")


class Told:
    """A scribe that is told what a test makes up, and the log of it.

    What workers did is made up, too. The time goes on by 10 microseconds whenever it is
    looked at.
    """

    def __init__(self, path):
        self.path = path
        self.now = 10**12
        self.hub = Hub(self.clock)
        self.hub.open(str(path), 1 << 20)
        self.scribe = Scribe(self.hub, self, WORKERS + 1, lambda *_: None, {})
        self.at = {}  # running, by worker
        self.closed = False
        self.retired = False

    def clock(self):
        self.now += 10_000
        return self.now

    def running(self):
        return [
            (number, Running(number, worker, since))
            for worker, (number, since) in self.at.items()
        ]

    def untrace(self, listener):
        assert listener is self.scribe
        self.retired = True

    def start(self, number, worker):
        """Give a call to a worker, which begins at once."""
        self.scribe(Started(number, 1, "label", inline=False))
        self.at[worker] = number, self.clock()

    def answer(self, number, worker, stop=None):
        """Let a worker return."""
        _, since = self.at.pop(worker)
        sites = (("app.py", 7, "get"),)
        trace = Trace(worker, since, self.clock(), sites, {CELL: 0}, {CELL: 0}, stop)
        self.scribe(Answered(number, "label", trace))

    def close(self):
        """End as a loop does, whose executor is closed first."""
        if not self.closed:
            self.closed = True
            self.at.clear()
            self.scribe(Closed())

    def report(self):
        self.close()
        report = conflict_log.load(self.path)
        totals = report.totals
        assert not report.damaged
        assert not report.notes
        assert totals.worker_ns == totals.busy_ns + totals.idle_ns
        assert 0 == totals.unattributed_ns
        assert totals.idle_ns >= 0
        return report


@pytest.fixture
def told(tmp_path):
    told = Told(tmp_path / "stm.log")
    yield told
    told.close()
    told.hub.close()


def test_who_is_dropped_was_aborted(told):
    # WHEN
    told.start(1, 1)
    told.answer(1, 1)
    told.scribe(Dropped(1, "label"))

    # THEN
    totals = told.report().totals
    assert (0, 1) == (totals.commits, totals.aborts)


def test_events_of_calls_that_were_not_traced_are_passed_over(told):
    # WHEN the log begins in the midst
    for number, event in enumerate(
        [
            Committed(1, "label", 3, 0.1, inline=False, failed=False),
            Conflicted(2, "label", Conflict(CELL, 1, 2), 0.1),
            Retried(3, "label", 0.1, waits=True),
            Aborted(4, "label", "reason"),
            Waited(5, "label", 6),
            Dropped(7, "label"),
        ]
    ):
        told.scribe(event)
        assert number < 6
    told.start(8, 1)
    told.answer(8, 1)
    told.scribe(Committed(8, "label", 3, 0.1, inline=False, failed=False))

    # THEN
    assert 1 == told.report().totals.commits


def test_when_the_log_has_ended_nothing_is_traced_any_more(tmp_path):
    # GIVEN a reader that leaves
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    told = Told(tmp_path / "pipe")
    os.close(reader)

    # WHEN
    told.start(1, 1)
    told.answer(1, 1)
    with expect_log("txloop", "ends here: Broken pipe"):
        told.scribe(Committed(1, "label", 1, 0.1, inline=False, failed=False))
        told.hub.flush(settling_ns=0)

    # THEN
    assert told.retired
    assert not told.hub.wanted


def test_a_dead_worker_s_attempt_ends_in_the_log_soon(told):
    # GIVEN
    told.start(1, 1)
    told.hub.flush(settling_ns=0)

    # WHEN
    told.at.clear()
    told.hub.flush(settling_ns=0)
    told.hub.flush(settling_ns=0)

    # THEN its START and its ABORT are there
    assert 16 + 2 * 19 == told.path.stat().st_size


def test_another_run_of_the_same_call_is_another_attempt(told):
    # GIVEN
    told.start(1, 1)
    told.hub.flush(settling_ns=0)

    # WHEN its worker dies, and the one in its place runs it again
    told.at[1] = 1, told.clock()
    told.hub.flush(settling_ns=0)
    told.answer(1, 1)
    told.scribe(Committed(1, "label", 1, 0.1, inline=False, failed=False))

    # THEN
    totals = told.report().totals
    assert (1, 1) == (totals.commits, totals.aborts)


def test_a_call_from_before_the_log_is_committed_without_a_trace(told):
    # GIVEN a call that is not traced, and that runs for so long that it is in the log
    told.start(1, 1)
    told.hub.flush(settling_ns=0)

    # WHEN
    told.at.clear()
    told.scribe(ENDS["commit"](1))

    # THEN
    totals = told.report().totals
    assert (1, 0) == (totals.commits, totals.aborts)


def test_a_line_is_looked_at_when_somebody_joins_it(told):
    # GIVEN a worker that has nothing to do
    told.start(1, 1)
    told.answer(1, 1)
    told.scribe(Conflicted(1, "label", Conflict(CELL, 1, 1), 0.1))

    # WHEN a call joins a line, and it gets another one before the log is written
    told.scribe(LinedUp(2, "label"))
    told.start(3, 1)
    told.hub.flush(settling_ns=0)
    told.answer(3, 1)
    told.scribe(Committed(3, "label", 1, 0.1, inline=False, failed=False))

    # THEN
    assert told.report().totals.paused_ns["contention"] > 0


def test_a_worker_does_not_idle_for_a_call_that_is_dropped(told):
    # GIVEN
    told.start(1, 1)
    told.answer(1, 1)
    told.scribe(Conflicted(1, "label", Conflict(CELL, 1, 1), 0.1))
    told.scribe(LinedUp(2, "label"))

    # WHEN it leaves the line, and nothing more happens for a second
    told.scribe(Dropped(2, "label"))
    told.now += 1_000_000_000

    # THEN
    assert told.report().totals.paused_ns["contention"] < 1_000_000


def test_a_worker_that_idles_may_be_held_by_an_inevitable_transaction(told):
    # GIVEN a worker that has nothing more to do, while a call is in line
    told.start(1, 1)
    told.answer(1, 1)
    told.scribe(Conflicted(1, "label", Conflict(CELL, 1, 1), 0.1))
    told.scribe(LinedUp(2, "label"))
    told.start(3, 1)
    told.answer(3, 1)

    # WHEN its answer has to wait, and it begins another call
    told.scribe(Waited(3, "label", 9))
    told.start(4, 1)
    told.answer(4, 1)
    told.scribe(ENDS["commit"](3))
    told.scribe(ENDS["commit"](4))

    # THEN the first has ended before the second has begun
    totals = told.report().totals
    assert (2, 1) == (totals.commits, totals.aborts)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "start",
                "answer",
                "commit",
                "conflict",
                "retry",
                "refuse",
                "hold",
                "drop",
                "line",
                "bar",
                "round",
                "flush",
                "die",
            ]
        ),
        st.integers(0, WORKERS - 1),
    ),
    max_size=40,
)


@pytest.mark.slow
@given(STEPS)
@example([("start", 0), ("flush", 0), ("die", 0), ("start", 0), ("answer", 0)])
@example([("start", 0), ("answer", 0), ("hold", 0), ("flush", 0), ("start", 0)])
@example([("bar", 0), ("flush", 0), ("start", 0), ("round", 0), ("answer", 0)])
@example([("bar", 0), ("flush", 0), ("start", 1), ("round", 0), ("answer", 1)])
def test_whatever_happens_the_log_is_whole(tmp_path_factory, steps):
    # GIVEN
    told = Told(tmp_path_factory.mktemp("log") / "stm.log")
    answered: list[int] = []
    in_line: list[int] = []
    ended, number = 1, 0
    told.start(1, 1)
    told.answer(1, 1)
    told.scribe(ENDS["commit"](1))

    # WHEN
    for step, which in steps:
        worker = which + 1
        if step == "start" and worker not in told.at:
            number = in_line.pop() if in_line else number + 1000
            told.start(number, worker)
        elif step == "answer" and worker in told.at:
            answered.append(told.at[worker][0])
            told.answer(answered[-1], worker, ("app.py", 9, "get"))
        elif step == "die":
            told.at.pop(worker, None)
        elif step == "line":
            number += 1000
            in_line.append(number)
            told.scribe(LinedUp(number, "label"))
        elif step == "bar":
            told.scribe(RoundWaits())
        elif step == "round":
            told.scribe(RoundRun(1))
        elif step == "flush":
            told.hub.flush(settling_ns=0)
        elif step == "hold" and answered:
            told.scribe(Waited(answered[which % len(answered)], "label", 5))
        elif answered and step in ENDS:
            told.scribe(ENDS[step](answered.pop(which % len(answered))))
            ended += 1

    # THEN
    totals = told.report().totals
    assert totals.commits + totals.aborts >= ended


ENDS: dict[str, Callable[[int], Event]] = {
    "commit": lambda one: Committed(one, "label", 1, 0.1, inline=False, failed=False),
    "conflict": lambda one: Conflicted(one, "label", Conflict(CELL, 1, 1), 0.1),
    "retry": lambda one: Retried(one, "label", 0.1, waits=True),
    "refuse": lambda one: Aborted(one, "label", "it asks for it"),
    "drop": lambda one: Dropped(one, "label"),
}
