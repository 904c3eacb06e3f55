"""What is short runs right where it is submitted, and takes effect as anywhere else."""

from __future__ import annotations

import contextvars
import logging

import pytest

from tests.engine import Result, note, noted, on, running
from tests.logs import expect_log
from txloop import Channel, TVar, on_commit, retry
from txloop.errors import TxClosedError
from txloop.stm.types import Call

log = logging.getLogger("tests.contract.at_once")

WHO = contextvars.ContextVar[str]("WHO")


class Short:
    """An engine in which nothing listens, and a function that has to run here."""

    def __init__(self, engine):
        self.engine = engine
        self.profile = engine.profile()
        self.profile.on_loop_because = "the test says so"
        # The loop's thread owns the store from now on; no worker is forked for that.
        engine.wait(engine.submit(int, profile=self.profile))
        engine.dispatcher.listeners.clear()

    def submit(self, function, *args, done=None, **options):
        """Submit a call that may run at once."""
        result = Result(self.engine.loop)
        call = Call(function, args, {}, "short", **options)
        result.number = self.engine.dispatcher.submit_ready(
            call, self.profile, done or result.settle, call.ordered
        )
        return result


@pytest.fixture
def short(engine):
    return Short(engine)


def add(box, number=1):
    box.value += number
    return box.value


def test_it_has_ended_when_submit_returns(short):
    # GIVEN
    box = TVar(5)
    before = short.engine.dispatcher.stats().commits

    # WHEN
    result = short.submit(add, box)

    # THEN
    stats = short.engine.dispatcher.stats()
    assert (6, 6, 0) == (result.value, box.value, result.number)
    assert (before + 1, 0, 0) == (stats.commits, stats.aborts, stats.pending)
    assert (2, 2) == (short.profile.attempts, short.profile.inline)


def fail(box):
    on_commit(note, "never")
    box.value = "wrong"
    raise KeyError(box)


@pytest.mark.parametrize(
    ("commits_on", "left"), [((), "right"), ((KeyError,), "wrong")]
)
def test_one_that_raises_has_changed_nothing_unless_it_commits(short, commits_on, left):
    # GIVEN
    box = TVar("right")

    # WHEN
    result = short.submit(fail, box, commits_on=commits_on)

    # THEN
    assert isinstance(result.error, KeyError)
    assert left == box.value
    assert ["never"] * len(commits_on) == noted
    assert (2, 1) == (short.profile.commits, short.profile.errors)


def take(box):
    if box.value is None:
        retry()
    value, box.value = box.value, None
    return value


def test_one_that_retries_waits_for_a_change(short):
    # GIVEN
    box: TVar[str | None] = TVar(None)

    # WHEN
    result = short.submit(take, box)
    waits = result.done, short.engine.dispatcher.stats().waiting
    box.value = "something"
    short.engine.wait(result)

    # THEN
    assert (False, 1) == waits
    assert result.number
    assert "something" == result.value


def test_one_that_waits_can_be_left(short):
    # GIVEN
    box: TVar[str | None] = TVar(None)
    result = short.submit(take, box)

    # WHEN
    short.engine.dispatcher.leave(result.number)

    # THEN
    assert 0 == short.engine.dispatcher.pending


def test_what_it_writes_wakes_others(short):
    # GIVEN
    box: TVar[str | None] = TVar(None)
    waiting = short.engine.submit(take, box)
    short.engine.until(lambda: short.engine.dispatcher.busy == 0)

    # WHEN
    short.submit(setattr, box, "value", "something")
    short.engine.wait(waiting)

    # THEN
    assert "something" == waiting.value


def test_all_that_wait_are_served_one_after_another(short):
    # GIVEN
    channel = Channel[int]()
    results = [short.submit(channel.get) for _ in range(5)]

    # WHEN
    for number in range(5):
        channel.put(number)
    short.engine.wait(*results)

    # THEN
    assert list(range(5)) == [result.value for result in results]


def tell(name):
    on_commit(note, name)
    log.warning("told of %s", name)


def test_its_effects_and_records_come_before_its_result(short):
    # WHEN
    with expect_log("tests.contract.at_once", "^told of it$"):
        result = short.submit(tell, "it", done=lambda *answer: note("done", *answer))

    # THEN
    assert ["it", ("done", None, None)] == noted
    assert 0 == result.number


def test_a_result_that_cannot_be_taken_is_logged(short):
    def refuse(value, error):
        raise ValueError(value)

    with expect_log("txloop", "^an effect failed: .*refuse, asked for at test$"):
        short.submit(int, done=refuse)

    assert 0 == short.engine.dispatcher.pending


def test_what_a_result_causes_runs_after_it(short):
    # GIVEN
    box, results = TVar(0), []

    def done(value, error):
        results.append(short.submit(add, box))
        note("done", value, results[0].done)

    # WHEN
    short.submit(add, box, done=done)
    short.engine.wait(*results)

    # THEN
    assert [("done", 1, False)] == noted
    assert 2 == results[0].value


def test_a_body_that_closes_the_loop_gets_an_error(short):
    result = short.submit(short.engine.dispatcher.close)

    assert isinstance(result.error, TxClosedError)


@on("scripted")
def test_it_does_not_overtake_those_that_commit_in_order(short):
    # GIVEN
    first, number = short.engine.send(int, ordered=True)

    # WHEN
    result = short.submit(int, 5, ordered=True)
    at_once = result.done
    short.engine.turn()
    waited = result.done
    short.engine.scripted.begin(number)
    short.engine.scripted.finish(number)

    # THEN
    assert (False, False) == (at_once, waited)
    assert (True, 5) == (first.done, result.value)


@on("serial")
def test_with_a_listener_it_goes_the_way_of_all(short):
    # GIVEN
    events: list[object] = []
    short.engine.dispatcher.listeners.append(events.append)

    # WHEN
    result = short.submit(int, 5)
    at_once = result.done
    short.engine.wait(result)

    # THEN
    assert not at_once
    names = [type(event).__name__ for event in events]
    assert ["RoundRun", "Started", "Committed"] == names


def test_with_a_barrier_it_waits_for_the_round():
    with running("serial", barrier=True) as engine:
        short = Short(engine)

        result = short.submit(int, 5)
        at_once = result.done
        engine.wait(result)

    assert not at_once
    assert 5 == result.value


def test_one_that_had_to_wait_for_its_round_finds_its_own_context(short):
    # GIVEN
    def begin(who):
        WHO.set(who)
        call = Call(WHO.get, (), {}, "short")
        result = Result(short.engine.loop)
        short.engine.dispatcher.submit(call, short.profile, result.settle)
        return result

    # WHEN
    results = [contextvars.Context().run(begin, who) for who in ("ann", "bob")]
    short.engine.wait(*results)

    # THEN
    assert ["ann", "bob"] == [result.value for result in results]
