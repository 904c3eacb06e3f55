"""Transactions from coroutines: `await atomically(...)`, and `yield fn, (args,)`."""

from __future__ import annotations

import asyncio
import functools
import os
import traceback

import pytest
from tornado import gen
from tornado.gen import BadYieldError
from tornado.web import Finish

import txloop
from tests.flags import Flag, until
from tests.serving import loop_of
from txloop import (
    TVar,
    TxClosedError,
    TxError,
    atomically,
    on_commit,
    transactional,
)
from txloop.stm.attempt import current

started, go = Flag(), Flag()

counter = TVar(0)
effects: list[str] = []


@pytest.fixture(autouse=True)
def _clean():
    counter.set(0)
    effects.clear()
    started.clear()
    go.clear()


@pytest.fixture(params=["serial", "rehearsal", "processes", "stock"])
def kind(request):
    """Here the stock loop counts as one that runs transactions."""
    return request.param


def add(amount, *, twice=False):
    """Add to the counter and return what it was, and where this ran."""
    before = counter.get()
    counter.set(before + (2 * amount if twice else amount))
    return before, os.getpid()


def note(effect):
    """Be an effect."""
    effects.append(effect)


def fail(message):
    counter.set(99)
    on_commit(note, "never")
    raise LookupError(message)


def finish():
    counter.set(99)
    raise Finish


@transactional(on_error="commit")
def fail_and_keep():
    counter.set(99)
    raise LookupError


def stop_iteration():
    raise StopIteration


def exit_program():
    raise SystemExit(3)


def nested():
    return atomically(add, 1)


async def coroutine():
    """Be no function that can be a transaction."""


def generator():
    yield


def taking_function(function):
    """Take an argument that has the name of one of `atomically`."""
    return function


# The flags are meant to be shared, which the scan cannot know.
@transactional(trust=True)
def hold_up():
    started.set()
    go.wait()
    counter.set(1)
    return "held up"


def run(loop, function, /, *args, **kwargs):
    """Run one transaction on a loop and return its result."""

    async def main():
        return await atomically(function, *args, **kwargs)

    return loop.run_sync(main)


def test_the_value_comes_back(loop, kind):
    before, place = run(loop, add, 2)

    assert (0, 2) == (before, counter.get())
    assert (place != os.getpid()) == (kind == "processes")


def test_arguments_by_name(loop):
    assert 0 == run(loop, add, 2, twice=True)[0]
    assert 4 == counter.get()


def test_an_argument_may_have_any_name(loop):
    assert 5 == run(loop, taking_function, function=5)


def test_partials_closures_and_methods(loop):
    amount = 3
    calls = [functools.partial(add, 1), lambda: add(amount), counter.get]

    results = [run(loop, call) for call in calls]

    assert (0, 1, 4) == (results[0][0], results[1][0], results[2])


def test_an_error_is_raised_and_undoes_all(loop):
    with pytest.raises(LookupError, match="what was wrong") as raised:
        run(loop, fail, "what was wrong")

    assert (0, []) == (counter.get(), effects)
    trace = "".join(traceback.format_exception(raised.value))
    assert "in fail" in trace
    assert "raise LookupError(message)" in trace


def test_finish_commits(loop):
    with pytest.raises(Finish):
        run(loop, finish)

    assert 99 == counter.get()


def test_on_error_commit_keeps_the_writes(loop):
    with pytest.raises(LookupError):
        run(loop, fail_and_keep)

    assert 99 == counter.get()


def test_a_stop_iteration_cannot_be_raised_from_a_future(loop):
    with pytest.raises(RuntimeError, match=r"the transaction raised StopIteration\(\)"):
        run(loop, stop_iteration)


def test_system_exit_is_an_error_of_the_transaction(loop):
    """It would end a worker, or the loop in the midst of a commit."""
    with pytest.raises(RuntimeError, match=r"the transaction raised SystemExit\(3\)"):
        run(loop, exit_program)


def test_effects_run_once_at_the_commit(loop):
    def body():
        on_commit(note, "first")
        on_commit(note, "second")

    run(loop, body)

    assert ["first", "second"] == effects


def test_many_at_once_are_all_counted(loop):
    async def main():
        return await asyncio.gather(*(atomically(add, 1) for _ in range(20)))

    results = loop.run_sync(main)

    assert list(range(20)) == sorted(before for before, _ in results)
    assert 20 == counter.get()


def test_one_after_another_sees_the_writes(loop):
    async def main():
        return [(await atomically(add, 1))[0] for _ in range(5)]

    assert [0, 1, 2, 3, 4] == loop.run_sync(main)


