"""Marked callbacks run as transactions, in their order; others as in stock Tornado."""

from __future__ import annotations

import asyncio
import datetime
import functools
import logging
import os
import sys
import threading

import pytest

from tests.flags import Flag, until
from tests.logs import EXPECTED, Collector, expect_log
from tests.serving import loop_of
from txloop import TVar, transactional
from txloop.stm.attempt import current

started, go = Flag(), Flag()

place: TVar[tuple[int, bool] | None] = TVar(None)
order: TVar[tuple[object, ...]] = TVar(())
plain: list[object] = []


@pytest.fixture(autouse=True)
def _clean():
    place.set(None)
    order.set(())
    plain.clear()
    started.clear()
    go.clear()


def run_until(loop, done):
    """Run the loop until `done` returns something true."""
    loop.run_sync(lambda: until(done))


def stats(loop):
    return loop.dispatcher.stats()


@transactional
def note_place(*args, **kwargs):
    """Write where it runs."""
    place.set((os.getpid(), current() is not None))


@transactional
def note(*what, **more):
    """Write that it ran, after those who ran before."""
    order.set((*order.get(), *what, *more.items()))


# The flags are meant to be shared, which the scan cannot know.
@transactional(trust=True)
def wait_and_note(what):
    started.wait()
    note(what)


@transactional(trust=True)
def start_and_note(what):
    started.set()
    note(what)


@transactional(trust=True)
def hold_up():
    started.set()
    go.wait()
    note("held up")


def note_plainly(what):
    """Be a callback of stock Tornado."""
    plain.append((what, threading.get_ident(), current()))


def done_future(loop):
    future = loop.asyncio_loop.create_future()
    future.set_result("a result")
    return future


