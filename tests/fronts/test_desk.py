"""The owner's side of a front, told by frames as a front sends them."""

from __future__ import annotations

import os
import socket
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.deltas import delta_log
from tests.logs import expect_log
from txloop import TVar
from txloop.executors.codec.answers import pack
from txloop.executors.fronts.carrier import Verdict
from txloop.executors.fronts.connection import FrontConnection
from txloop.executors.fronts.desk import Desk
from txloop.executors.fronts.link import Link
from txloop.executors.fronts.reception import Callbacks
from txloop.executors.worker_protocol import Limits
from txloop.stm.run import run_attempt
from txloop.stm.store import committed
from txloop.stm.types import Call, Key, Outcome
from txloop.stm.validation import decide

if TYPE_CHECKING:
    from txloop.executors.processes.replication import DeltaLog


@pytest.fixture
def deltas():
    """A log of commits."""
    with delta_log() as log:
        yield log


def ignore(*_: object) -> None:
    """Do nothing."""


def desk_with(limits: Limits, on_outcome: Any = ignore) -> Desk:
    """Return one whose fronts are not forked yet."""
    executor: Any = SimpleNamespace(limits=limits, trim_log=ignore)
    callbacks = Callbacks(on_outcome, *[ignore] * 7)
    return Desk(
        1,
        executor,
        ignore,
        callbacks,
        on_ask=ignore,
        is_certain=ignore,
        may_sleep=ignore,
        on_death=ignore,
    )


def front_at(
    desk: Desk, deltas: DeltaLog, place: int = 1, limits: Limits | None = None
) -> tuple[FrontConnection, socket.socket]:
    """Return a front that is not ready yet, and the socket that it would have."""
    ours, theirs = socket.socketpair()
    front = FrontConnection(
        place,
        ours,
        deltas,
        committed.version,
        place,
        slot=desk.page.slot,
        limits=limits or Limits(),
        publish=desk.publish,
    )
    return front, theirs


def connected(
    desk: Desk, deltas: DeltaLog, place: int = 1
) -> tuple[FrontConnection, Link]:
    """Return a front with one connection, at this version, and its own end."""
    front, theirs = front_at(desk, deltas, place)
    front.ready = True
    front.given = 1
    front.send()
    return front, Link(theirs)


def add(number):
    number.set(number.get() + 1)


@pytest.mark.parametrize("frames", [1, 2])
def test_an_outcome_older_than_the_replica_conflicts(deltas, frames):
    # GIVEN a front with a connection, at this version
    found: list[object] = []

    def on_outcome(
        front: FrontConnection, number: int, kind: int, out: Outcome
    ) -> None:
        found.append(decide(out, committed, ordered=False))
        committed.close_snapshot(out.snapshot)

    number = TVar(0)
    desk = desk_with(Limits(), on_outcome)
    front, other = connected(desk, deltas)

    # WHEN it has run something, followed two commits, and then tells of both
    answer = run_attempt(Call(add, (number,), {}, "add"), speculative=True)
    assert isinstance(answer, Outcome)
    number.set(10)
    number.set(11)
    outcomes = [(1, 0, pack(answer))]
    if frames == 1:
        other.send((committed.version, outcomes, b"", -1, None))
    else:
        other.send((answer.snapshot, outcomes, b"", -1, None))
        other.send((committed.version, (), b"", -1, None))
    desk._receive(front)
    other.close()
    front.close()

    # THEN
    assert [None] != found
    assert 1 == len(found)


def test_a_front_without_connections_keeps_nothing_that_was_replaced(deltas):
    # GIVEN a front whose only connection closes while a transaction of it runs
    found: list[object] = []
    number = TVar(0)
    desk = desk_with(Limits(), lambda *outcome: found.append(outcome))
    front, other = connected(desk, deltas)
    answer = run_attempt(Call(add, (number,), {}, "add"), speculative=True)
    assert isinstance(answer, Outcome)
    assert front.keeps(answer.snapshot)
    front.given = 0

    # WHEN
    other.send((committed.version, (), b"", -1, None))
    desk._receive(front)
    number.set(10)
    other.send((committed.version, [(1, 0, pack(answer))], b"", -1, None))
    desk._receive(front)

    # THEN
    assert 10 == number._tx_cells[Key.VALUE]  # no chain of versions
    assert ([], [(1, int(Verdict.ELSEWHERE))]) == (found, front.verdicts)
    other.close()
    front.close()


