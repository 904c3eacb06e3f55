"""or_else: the first alternative that need not wait, and nothing left of the others."""

from __future__ import annotations

import logging
import os
import threading

import pytest

from tests.contract.waiting import until_waiting
from tests.engine import note, noted, on
from tests.logs import expect_log
from txloop import (
    TCounter,
    TDict,
    TList,
    TVar,
    TxError,
    inevitable,
    on_commit,
    or_else,
    retry,
)

_log = logging.getLogger("program")


def take(stock, key):
    """Take a key's value, or wait for it; leave a trace of everything else."""
    if key not in stock:
        retry()
    return stock.pop(key)


def take_with_traces(stock, traces, key):
    traces["dict"][key] = key
    traces["list"].append(key)
    traces["var"].value = key
    traces["counter"].add(1)
    on_commit(note, key)
    _log.warning("trace of %s", key)
    return take(stock, key)


@pytest.fixture
def stock():
    return TDict[str, str]()


@pytest.fixture
def traces():
    return {
        "dict": TDict[str, str](),
        "list": TList[str](),
        "var": TVar(""),
        "counter": TCounter(),
    }


def shown(traces):
    return (
        dict(traces["dict"]),
        list(traces["list"]),
        traces["var"].value,
        traces["counter"].value,
    )


def test_the_first_one_that_need_not_wait_gives_the_result(engine, stock):
    # GIVEN
    stock.update(a="first", b="second")

    def body():
        return or_else(lambda: take(stock, "a"), lambda: take(stock, "b"))

    # THEN
    assert ["first", "second"] == [engine.run(body), engine.run(body)]


def test_what_the_first_one_did_is_undone(engine, stock, traces):
    # GIVEN
    stock["b"] = "thing"

    def body():
        traces["list"].append("before")
        traces["dict"]["before"] = "before"
        return or_else(
            lambda: take_with_traces(stock, traces, "a"),
            lambda: take_with_traces(stock, traces, "b"),
        )

    # WHEN
    with expect_log("program", "^trace of b$"):
        value = engine.run(body)

    # THEN
    assert "thing" == value
    expected = {"before": "before", "b": "b"}, ["before", "b"], "b", 1
    assert expected == shown(traces)
    assert ["b"] == noted


def test_what_it_overwrote_is_there_again(engine):
    # GIVEN
    items, shared, emptied = TList([1, 2, 3]), TDict(a=1, b=2), TDict(a=1)

    def first():
        items[0] = 99
        items.insert(1, 98)
        del items[-1]
        shared["a"] = 97
        del shared["b"]
        emptied["c"] = 96
        retry(timeout=1000)

    def body():
        items.append(4)
        shared["c"] = 3
        emptied.clear()
        emptied["b"] = 2
        seen = or_else(first, lambda: (list(items), dict(shared), dict(emptied)))
        items.append(5)
        return seen

    # WHEN
    value = engine.run(body)

    # THEN
    assert ([1, 2, 3, 4], {"a": 1, "b": 2, "c": 3}, {"b": 2}) == value
    assert [1, 2, 3, 4, 5] == items
    assert {"a": 1, "b": 2, "c": 3} == shared
    assert {"b": 2} == emptied


def test_if_both_wait_a_change_for_either_wakes(engine, stock):
    # GIVEN
    def body():
        return or_else(lambda: take(stock, "a"), lambda: take(stock, "b"))

    results = [engine.submit(body) for _ in range(2)]
    until_waiting(engine, 2)

    # WHEN
    stock["b"] = "thing"
    engine.until(lambda: any(result.done for result in results))
    stock["a"] = "other"
    engine.wait(*results)

    # THEN
    assert {"thing", "other"} == {result.value for result in results}


def test_if_both_wait_nothing_has_happened(engine, stock, traces):
    # GIVEN
    def body():
        or_else(
            lambda: take_with_traces(stock, traces, "a"),
            lambda: take_with_traces(stock, traces, "b"),
        )

    # WHEN
    result = engine.submit(body)
    until_waiting(engine, 1)

    # THEN
    assert ({}, [], "", 0) == shown(traces)
    assert ([], False) == (noted, result.done)


def test_it_nests(engine, stock):
    # GIVEN
    def body():
        return or_else(
            lambda: or_else(lambda: take(stock, "a"), lambda: take(stock, "b")),
            lambda: or_else(lambda: take(stock, "c"), lambda: take(stock, "d")),
        )

    results = [engine.submit(body) for _ in range(4)]
    until_waiting(engine, 4)

    # WHEN
    for key in "dbca":
        stock[key] = key
    engine.wait(*results)

    # THEN
    assert set("abcd") == {result.value for result in results}


