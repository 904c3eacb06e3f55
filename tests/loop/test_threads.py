"""Several loops: one after another, beside each other, in threads."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from tornado.platform.asyncio import AsyncIOLoop

from tests.logs import expect_log
from tests.serving import loop_of
from txloop import TDict, TxThreadError, atomically, transactional
from txloop.stm.store import committed


def add(shared):
    shared["n"] = shared.get("n", 0) + 1
    return shared["n"]


def run_transaction(loop, shared):
    """Run one transaction on a loop, from start to end."""

    async def main():
        return await atomically(add, shared)

    return loop.run_sync(main, timeout=40)


def elsewhere(function, *args):
    """Run a function in a thread of its own, to its end."""
    with ThreadPoolExecutor(1, "other") as thread:
        return thread.submit(function, *args).result(timeout=40)


def open_run_close(kind, shared):
    loop = loop_of(kind)
    try:
        return run_transaction(loop, shared)
    finally:
        loop.close()


def test_a_loop_after_the_first_one_was_closed(kind):
    shared = TDict[str, int]()

    results = [open_run_close(kind, shared) for _ in range(3)]

    assert [1, 2, 3] == results
    assert committed.owner is None


def test_a_loop_in_another_thread_after_the_first_one_was_closed(kind):
    shared = TDict[str, int]()

    results = [
        open_run_close(kind, shared),
        elsewhere(open_run_close, kind, shared),
        open_run_close(kind, shared),
    ]

    assert [1, 2, 3] == results


def test_asyncio_run_twice_in_each_of_two_threads(kind, monkeypatch):
    monkeypatch.setenv("TXLOOP_EXECUTOR", kind)
    shared = TDict[str, int]()

    def run_twice():
        return [open_run_close(kind, shared) for _ in range(2)]

    assert [1, 2, 3, 4] == elsewhere(run_twice) + elsewhere(run_twice)


def test_two_loops_of_one_thread_share_the_state(kind):
    first, second = loop_of(kind), loop_of(kind)
    shared = TDict[str, int]()

    results = [run_transaction(loop, shared) for loop in (first, second, first)]
    first.close()
    owner = committed.owner
    results.append(run_transaction(second, shared))
    second.close()

    assert [1, 2, 3, 4] == results
    assert threading.get_ident() == owner
    assert committed.owner is None


def test_a_second_thread_is_told_whom_to_ask(loop, kind):
    """Its own loop refuses transactions, and does all the rest as ever."""
    shared = TDict[str, int]()
    run_transaction(loop, shared)

    def beside():
        other = loop_of(kind)
        done: list[object] = []
        try:
            with pytest.raises(TxThreadError) as raised:
                run_transaction(other, shared)
            other.add_callback(done.append, dict(shared))
            other.add_callback(other.stop)
            other.start()
            return str(raised.value), done
        finally:
            other.close()

    told, done = elsewhere(beside)

    name = threading.current_thread().name
    assert f"transactions run on one thread, and {name} has them" in told
    assert [{"n": 1}] == done
    assert 2 == run_transaction(loop, shared)


def test_a_marked_callback_of_a_second_thread_is_refused_in_the_log(loop, kind):
    shared = TDict[str, int]()
    run_transaction(loop, shared)

    def beside():
        other = loop_of(kind)
        other.add_callback(transactional(add), shared)
        other.add_callback(other.stop)
        other.start()
        other.close()

    with expect_log("tornado", "Exception in callback") as records:
        elsewhere(beside)

    assert records[0].exc_info
    assert records[0].exc_info[0] is TxThreadError
    assert {"n": 1} == shared


def test_a_second_thread_hands_a_transaction_over(loop, kind):
    """What the message says: a loop's `add_callback` is for other threads."""
    shared = TDict[str, int]()
    run_transaction(loop, shared)

    async def main():
        answered = asyncio.Event()

        def answer():
            add(shared)
            answered.set()

        thread = threading.Thread(target=lambda: loop.add_callback(answer))
        thread.start()
        await answered.wait()
        thread.join()

    loop.run_sync(main, timeout=40)

    assert {"n": 2} == shared


def test_a_thread_that_ended_without_closing_its_loop_has_nothing(kind):
    shared = TDict[str, int]()
    left: list[AsyncIOLoop] = []

    def forget_to_close():
        left.append(loop_of(kind))
        return run_transaction(left[0], shared)

    results = [elsewhere(forget_to_close), open_run_close(kind, shared)]
    left[0].close()

    assert [1, 2] == results


def test_a_loop_that_went_without_a_word_does_not_keep_others_from_writing():
    # GIVEN
    shared = TDict[str, int]()

    def forget_to_close():
        loop = AsyncIOLoop(make_current=False)
        run_transaction(loop, shared)
        return loop

    loop = elsewhere(forget_to_close)

    # WHEN
    shared["n"] += 1

    # THEN
    assert {"n": 2} == shared
    loop.close()


def test_a_loop_may_go_on_in_another_thread(loop):
    """One that runs in one thread at a time, as asyncio allows."""
    shared = TDict[str, int]()

    results = [
        run_transaction(loop, shared),
        elsewhere(run_transaction, loop, shared),
        run_transaction(loop, shared),
    ]

    assert [1, 2, 3] == results


def test_transactions_beside_stock_loops_leave_no_owner():
    """`asyncio.run` never closes an IOLoop, and a stock one would not tell."""
    shared = TDict[str, int]()

    def run_stock():
        loop = AsyncIOLoop(make_current=False)
        result = run_transaction(loop, shared)
        loop.asyncio_loop.close()
        return result

    assert [1, 2] == [run_stock(), elsewhere(run_stock)]