def test_a_front_that_has_handed_all_back_keeps_nothing_from_then_on(deltas):
    # GIVEN a front that has handed back its only connection, and says nothing any more
    number = TVar(0)
    desk = desk_with(Limits())
    desk._reactor = SimpleNamespace(call_soon=ignore)
    desk.follow(deltas)
    front, other = connected(desk, deltas)
    desk.fronts.append(front)
    desk.flush()
    number.set(10)
    assert 10 != number._tx_cells[Key.VALUE]  # while it has one
    front.given = 0

    # WHEN
    desk.flush()
    number.set(11)

    # THEN
    assert 11 == number._tx_cells[Key.VALUE]  # no chain of versions
    other.close()
    front.close()


def test_a_call_that_keeps_a_front_is_spoken_of_once(deltas):
    # GIVEN a front that has begun a call, and not ended it
    limits = Limits(slow_start_seconds=0.0)
    desk = desk_with(limits)
    front, theirs = front_at(desk, deltas, limits=limits)
    front.pid = os.getpid()  # one that lives
    desk.fronts.append(front)
    front.slot.begin(0)

    # THEN
    words = f"^front {os.getpid()} has run one call for 0 s$"
    with expect_log("txloop", words, count=1):
        for _ in range(2):
            desk._look()
    theirs.close()
    front.close()


def test_connections_that_a_dead_front_has_not_taken_are_given_to_others(deltas):
    # GIVEN a front that has taken the first of three connections
    desk = desk_with(Limits())
    front, theirs = front_at(desk, deltas)
    front.ready = True
    pipes = [os.pipe() for _ in range(3)]
    for number, (_, end) in enumerate(pipes):
        front.given += 1
        front.tell(("connection", number), end)
    theirs.recv(1 << 16)  # to the end of what has a descriptor

    # WHEN it has died, and one more is given before that is seen
    front.salvage(theirs)
    theirs.close()
    pipes.append(os.pipe())
    front.given += 1
    front.tell(("connection", 3), pipes[-1][1])
    lost = front.take_lost()

    # THEN
    assert [("connection", number) for number in (1, 2, 3)] == [one for one, _ in lost]
    for (_, descriptor), (reads, _) in zip(lost, pipes[1:], strict=True):
        os.write(descriptor, b"it")
        assert b"it" == os.read(reads, 9)
        os.close(descriptor)
    front.close()
    for reads, _ in pipes:
        os.close(reads)


def test_only_a_front_that_does_not_read_for_very_long_is_given_up(deltas):
    # GIVEN two fronts, of which one reads
    value = TVar("")
    desk = desk_with(Limits())
    desk.follow(deltas)
    (reads, one), (lags, other) = (connected(desk, deltas, at) for at in (1, 2))
    desk.fronts.extend([reads, lags])

    # WHEN more is committed than there is room for, and more of that than can be told
    for number in range(1 << 20):
        value.set(f"{number:099}")
        reads.slot.read = desk.publish()
        if lags.condemned:
            break

    # THEN
    assert "it did not read what was committed" == lags.cause
    assert not reads.condemned
    assert number * 100 > 1 << 20
    for front, link in ((reads, one), (lags, other)):
        link.close()
        front.close()


def test_only_a_front_that_waits_is_woken_for_what_others_commit(deltas):
    # GIVEN two fronts that have been told of everything
    value = TVar(0)
    desk = desk_with(Limits())
    desk.follow(deltas)
    (first, ours), (second, theirs) = connected(desk, deltas), connected(desk, deltas)
    desk.fronts.extend([first, second])
    reactor: Any = SimpleNamespace(call_soon=lambda *_, **__: None)
    desk._begin(reactor)
    for link in (ours, theirs):
        assert 1 == len(list(link.receive()))

    # WHEN the first one waits for what the loop thread commits
    value.set(1)
    ours.send((committed.version - 1, (), b"", -1, ("wait",)))
    desk._receive(first)
    desk.flush()

    # THEN
    assert 1 == len(list(ours.receive()))
    assert [] == list(theirs.receive())
    assert committed.version == desk.page.version
    desk.flush()
    assert [] == list(ours.receive())
    desk._end()
    for front, link in ((first, ours), (second, theirs)):
        link.close()
        front.close()