def test_an_alternative_is_undone_after_one_in_it_succeeded(engine, stock, traces):
    # GIVEN
    stock.update(b="inner", c="outer")

    def first():
        or_else(
            lambda: take_with_traces(stock, traces, "a"),
            lambda: take_with_traces(stock, traces, "b"),
        )
        retry()

    # WHEN
    with expect_log("program", "^trace of c$"):
        value = engine.run(
            lambda: or_else(first, lambda: take_with_traces(stock, traces, "c"))
        )

    # THEN
    assert "outer" == value
    assert ({"c": "c"}, ["c"], "c", 1) == shown(traces)
    assert {"b": "inner"} == stock
    assert ["c"] == noted


def test_what_the_first_one_read_counts(engine, stock):
    """Or the second one's result could be wrong when it commits."""
    # GIVEN
    if engine.executor.name != "scripted":
        stock["a"] = "thing"
        assert "thing" == engine.run(take_or_none, stock)
        return
    result, number = engine.send(take_or_none, stock)
    engine.scripted.begin(number)

    # WHEN
    stock["a"] = "thing"
    engine.scripted.finish(number)
    engine.scripted.run_all()

    # THEN
    assert ("thing", 1) == (result.value, engine.aborts)


def take_or_none(stock):
    return or_else(lambda: take(stock, "a"), lambda: stock.update(tried="yes"))


def test_an_error_of_the_first_one_is_an_error(engine, stock):
    # GIVEN
    def fail():
        stock["a"] = "written"
        raise LookupError("first")

    # THEN
    with pytest.raises(LookupError, match="first"):
        engine.run(or_else, fail, lambda: "second")
    assert {} == stock


def test_an_error_that_is_caught_leaves_its_writes(engine, stock):
    # GIVEN
    def fail():
        stock["a"] = "written"
        raise LookupError("first")

    def body():
        try:
            or_else(fail, lambda: "second")
        except LookupError:
            return "caught"

    # THEN
    assert "caught" == engine.run(body)
    assert {"a": "written"} == stock


def test_the_shorter_timeout_counts(engine):
    # GIVEN
    variable = TVar(0)

    def wait_for(seconds):
        if not variable.value:
            retry(timeout=seconds)
        return seconds

    # THEN
    for timeouts in ((0.001, 1000), (1000, 0.001), (0.001, None), (None, 0.001)):
        first, second = timeouts
        value = engine.run(
            lambda first=first, second=second: or_else(
                lambda: wait_for(first), lambda: wait_for(second)
            )
        )
        assert 0.001 == value


def test_a_first_one_that_reads_nothing(engine):
    assert "second" == engine.run(or_else, retry, lambda: "second")


def test_two_that_read_nothing(engine):
    with pytest.raises(TxError, match="would wait for ever"):
        engine.run(or_else, retry, retry)


def test_a_retry_that_the_first_one_swallows(engine, stock):
    # GIVEN
    def swallow():
        try:
            take(stock, "a")
        except BaseException:
            return "swallowed"

    # THEN
    assert "second" == engine.run(or_else, swallow, lambda: "second")


def test_a_retry_that_was_swallowed_before(engine, stock):
    # GIVEN
    def body():
        try:
            take(stock, "a")
        except BaseException:
            or_else(lambda: take(stock, "b"), lambda: "second")
        return or_else(lambda: "first", lambda: "second")

    result = engine.submit(body)
    until_waiting(engine, 1)

    # WHEN
    stock["a"] = "thing"
    engine.wait(result)

    # THEN
    assert "first" == result.value


def test_before_an_alternative_it_may_be_inevitable(engine, stock):
    # GIVEN
    def body():
        inevitable()
        return or_else(lambda: take(stock, "a"), os.getpid)

    # THEN
    assert os.getpid() == engine.run(body)


def test_a_first_one_that_is_inevitable_cannot_retry(engine, stock):
    # GIVEN
    def first():
        inevitable()
        take(stock, "a")

    # THEN
    with pytest.raises(TxError, match="but it has become inevitable"):
        engine.run(or_else, first, lambda: "second")


def test_after_an_alternative_that_is_inevitable_it_cannot_retry(engine, stock):
    # GIVEN
    def body():
        or_else(inevitable, lambda: None)
        take(stock, "a")

    # THEN
    with pytest.raises(TxError, match="but it has become inevitable"):
        engine.run(body)


def test_outside_a_transaction():
    with pytest.raises(TxError, match=r"^or_else\(\) is a part of a transaction; ca"):
        or_else(lambda: 1, lambda: 2)


@on("processes", "threads")
def test_alternatives_that_were_sent_run_in_a_worker(engine, stock):
    # GIVEN
    stock["here"] = "thing"

    # WHEN
    result = engine.submit(or_thread, stock, profile=engine.short())
    engine.wait(result)

    # THEN
    assert threading.get_native_id() != result.value


def or_thread(stock):
    return or_else(lambda: take(stock, "a"), threading.get_native_id)
