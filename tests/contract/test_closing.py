"""Closing the dispatcher: what is pending ends with an error, what committed stands."""

from __future__ import annotations

import pytest

from tests.engine import note, noted, on
from txloop import TDict, TVar, TxClosedError, inevitable, on_commit
from txloop.engine.events import Committed


def add(variable):
    on_commit(note, "effect")
    variable.value += 1


def test_what_is_pending_gets_an_error(engine):
    # GIVEN
    variable = TVar(0)
    results = [engine.submit(add, variable) for _ in range(3)]
    results.append(engine.submit(add, variable, ordered=True))

    # WHEN
    engine.dispatcher.close()
    engine.dispatcher.close()
    engine.turn()

    # THEN
    assert [TxClosedError] * 4 == [type(result.error) for result in results]
    assert "before test could commit" in str(results[0].error)
    assert (0, [], 0) == (variable.value, noted, engine.dispatcher.pending)


def test_nothing_can_be_submitted_any_more(engine):
    # GIVEN
    engine.run(int)
    engine.dispatcher.close()

    # WHEN
    result = engine.submit(int)

    # THEN
    assert isinstance(result.error, TxClosedError)
    assert "test did not run" in str(result.error)


@on("scripted")
@pytest.mark.parametrize("finished", [False, True])
def test_what_has_run_without_committing_gets_an_error(engine, finished):
    # GIVEN an answer that waits for those before it
    variable = TVar(0)
    first, _ = engine.send(add, variable, ordered=True)
    second, number = engine.send(add, variable, ordered=True)
    engine.scripted.begin(number)
    if finished:
        engine.scripted.finish(number)

    # WHEN
    engine.dispatcher.close()

    # THEN
    assert [TxClosedError] * 2 == [type(one.error) for one in (first, second)]
    assert 0 == variable.value


@pytest.mark.parametrize("ordered", [False, True])
def test_an_effect_may_close_the_dispatcher(engine, ordered):
    # GIVEN several calls in a round, and one known to be short
    variable = TVar(0)
    results = [engine.submit(add, variable, ordered=ordered) for _ in range(3)]
    closing = engine.submit(note_after_close, ordered=ordered)
    results += [engine.submit(add, variable, ordered=ordered) for _ in range(3)]

    # WHEN
    noted.append(engine.dispatcher)
    engine.wait(*results, closing)

    # THEN
    committed = [one for one in engine.events if isinstance(one, Committed)]
    closed = [one for one in results if isinstance(one.error, TxClosedError)]
    assert None is closing.error
    assert 7 == len(committed) + len(closed)
    assert variable.value == len(committed) - 1 == noted.count("effect")


def note_after_close():
    on_commit(close_noted)
    on_commit(note, "closed")


def close_noted():
    noted[0].close()  # type: ignore[attr-defined] # the dispatcher


@on("scripted")
def test_an_effect_may_close_it_while_others_wait_for_an_inevitable_one(engine):
    # GIVEN an inevitable transaction, and outcomes that wait for it
    variable = TVar(0)
    noted.append(engine.dispatcher)
    unlucky, number = engine.send(change_and_close, variable)
    number = engine.make_inevitable(number, variable)
    others = []
    for ordered in (False, True, False):
        other, later = engine.send(add, variable, ordered=ordered)
        others.append(other)
        engine.scripted.begin(later)
        engine.scripted.finish(later)

    # WHEN
    engine.scripted.begin(number)
    engine.scripted.finish(number)

    # THEN
    assert unlucky.error is None
    assert [TxClosedError] * 3 == [type(other.error) for other in others]
    assert [engine.dispatcher, "closed"] == noted
    assert 301 == variable.value


def change_and_close(variable):
    variable.value += 1
    note_after_close()


@pytest.mark.parametrize("ordered", [False, True])
def test_an_effect_may_close_it_in_a_round_that_runs_here(engine, ordered):
    # GIVEN calls that are known to be short, in one round
    variable = TVar(0)
    profile = engine.profile()
    profile.on_loop_because = "the test says so"
    noted.append(engine.dispatcher)
    bodies = [add, add, change_and_close, add, add]

    # WHEN
    results = [
        engine.submit(body, variable, profile=profile, ordered=ordered)
        for body in bodies
    ]
    engine.wait(*results)

    # THEN
    kinds = [type(result.error) for result in results]
    assert [type(None)] * 3 + [TxClosedError] * 2 == kinds
    assert 3 == variable.value
    assert [engine.dispatcher, "effect", "effect", "closed"] == noted


def close_in_body(variable):
    inevitable()
    variable.value += 1
    close_noted()
    return "closed"


def test_a_body_on_the_loop_thread_may_close_it(engine):
    # GIVEN
    variable = TVar(0)
    noted.append(engine.dispatcher)
    results = [engine.submit(body, variable) for body in (close_in_body, add)]

    # WHEN
    engine.wait(*results)
    engine.turn()

    # THEN each was answered once, and what the answer says is so
    assert isinstance(results[0].error, TxClosedError)
    assert variable.value == (results[1].error is None)


def test_shared_state_is_a_plain_value_again(engine):
    # GIVEN
    shared = TDict(n=1)
    engine.run(shared.get, "n")

    # WHEN
    engine.dispatcher.close()
    shared["n"] += 1

    # THEN
    assert {"n": 2} == shared


def test_closing_before_anything_ran_is_fine(engine):
    engine.dispatcher.close()

    assert 0 == engine.dispatcher.pending
