"""What listeners are told, in which order; one that fails does no harm."""

from __future__ import annotations

from tests.engine import on
from tests.logs import expect_log
from txloop import TVar, inevitable
from txloop.engine.events import Committed, RoundRun, Started


def increment(variable):
    variable.value += 1
    return variable.value


def story(engine):
    """Return what was told, without the figures."""
    return [
        (type(event).__name__, getattr(event, "transaction", 0))
        for event in engine.events
    ]


@on("scripted")
def test_the_story_of_a_conflict(engine):
    # GIVEN
    variable = TVar(0)
    first, one = engine.send(increment, variable)
    second, other = engine.send(increment, variable)

    # WHEN
    for number in (one, other):
        engine.scripted.begin(number)
    for number in (one, other):
        engine.scripted.finish(number)
    engine.wait(first, second)

    # THEN
    expected = [
        ("RoundRun", 0),
        ("Started", 1),
        ("RoundRun", 0),
        ("Started", 2),
        ("Committed", 1),
        ("Conflicted", 2),
        ("Started", 2),
        ("Committed", 2),
    ]
    assert expected == story(engine)
    starts = [event for event in engine.events if isinstance(event, Started)]
    assert [1, 1, 2] == [event.attempt for event in starts]
    commits = [event for event in engine.events if isinstance(event, Committed)]
    assert 1 == commits[1].version - commits[0].version


@on("scripted")
def test_the_story_of_an_inevitable_transaction(engine):
    # GIVEN
    variable = TVar(0)
    unlucky, number = engine.send(increment, variable)
    number = engine.make_inevitable(number, variable)

    # WHEN another one is ready before it
    engine.scripted.begin(number)
    other, later = engine.send(int)
    engine.scripted.begin(later)
    engine.scripted.finish(later)
    engine.scripted.finish(number)

    # THEN
    told = story(engine)[-3:]
    assert [("Waited", 2), ("Committed", 1), ("Committed", 2)] == told
    assert (True, True) == (unlucky.done, other.done)


@on("processes", "threads", "rehearsal", "scripted")
def test_the_story_of_a_call_that_goes_home(engine):
    # WHEN
    engine.run(inevitable)

    # THEN
    steps = ["RoundRun", "Started", "Aborted", "Started", "Committed"]
    assert steps == [step for step, _ in story(engine)]
    starts = [event for event in engine.events if isinstance(event, Started)]
    assert [False, True] == [event.inline for event in starts]


def test_a_round_is_what_was_submitted_together(engine):
    # GIVEN
    together = [engine.submit(int) for _ in range(3)]
    engine.wait(*together)

    # WHEN
    engine.run(int)

    # THEN
    rounds = [event for event in engine.events if isinstance(event, RoundRun)]
    assert [3, 1] == [event.transactions for event in rounds]
    assert (2, 4) == (
        engine.dispatcher.stats().rounds,
        engine.dispatcher.stats().marked,
    )


def test_a_listener_that_fails_is_removed(engine):
    # GIVEN
    told = []

    def fail_later(event):
        told.append(event)
        if len(told) == 2:
            raise OSError("full")

    engine.dispatcher.listeners.insert(0, fail_later)

    # WHEN
    with expect_log("txloop", "the listener .*fail_later.* failed and was removed"):
        value = engine.run(int)

    # THEN
    assert (0, 2) == (value, len(told))
    assert [engine.events.append] == engine.dispatcher.listeners


def test_the_start_is_told_once_before_the_executor_starts(engine):
    # GIVEN
    told = []
    start = engine.executor.start

    def start_and_tell(*args):
        told.append("starts")
        start(*args)

    engine.executor.start = start_and_tell
    engine.dispatcher._on_start = lambda: told.append("is told")

    # WHEN
    before = list(told)
    engine.run(int)
    engine.run(int)

    # THEN
    assert ([], ["is told", "starts"]) == (before, told)