def test_a_transaction_in_a_transaction_is_an_error(loop):
    with pytest.raises(TxError, match=r"call add directly, as a part of this one"):
        run(loop, nested)

    assert 0 == counter.get()


@pytest.mark.parametrize("function", [coroutine, generator, gen.coroutine(generator)])
def test_a_coroutine_function_is_an_error(function, loop):
    with pytest.raises(TxError, match="is a coroutine function, and a transaction n"):
        run(loop, function)


def test_the_mark_is_not_needed_and_changes_nothing(loop):
    assert 0 == run(loop, transactional(add), 1)[0]
    assert 1 == counter.get()
    del add.__dict__["__txloop_mark__"]


def test_outside_a_transaction_nothing_is_current(loop):
    async def main():
        before = current()
        await atomically(add, 1)
        return before, current()

    assert (None, None) == loop.run_sync(main)


def test_a_coroutine_may_be_cancelled_while_it_waits():
    """The transaction commits all the same: it had begun."""

    async def main():
        task = asyncio.ensure_future(atomically(hold_up))
        await started.reached()
        task.cancel()
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: not loop.dispatcher.pending)  # type: ignore[attr-defined]

    loop = loop_of("processes")
    loop.run_sync(main)
    loop.close()

    assert 1 == counter.get()


def test_what_waits_when_the_loop_closes_is_told():
    async def main():
        future = atomically(hold_up)
        await started.reached()
        loop.dispatcher.close()  # type: ignore[attr-defined]
        with pytest.raises(TxClosedError, match="closed before hold_up could commit"):
            await future
        with pytest.raises(TxClosedError, match="is closed; add did not run"):
            await atomically(add, 1)

    loop = loop_of("processes")
    loop.run_sync(main)
    loop.close()

    assert 0 == counter.get()


# The form with yield


def run_yielded(loop, yielded):
    """Return what a generator coroutine gets when it yields something."""

    @gen.coroutine
    def main():
        result = yield yielded
        return result

    return loop.run_sync(main)


def test_a_yielded_call_is_a_transaction(loop, kind):
    before, place = run_yielded(loop, (add, (2,)))

    assert (0, 2) == (before, counter.get())
    assert (place != os.getpid()) == (kind == "processes")


def test_a_yielded_call_with_arguments_by_name(loop):
    run_yielded(loop, (add, (2,), {"twice": True}))

    assert 4 == counter.get()


def test_the_error_of_a_yielded_call_is_raised(loop):
    with pytest.raises(LookupError, match="yielded"):
        run_yielded(loop, (fail, ("yielded",)))


def test_yielded_calls_in_a_list_or_dict(loop):
    results = run_yielded(loop, [(add, (1,)), (add, (1,))])
    by_name = run_yielded(loop, {"one": (add, (1,))})

    assert {0, 1} == {before for before, _ in results}
    assert 2 == by_name["one"][0]


@pytest.mark.parametrize(
    "yielded",
    [
        (),
        (1, 2),
        (add,),
        (add, 1),
        (add, [1]),
        (add, (1,), ()),
        (add, (1,), {}, 1),
        ("add", (1,)),
    ],
)
def test_another_tuple_is_an_error_as_in_stock_tornado(yielded, loop):
    with pytest.raises(BadYieldError, match="yielded unknown object"):
        run_yielded(loop, yielded)


# The order of arrival


@transactional(trust=True)
def wait_for_second():
    started.wait()
    on_commit(note, "first")


@transactional(trust=True)
def second():
    on_commit(note, "second")
    started.set()


@transactional(trust=True)
def wait_for_test():
    go.wait()
    on_commit(note, "first")


def test_calls_commit_in_the_order_of_arrival_if_asked():
    async def main():
        await asyncio.gather(atomically(wait_for_second), atomically(second))

    loop = loop_of("processes", order="arrival")
    loop.run_sync(main)
    loop.close()

    assert ["first", "second"] == effects


def test_calls_commit_as_they_complete_otherwise():
    async def main():
        first = atomically(wait_for_test)
        await atomically(second)
        go.set()
        await first

    loop = loop_of("processes")
    loop.run_sync(main)
    loop.close()

    assert ["second", "first"] == effects


def test_the_figures_of_a_stock_loop_are_an_error():
    async def main():
        return txloop.stats()

    loop = loop_of("stock")
    with pytest.raises(TxError, match="the current IOLoop is a stock one"):
        loop.run_sync(main)
    loop.close()
