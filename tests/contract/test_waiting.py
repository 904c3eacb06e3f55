"""Transactions that retry: they wait for a change, without a worker or a thread."""

from __future__ import annotations

from tests.contract.waiting import (
    await_key,
    await_open,
    kinds,
    set_to,
    until_waiting,
    waiting,
)
from tests.engine import note, noted
from txloop import TDict, TList, TVar, on_commit, retry
from txloop.engine.events import Retried, Woken
from txloop.errors import Retrying
from txloop.stm.store import committed


def test_it_waits_until_another_transaction_changes_what_it_read(engine):
    # GIVEN
    open_ = TVar(False)
    result = engine.submit(await_open, open_)
    until_waiting(engine, 1)
    assert not result.done

    # WHEN
    engine.run(set_to, open_, True)
    engine.wait(result)

    # THEN
    assert result.value is True
    assert (0, 0) == (waiting(engine), engine.aborts)


def test_it_waits_until_unmarked_code_changes_what_it_read(engine):
    # GIVEN
    open_ = TVar(False)
    result = engine.submit(await_open, open_)
    until_waiting(engine, 1)

    # WHEN
    open_.value = True
    engine.wait(result)

    # THEN
    assert result.value is True


def test_a_transaction_that_need_not_wait_does_not(engine):
    assert engine.run(await_open, TVar("open")) == "open"
    assert [] == kinds(engine, Retried, Woken)


def test_what_is_behind_in_the_round_may_wake_it(engine):
    # GIVEN
    open_ = TVar(False)

    # WHEN
    results = [
        engine.submit(await_open, open_),
        engine.submit(set_to, open_, True),
    ]
    engine.wait(*results)

    # THEN
    assert results[0].value is True


def test_what_it_did_before_it_retried_has_not_happened(engine):
    # GIVEN
    open_, log = TVar(False), TList[str]()

    def body():
        log.append("entry")
        on_commit(note, "effect")
        await_open(open_)

    # WHEN
    result = engine.submit(body)
    until_waiting(engine, 1)
    before = list(log), list(noted)
    open_.value = True
    engine.wait(result)

    # THEN
    assert ([], []) == before
    assert (["entry"], ["effect"]) == (list(log), noted)


def test_a_change_of_something_else_does_not_wake_it(engine):
    # GIVEN
    open_, other = TVar(False), TVar(0)
    result = engine.submit(await_open, open_)
    until_waiting(engine, 1)

    # WHEN
    engine.run(set_to, other, 1)
    other.value = 2
    engine.turn()

    # THEN
    assert [] == kinds(engine, Woken)
    assert not result.done


def test_a_change_back_does_not_wake_it(engine):
    # GIVEN
    open_ = TVar(False)
    result = engine.submit(await_open, open_)
    until_waiting(engine, 1)

    # WHEN
    open_.value = True
    open_.value = False
    engine.turn()

    # THEN
    assert [] == kinds(engine, Woken)
    assert not result.done


def await_more(shared, count):
    if len(shared) < count:
        retry()
    return sorted(shared)


def await_total(shared, total):
    if sum(shared.values()) < total:
        retry()
    return dict(shared)


def test_it_may_wait_for_a_key_a_size_or_everything(engine):
    # GIVEN
    shared = TDict(a=1)
    results = [
        engine.submit(await_key, shared, "b"),
        engine.submit(await_more, shared, 2),
        engine.submit(await_total, shared, 5),
    ]
    until_waiting(engine, 3)

    # WHEN
    shared["b"] = 4
    engine.wait(*results)

    # THEN
    everything = {"a": 1, "b": 4}
    assert [4, ["a", "b"], everything] == [result.value for result in results]


def await_item(items, index):
    if len(items) <= index:
        retry()
    return items[index]


def test_it_may_wait_for_a_list(engine):
    # GIVEN
    items = TList(["first"])
    result = engine.submit(await_item, items, 1)
    until_waiting(engine, 1)

    # WHEN
    engine.run(items.append, "second")
    engine.wait(result)

    # THEN
    assert "second" == result.value


def test_waiting_twice(engine):
    # GIVEN
    shared = TDict[str, int]()

    def body():
        await_key(shared, "a")
        return await_key(shared, "b")

    result = engine.submit(body)
    until_waiting(engine, 1)

    # WHEN
    shared["a"] = 1
    engine.until(lambda: len(kinds(engine, Retried)) == 2 and waiting(engine) == 1)
    shared["b"] = 2
    engine.wait(result)

    # THEN
    assert 2 == result.value
    assert 2 == len(kinds(engine, Woken))


def test_it_holds_nothing_while_it_waits(engine):
    """No snapshot: or old values would be kept as long as it waits."""
    # GIVEN
    engine.submit(await_open, TVar(False))
    other = TVar(0)

    # WHEN
    until_waiting(engine, 1)
    results = [engine.submit(set_to, other, n) for n in range(2 * engine.workers)]
    engine.wait(*results)

    # THEN
    assert {} == committed._snapshots
    assert 0 == engine.dispatcher.busy


def test_waits_are_counted(engine):
    # GIVEN
    open_ = TVar(False)
    result = engine.submit(await_open, open_)
    until_waiting(engine, 1)
    before = engine.dispatcher.stats()

    # WHEN
    open_.value = True
    engine.wait(result)
    after = engine.dispatcher.stats()

    # THEN
    assert (1, 1, 1) == (before.retries, before.waits, before.waiting)
    assert (1, 1, 0) == (after.retries, after.waits, after.waiting)
    assert (1, 1) == (after.labels[0].retries, after.labels[0].waits)
    assert after.attempts == 2


# What a body makes of it


def test_a_swallowed_retry_waits_all_the_same(engine):
    # GIVEN
    open_ = TVar(False)

    def body():
        try:
            await_open(open_)
        except BaseException:
            on_commit(note, "swallowed")
        return open_.value

    result = engine.submit(body)
    until_waiting(engine, 1)

    # WHEN
    open_.value = True
    engine.wait(result)

    # THEN
    assert (True, []) == (result.value, noted)


def test_an_error_after_a_swallowed_retry_is_not_shown(engine):
    # GIVEN
    open_ = TVar(False)

    def body():
        try:
            await_open(open_)
        finally:
            if not open_.value:
                raise LookupError
        return "done"

    result = engine.submit(body)
    until_waiting(engine, 1)

    # WHEN
    open_.value = True
    engine.wait(result)

    # THEN
    assert "done" == result.value


def test_except_exception_does_not_catch_it(engine):
    # GIVEN
    open_ = TVar(False)

    def body():
        try:
            return await_open(open_)
        except Exception:
            return "caught"

    result = engine.submit(body)
    until_waiting(engine, 1)

    # WHEN
    open_.value = True
    engine.wait(result)

    # THEN
    assert not issubclass(Retrying, Exception)
    assert result.value is True