WAYS = {
    "add_callback": lambda loop: loop.add_callback(note_place, 1, two=2),
    "spawn_callback": lambda loop: loop.spawn_callback(note_place),
    "call_later": lambda loop: loop.call_later(0, note_place, 1, two=2),
    "call_at": lambda loop: loop.call_at(loop.time(), note_place),
    "add_timeout": lambda loop: loop.add_timeout(datetime.timedelta(0), note_place),
    "add_future": lambda loop: loop.add_future(done_future(loop), note_place),
    "partial": lambda loop: loop.add_callback(functools.partial(note_place, 1)),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_marked_callback_is_a_transaction(way, loop, kind):
    WAYS[way](loop)
    run_until(loop, place.get)

    found = place.get()
    assert found is not None
    worker, in_transaction = found
    assert in_transaction
    assert (worker != os.getpid()) == (kind == "processes")
    assert 1 == stats(loop).marked


def test_a_callback_from_another_thread(loop, kind):
    thread = threading.Thread(target=loop.add_callback, args=(note_place,))
    thread.start()
    thread.join()
    run_until(loop, place.get)

    assert (place.get()[0] != os.getpid()) == (kind == "processes")  # type: ignore[index]


def test_arguments_reach_the_callback(loop):
    loop.add_callback(note, 1, "two", three=3)
    loop.call_later(0, functools.partial(note, 4), five=5)
    run_until(loop, lambda: len(order.get()) == 5)

    assert (1, "two", ("three", 3), 4, ("five", 5)) == order.get()


@transactional
def note_future(future):
    error = future.exception()
    note(repr(error) if error else future.result(), future.done(), future.cancelled())


def test_a_callback_of_a_future_sees_its_result(loop):
    loop.add_future(done_future(loop), note_future)
    run_until(loop, order.get)

    assert ("a result", True, False) == order.get()


def test_a_callback_of_a_future_sees_its_error(loop):
    future = loop.asyncio_loop.create_future()
    future.set_exception(ValueError("no result"))
    loop.add_future(future, note_future)
    run_until(loop, order.get)

    assert ("ValueError('no result')", True, False) == order.get()


class Notebook:
    """Has a marked method."""

    def __init__(self, name):
        self.name = name

    @transactional
    def note(self):
        note(self.name)


def test_a_marked_method(loop):
    loop.add_callback(Notebook("method").note)
    run_until(loop, order.get)

    assert ("method",) == order.get()
    assert 1 == stats(loop).marked


# Order and rounds


def test_marked_callbacks_commit_in_their_order(loop):
    for number in range(10):
        loop.add_callback(note, number)
    run_until(loop, lambda: len(order.get()) == 10)

    assert tuple(range(10)) == order.get()


def test_a_callback_that_ends_early_waits_for_its_turn():
    """The first can end only when the second has run."""
    loop = loop_of("processes")
    loop.add_callback(wait_and_note, "first")
    loop.add_callback(start_and_note, "second")
    run_until(loop, lambda: len(order.get()) == 2)
    loop.close()

    assert ("first", "second") == order.get()


def test_those_that_are_ready_together_are_one_round(loop):
    for number in range(5):
        loop.add_callback(note, number)
    run_until(loop, lambda: len(order.get()) == 5)

    assert 1 == stats(loop).rounds
    assert 5 == stats(loop).marked


@pytest.mark.parametrize("kind", ["rehearsal", "processes"])
def test_those_of_two_iterations_are_two_rounds(loop):
    """On the serial executor the second would run at once, in no round."""
    for number in range(2):
        loop.add_callback(note, number)
        run_until(loop, lambda number=number: len(order.get()) == number + 1)

    assert 2 == stats(loop).rounds


def test_unmarked_callbacks_run_on_the_loop_thread_in_their_order(loop):
    before = stats(loop).unmarked
    for number in range(3):
        loop.add_callback(note_plainly, number)
        loop.add_callback(note, number)
    run_until(loop, lambda: len(order.get()) == 3)

    assert [(number, threading.get_ident(), None) for number in range(3)] == plain
    # `run_sync` adds callbacks of its own.
    assert stats(loop).unmarked >= before + 3
    assert 3 == stats(loop).marked


def test_unmarked_callbacks_do_not_wait_for_transactions():
    loop = loop_of("processes")
    loop.add_callback(hold_up)
    loop.add_callback(note_plainly, "meanwhile")
    run_until(loop, lambda: plain and started.is_set())
    assert () == order.get()
    go.set()
    run_until(loop, order.get)
    loop.close()

    assert ("held up",) == order.get()


def test_a_removed_timeout_does_not_run(loop):
    timeout = loop.call_later(0, note, "removed")
    loop.remove_timeout(timeout)
    loop.call_later(0, note, "kept")
    run_until(loop, order.get)

    assert ("kept",) == order.get()


# Errors and coroutines


@transactional
def fail(*args):
    note("before the error")
    raise ValueError("a callback fails")


@transactional
def cancel():
    raise asyncio.CancelledError


@transactional
async def coroutine():
    await asyncio.sleep(0)
    plain.append(current())


PYPY = sys.implementation.name == "pypy"


@transactional(trust=True)
def return_coroutine():
    return coroutine()


def logged_by(loop, callback):
    """Return what is logged when a loop runs a callback."""
    collector = Collector()
    logging.getLogger("tornado").addHandler(collector)
    loop.add_callback(callback)
    run_until(loop, lambda: collector.records)
    logging.getLogger("tornado").removeHandler(collector)
    found = []
    for record in collector.records:
        setattr(record, EXPECTED, True)
        assert record.exc_info is not None
        found.append(
            (
                record.name,
                record.levelname,
                record.getMessage(),
                repr(record.exc_info[1]),
            )
        )
    return found


@pytest.mark.parametrize("callback", [fail, functools.partial(fail, 1)])
def test_an_error_is_logged_as_in_stock_tornado(callback, loop):
    stock = loop_of("stock")
    expected = logged_by(stock, callback)
    stock.close()
    order.set(())

    assert expected == logged_by(loop, callback)
    assert () == order.get()


def test_an_error_does_not_hold_up_the_next(loop):
    with expect_log("tornado.application", "Exception in callback"):
        loop.add_callback(fail)
        loop.add_callback(note, "next")
        run_until(loop, order.get)

    assert ("next",) == order.get()
    assert 1 == stats(loop).errors


def test_a_cancellation_is_not_logged_as_in_stock_tornado(loop):
    loop.add_callback(cancel)
    loop.add_callback(note, "next")
    run_until(loop, order.get)

    assert ("next",) == order.get()


def test_a_marked_coroutine_function_runs_as_in_stock_tornado(loop):
    loop.add_callback(coroutine)
    run_until(loop, lambda: plain)

    assert [None] == plain
    assert 0 == stats(loop).marked


@pytest.mark.parametrize("kind", ["serial", "processes"])
def test_an_awaitable_result_is_awaited(loop, kind):
    """In a rehearsal nobody would await that of the first run."""
    # On PyPy a coroutine pickles, and does not come back from that.
    why = "its outcome does not unpickle" if PYPY else "its result does not pickle"
    with expect_log(
        "txloop",
        f"return_coroutine runs on the loop thread: {why}",
        count=1 if kind == "processes" else 0,
    ):
        loop.add_callback(return_coroutine)
        run_until(loop, lambda: plain)

    assert [None] == plain


# Figures


def test_the_figures_of_a_loop(loop, kind):
    async def main():
        import txloop

        loop.add_callback(note, 1)
        await until(order.get)
        return txloop.stats()

    found = loop.run_sync(main)

    assert (kind, 1) == (found.executor, found.commits)
    [label] = found.labels
    assert ("note", 1, 1, 0, 0) == (
        label.label,
        label.commits,
        label.attempts,
        label.aborts,
        label.errors,
    )
    assert label.body_seconds > 0
    assert found.version > 0
    assert (0.0 if kind != "serial" else found.inline_share) == found.inline_share
