"""The engine's machine alone, in cases that each need many stimuli to come about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.model.quiet import reporter
from txloop.engine.machine import MOST_CONFLICTS, Machine
from txloop.engine.profile import Profile
from txloop.engine.stimuli import (
    Answered,
    Arrived,
    Commit,
    Conflicting,
    HandBack,
    Placed,
    RanHere,
    RunHere,
    RunRound,
    RunsHere,
    Send,
    Submitted,
    Valid,
    Validate,
    Woken,
)
from txloop.engine.transaction import State, Transaction
from txloop.errors import TxInternalError
from txloop.stm.types import Call, Conflict, Outcome, Refusal, Retry

if TYPE_CHECKING:
    from txloop.engine.stimuli import Action

WORKERS = 2
CELL = (1, "a")


def test_what_cannot_happen_tells_the_story():
    # GIVEN
    machine = Machine(reporter(), WORKERS)
    transaction = Transaction(7, Call(print), Profile("ann"), lambda *_: None)
    machine.handle(Submitted(transaction))
    (begun,) = machine.begin_round()
    machine.handle(Placed(begun, here=False))

    # THEN
    expected = "Woken cannot happen to <transaction 7 of ann: NEW > ROUND > AWAY>"
    with pytest.raises(TxInternalError, match=expected):
        machine.handle(Woken(transaction, timed_out=False))


def test_the_last_conflict_makes_it_inevitable_and_holds_the_others():
    # GIVEN
    machine = Machine(reporter(), WORKERS)
    first, second = (
        Transaction(number, Call(print), Profile("ann"), lambda *_: None)
        for number in (1, 2)
    )
    for one in (first, second):
        machine.handle(Submitted(one))
    for one in machine.begin_round():
        machine.handle(Placed(one, here=False))

    # WHEN
    for _ in range(MOST_CONFLICTS):
        assert [Validate(first)] == machine.handle(Answered(first, Outcome(1)))
        actions = machine.handle(Conflicting(first, Conflict(CELL, 1, 2)))

    # THEN
    assert [] == actions
    assert [Send(first, urgent=True)] == machine.step()
    assert [] == machine.handle(Answered(second, Outcome(1)))
    assert State.HELD is second.state
    assert machine.step() is None
    assert [Validate(first)] == machine.handle(Answered(first, Outcome(1)))
    assert [Commit(first, Outcome(1))] == machine.handle(Valid(first))
    assert [Validate(second)] == machine.step()


def test_what_a_front_has_run_goes_back_there_if_it_cannot_commit():
    # GIVEN
    machine = Machine(reporter(), WORKERS)
    transaction = Transaction(1, Call(print), Profile("ann"), lambda *_: None)
    transaction.hand_back = print
    conflict = Conflict(CELL, 1, 2)

    # WHEN
    assert [Validate(transaction)] == machine.handle(Arrived(transaction, Outcome(1)))
    actions = machine.handle(Conflicting(transaction, conflict))

    # THEN
    assert [HandBack(transaction, conflict)] == actions
    assert State.DONE is transaction.state
    assert not machine.open


def test_what_a_front_has_refused_to_run_runs_here():
    # GIVEN
    machine = Machine(reporter(), WORKERS)
    transaction = Transaction(1, Call(print), Profile("ann"), lambda *_: None)

    # WHEN
    refusal = Refusal("the test says so")
    actions = machine.handle(Arrived(transaction, refusal))

    # THEN so do all later calls of its function
    because = transaction.profile.on_loop_because
    assert ([RunHere(transaction)], "the test says so") == (actions, because)


def test_a_barrier_does_not_keep_back_one_that_others_of_the_round_wait_for():
    # GIVEN one in order that waits for a change, and a round with one after it
    machine = Machine(reporter(), WORKERS, barrier=True)
    first, second = (
        Transaction(number, Call(print, ordered=True), Profile("ann"), lambda *_: None)
        for number in (1, 2)
    )
    machine.handle(RunsHere(first))
    machine.handle(RanHere(first, Retry(1)))
    first.waiting_since = 1.0
    machine.handle(Submitted(second))
    for one in machine.begin_round():
        machine.handle(Placed(one, here=False))

    # WHEN the first one is woken, and takes its place in the order
    assert [RunRound()] == machine.handle(Woken(first, timed_out=False))

    # THEN it runs, as the other one has to wait for it
    assert [] == machine.handle(Answered(second, Outcome(1)))
    assert [first] == machine.begin_round()
    machine.handle(Placed(first, here=False))
    assert [Validate(first)] == machine.handle(Answered(first, Outcome(1)))
    machine.handle(Valid(first))
    assert [Validate(second)] == machine.step()


def test_one_that_is_woken_goes_before_an_inevitable_one_after_it_in_the_order():
    """It would have been held back by the one that has to wait for it."""
    # GIVEN one in order that waits for a change, and a later one that is inevitable
    machine = Machine(reporter(), WORKERS)
    first, second = (
        Transaction(number, Call(print, ordered=True), Profile("ann"), lambda *_: None)
        for number in (1, 2)
    )
    machine.handle(RunsHere(first))
    machine.handle(RanHere(first, Retry(1)))
    first.waiting_since = 1.0
    machine.handle(Submitted(second))
    (begun,) = machine.begin_round()
    machine.handle(Placed(begun, here=False))
    for _ in range(MOST_CONFLICTS):
        machine.handle(Answered(second, Outcome(1)))
        machine.handle(Conflicting(second, Conflict(CELL, 1, 2)))
    assert [Send(second, urgent=True)] == machine.step()

    # WHEN
    machine.handle(Woken(first, timed_out=False))
    (begun,) = machine.begin_round()
    machine.handle(Placed(begun, here=False))

    # THEN
    assert [] == machine.handle(Answered(second, Outcome(1)))
    assert machine.step() is None
    assert [Validate(first)] == machine.handle(Answered(first, Outcome(1)))
    machine.handle(Valid(first))
    assert [Validate(second)] == machine.step()


def in_order(machine: Machine, *numbers: int) -> list[Transaction]:
    """Return some in order that wait for a change, and the last, which is away."""
    every = [
        Transaction(number, Call(print, ordered=True), Profile("ann"), lambda *_: None)
        for number in numbers
    ]
    for one in every[:-1]:
        machine.handle(RunsHere(one))
        machine.handle(RanHere(one, Retry(1)))
        one.waiting_since = 1.0
    machine.handle(Submitted(every[-1]))
    (begun,) = machine.begin_round()
    machine.handle(Placed(begun, here=False))
    return every


def conflict_to_the_bound(machine: Machine, transaction: Transaction) -> list[Action]:
    """Let one that is away have all its conflicts."""
    actions: list[Action] = []
    for _ in range(MOST_CONFLICTS):
        machine.handle(Answered(transaction, Outcome(1)))
        conflict = Conflict(CELL, 1, 2)
        actions = machine.handle(Conflicting(transaction, conflict))
    return actions


def test_one_that_an_inevitable_one_waits_for_runs_here_at_its_last_conflict():
    """It could not be inevitable before that one has ended."""
    # GIVEN one that is woken, and a later one that is inevitable
    machine = Machine(reporter(), WORKERS)
    first, second = in_order(machine, 1, 2)
    assert [] == conflict_to_the_bound(machine, second)
    assert [Send(second, urgent=True)] == machine.step()
    machine.handle(Woken(first, timed_out=False))
    (begun,) = machine.begin_round()
    machine.handle(Placed(begun, here=False))

    # WHEN
    actions = conflict_to_the_bound(machine, first)

    # THEN
    assert [RunHere(first)] == actions


def test_of_those_that_are_to_be_inevitable_the_first_in_order_is_so_first():
    # GIVEN two that wait for one that is inevitable, and has no place in the order
    machine = Machine(reporter(), WORKERS)
    first, second = in_order(machine, 1, 2)
    other = Transaction(3, Call(print), Profile("bob"), lambda *_: None)
    machine.handle(Submitted(other))
    (begun,) = machine.begin_round()
    machine.handle(Placed(begun, here=False))
    conflict_to_the_bound(machine, other)
    conflict_to_the_bound(machine, second)
    machine.handle(Woken(first, timed_out=False))
    (begun,) = machine.begin_round()
    machine.handle(Placed(begun, here=False))
    conflict_to_the_bound(machine, first)

    # WHEN
    assert [Send(other, urgent=True)] == machine.step()
    machine.handle(Answered(other, Outcome(1)))
    machine.handle(Valid(other))

    # THEN
    assert [Send(first, urgent=True)] == machine.step()
