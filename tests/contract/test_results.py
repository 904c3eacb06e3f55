"""What a caller gets back, what stays of a call, and when later calls see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.engine import Gate, note_on_commit, noted, on
from txloop import TDict, TVar, TxForgottenError
from txloop.engine.events import Committed, Started


def plain(value):
    """Return containers as plain dicts, deeply."""
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return value


# Values and errors


def add(shared, key, amount=1):
    shared[key] = shared.get(key, 0) + amount
    return shared[key]


def test_a_call_returns_its_value_and_its_writes_stay(engine):
    # GIVEN
    shared = TDict(n=1)

    # WHEN
    results = [engine.submit(add, shared, "n", amount=10) for _ in range(3)]
    engine.wait(*results)

    # THEN
    assert [11, 21, 31] == sorted(result.value for result in results)
    assert {"n": 31} == shared
    assert 0 == engine.dispatcher.pending


class Refused(Exception):
    pass


def fail(shared, variable):
    shared["n"] = 2
    shared["new"] = 2
    del shared["gone"]
    variable.value = 2
    note_on_commit("never")
    raise Refused(shared["n"])


def test_an_error_undoes_the_writes_and_drops_the_effects(engine):
    # GIVEN
    shared, variable = TDict(n=1, gone=1), TVar(1)

    # WHEN
    with pytest.raises(Refused) as caught:
        engine.run(fail, shared, variable)

    # THEN
    assert (2,) == caught.value.args
    assert {"n": 1, "gone": 1} == shared
    assert (1, []) == (variable.value, noted)


def test_an_error_may_commit_where_the_call_says_so(engine):
    # GIVEN
    shared, variable = TDict(n=1, gone=1), TVar(1)

    # WHEN
    result = engine.submit(fail, shared, variable, commits_on=(Refused, OSError))
    engine.wait(result)

    # THEN
    assert isinstance(result.error, Refused)
    assert [("n", 2), ("new", 2)] == list(shared.items())
    assert (2, ["never"]) == (variable.value, noted)


def test_only_the_named_errors_commit(engine):
    # GIVEN
    shared = TDict(n=1, gone=1)

    # WHEN
    result = engine.submit(fail, shared, TVar(1), commits_on=(OSError,))
    engine.wait(result)

    # THEN
    assert isinstance(result.error, Refused)
    assert {"n": 1, "gone": 1} == shared


def test_errors_are_counted_as_commits(engine):
    # WHEN
    engine.wait(engine.submit(int), engine.submit(int, "x"))

    # THEN
    stats = engine.dispatcher.stats()
    assert (2, 1, 0) == (stats.commits, stats.errors, stats.aborts)
    failed = [event.failed for event in engine.events if isinstance(event, Committed)]
    assert [False, True] == sorted(failed)


# Containers in containers


def build(shared):
    shared["made"] = {"deep": {"x": 1}}
    shared["made"]["deep"]["y"] = 2
    shared["variable"] = TVar(shared["made"])
    return shared["made"]


def test_containers_made_in_a_transaction_are_shared(engine):
    # GIVEN
    shared: TDict[str, Any] = TDict()

    # WHEN
    made = engine.run(build, shared)

    # THEN
    assert isinstance(made, TDict)
    assert made is shared["made"]
    assert made is shared["variable"].value
    assert {"deep": {"x": 1, "y": 2}} == plain(made)

    # WHEN
    made["deep"]["x"] = 10
    second = engine.run(add, made["deep"], "x")

    # THEN
    assert 11 == second
    assert {"deep": {"x": 11, "y": 2}} == plain(shared["made"])


def give():
    return TDict(a=TVar(1)), TDict()


def test_containers_can_be_returned_without_being_stored(engine):
    # WHEN
    full, empty = engine.run(give)
    empty["b"] = 2

    # THEN
    assert 1 == full["a"].value
    assert 3 == engine.run(add, empty, "b")
    assert 5 == engine.run(add, empty, "new", 5)
    assert {"b": 3, "new": 5} == empty


def keep_in(shared, *things):
    shared["things"] = things
    return shared["things"][0] is things[0], sum(thing.value for thing in things)


def test_containers_can_be_passed_as_arguments(engine):
    # GIVEN
    shared, first, second = TDict[str, Any](), TVar(1), TVar(2)

    # WHEN
    result = engine.run(keep_in, shared, first, second)

    # THEN
    assert (True, 3) == result
    assert (first, second) == shared["things"]


def make_and_fail(shared):
    shared["made"] = {}
    raise Refused(TDict(a=1), TVar(1))


def test_containers_of_a_call_that_failed_are_empty(engine):
    # GIVEN
    shared = TDict[str, Any]()

    # WHEN
    with pytest.raises(Refused) as caught:
        engine.run(make_and_fail, shared)

    # THEN
    made, variable = caught.value.args
    assert {} == made == shared
    for get in (variable.get, lambda: engine.run(variable.get)):
        with pytest.raises(TxForgottenError, match="in a transaction that was undone"):
            get()
    variable.value = 2
    assert 2 == engine.run(variable.get)


# Real time


def look(shared, key):
    return shared.get(key)


def test_a_later_call_sees_what_an_earlier_one_wrote(engine):
    # GIVEN
    shared = TDict(n=0)

    # WHEN
    seen = []
    for _ in range(20):
        result = engine.submit(add, shared, "n")
        engine.wait(result)
        looks = [engine.submit(look, shared, "n") for _ in range(3)]
        engine.wait(*looks)
        seen += [one.value == result.value for one in looks]

    # THEN
    assert [True] * 60 == seen


def test_a_call_sees_what_unmarked_code_wrote_before(engine):
    # GIVEN
    shared = TDict(n=0)
    assert 0 == engine.run(look, shared, "n")

    # WHEN
    shared["n"] = 5
    result = engine.submit(look, shared, "n")

    # THEN
    engine.wait(result)
    assert 5 == result.value


def look_twice(shared, started, gate):
    first = shared["n"]
    started.open()
    gate.wait()
    return first, shared["n"], len(shared), list(shared)


@on("processes", "threads")
def test_what_only_reads_never_conflicts(engine, tmp_path):
    # GIVEN
    shared = TDict(n=1, other=1)
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    result = engine.submit(look_twice, shared, started, gate)
    engine.until(lambda: started.is_open)

    # WHEN
    shared["n"] = 2
    shared["new"] = 2
    del shared["other"]
    gate.open()
    engine.wait(result)

    # THEN
    assert (1, 1, 2, ["n", "other"]) == result.value
    assert 0 == engine.aborts


@on("scripted")
def test_what_only_reads_never_conflicts_scripted(engine):
    # GIVEN
    shared = TDict(n=1)
    result, number = engine.send(look, shared, "n")
    engine.scripted.begin(number)

    # WHEN
    shared["n"] = 2
    engine.scripted.finish(number)

    # THEN
    assert (1, 0) == (result.value, engine.aborts)


# Size


def reverse(shared, text):
    shared["text"] = text
    return text[::-1]


@pytest.mark.parametrize("count", [1, 8])
def test_large_arguments_values_and_results_pass(engine, count):
    # GIVEN more than any buffer on the way holds
    shared = TDict[str, Any]()
    texts = [bytes([65 + number, 66]) * 1_000_000 for number in range(count)]

    # WHEN
    results = [engine.submit(reverse, shared, text) for text in texts]
    engine.wait(*results)

    # THEN
    assert [text[::-1] for text in texts] == [result.value for result in results]
    assert shared["text"] in texts


def test_many_small_calls_pass(engine):
    # GIVEN
    shared, short = TDict(n=0), engine.short()

    # WHEN
    results = [engine.submit(look, shared, "n", profile=short) for _ in range(1000)]
    engine.wait(*results)

    # THEN
    assert {0} == {result.value for result in results}


# Order


def append(variable, name):
    variable.value += (name,)
    note_on_commit(name)
    return variable.value


def test_ordered_calls_commit_in_the_order_of_their_submission(engine):
    # GIVEN
    variable: TVar[tuple[int, ...]] = TVar(())

    # WHEN
    results = [engine.submit(append, variable, n, ordered=True) for n in range(9)]
    engine.wait(*results)

    # THEN
    assert [tuple(range(n + 1)) for n in range(9)] == [one.value for one in results]
    assert list(range(9)) == noted


def note_after(gate, name):
    if gate is not None:
        gate.wait()
    note_on_commit(name)


@on("processes", "threads")
def test_ordered_calls_that_are_quicker_wait_for_those_before_them(engine, tmp_path):
    # GIVEN
    gate = Gate(tmp_path / "gate")
    first = engine.submit(note_after, gate, "first", ordered=True)
    others = [engine.submit(note_after, None, n, ordered=True) for n in range(3)]

    # WHEN
    free = engine.submit(note_after, None, "free")
    engine.wait(free)
    answered = [result.done for result in (first, *others)]
    gate.open()
    engine.wait(first, *others)

    # THEN
    assert [False] * 4 == answered
    assert ["free", "first", 0, 1, 2] == noted


@on("scripted")
def test_ordered_calls_hold_at_their_commit_even_if_they_only_read(engine):
    # GIVEN
    variable: TVar[tuple[str, ...]] = TVar(())
    writer, first = engine.send(append, variable, "w", ordered=True)
    reader, second = engine.send(variable.get, ordered=True)
    for number in (second, first):
        engine.scripted.begin(number)

    # WHEN
    engine.scripted.finish(second)
    waiting = reader.done
    engine.scripted.finish(first)
    engine.wait(writer, reader)

    # THEN
    assert not waiting
    assert (("w",), 1) == (reader.value, engine.aborts)


def test_events_tell_of_every_call_in_order(engine):
    # WHEN
    engine.wait(engine.submit(int), engine.submit(int))

    # THEN
    told = [
        (type(event).__name__, event.transaction)
        for event in engine.events
        if isinstance(event, Started | Committed)
    ]
    for number in (1, 2):
        starts = told.index(("Started", number))
        assert starts < told.index(("Committed", number))
    assert 4 == len(told)
