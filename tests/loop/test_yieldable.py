"""Yieldable threads: what they yield runs elsewhere, what comes of it comes back."""

from __future__ import annotations

import threading

import pytest

import txloop
from tests.flags import until
from tests.serving import loop_of
from txloop import TxClosedError, TxError, YieldableThread


class FooError(Exception):
    """What a call raises."""


def run_thread(target, *args, cpu_apply=None, **kwargs):
    """Run a thread to its end."""
    thread = YieldableThread(target, args, kwargs, cpu_apply)
    thread.start()
    thread.join(15)
    assert not thread.is_alive()


def run_beside(loop, target, *args, cpu_apply=txloop.apply):
    """Run a thread to its end while the loop runs."""
    thread = YieldableThread(target, args, cpu_apply=cpu_apply)

    async def main():
        thread.start()
        await until(lambda: not thread.is_alive())

    loop.run_sync(main)


def add(one, other=10):
    return one + other


def fail():
    raise FooError


def told_by(seen):
    """Return a `cpu_apply` that notes what it gets."""

    def apply(function, *rest):
        seen.append((function, *rest))
        return function(*rest[0], **(rest[1] if len(rest) > 1 else {}))

    return apply


class TestThread:
    """The interface of 2010."""

    def test_results_come_back(self):
        seen: list[object] = []
        results = []

        def target(first, *, second):
            results.append((yield add, (first, second)))
            results.append((yield add, (first,), {"other": 1}))

        run_thread(target, 1, second=2, cpu_apply=told_by(seen))

        assert [3, 2] == results
        assert [(add, (1, 2)), (add, (1,), {"other": 1})] == seen

    def test_by_default_it_makes_the_calls_itself(self):
        threads = []

        def target():
            yield lambda: threads.append(threading.current_thread()), ()
            threads.append(threading.current_thread())

        run_thread(target)

        assert 1 == len(set(threads))
        assert threading.main_thread() not in threads

    def test_a_target_that_yields_nothing(self):
        seen: list[object] = []

        run_thread(seen.append, 1)

        assert [1] == seen

    def test_exceptions_come_where_it_yields(self):
        seen: list[object] = []

        def target():
            try:
                yield fail, ()
            except FooError as error:
                seen.append(error)
            seen.append((yield add, (1,)))

        run_thread(target)

        assert isinstance(seen[0], FooError)
        assert 11 == seen[1]

    def test_one_at_a_time(self):
        running = []
        most = []

        def work():
            running.append(1)
            most.append(len(running))
            running.pop()

        def target():
            for _ in range(50):
                yield work, ()

        threads = [
            YieldableThread(target, cpu_apply=txloop.exclusive_apply) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert [1] * 200 == most


class TestApply:
    """What is yielded runs as transactions of the loop."""

    def test_results_and_shared_state(self, loop):
        counter = txloop.TVar(0)
        results = []

        def count(step):
            counter.value += step
            return counter.value

        def target():
            results.append((yield count, (5,)))
            results.append((yield count, (), {"step": 2}))

        run_beside(loop, target)

        assert [5, 7] == results
        assert 7 == counter.value

    def test_an_exception_undoes_the_writes(self, loop):
        counter = txloop.TVar(0)
        seen = []

        def write_and_fail():
            counter.value = 1
            raise FooError

        def target():
            try:
                yield write_and_fail, ()
            except FooError:
                seen.append("came")

        run_beside(loop, target)

        assert ["came"] == seen
        assert 0 == counter.value

    def test_a_timeout_of_the_call_itself(self, loop):
        """It looks like ours, which only means that the loop is looked after."""
        seen = []

        def time_out():
            raise TimeoutError("its own")

        def target():
            try:
                yield time_out, ()
            except TimeoutError as error:
                seen.append(str(error))

        run_beside(loop, target)

        assert ["its own"] == seen

    def test_a_call_that_waits_for_a_change(self, loop, monkeypatch):
        monkeypatch.setattr("txloop.loop.yieldable._LOOK_SECONDS", 0.001)
        counter = txloop.TVar(0)
        results = []

        def wait():
            if not counter.value:
                txloop.retry()
            return counter.value

        def target():
            results.append((yield wait, ()))

        thread = YieldableThread(target, cpu_apply=txloop.apply)

        async def main():
            thread.start()
            await until(lambda: txloop.stats().waiting)
            counter.value = 3
            await until(lambda: not thread.is_alive())

        loop.run_sync(main)

        assert [3] == results

    def test_the_loop_is_closed_meanwhile(self, kind, monkeypatch):
        monkeypatch.setattr("txloop.loop.yieldable._LOOK_SECONDS", 0.001)
        counter = txloop.TVar(0)
        errors = []

        def wait():
            if not counter.value:
                txloop.retry()

        def target():
            try:
                yield wait, ()
            except TxClosedError as error:
                errors.append(error)

        thread = YieldableThread(target, cpu_apply=txloop.apply)

        async def main():
            thread.start()
            await until(lambda: txloop.stats().waiting)

        loop = loop_of(kind)
        loop.run_sync(main)
        loop.close()
        thread.join(15)

        assert 1 == len(errors)

    def test_not_on_the_thread_of_the_loop(self, loop):
        async def main():
            with pytest.raises(TxError, match=r"await txloop.atomically\(add"):
                txloop.apply(add, (1,))

        loop.run_sync(main)

    def test_not_without_a_loop(self):
        with pytest.raises(TxError, match="needs a loop"):
            txloop.apply(add, (1,))

    def test_in_a_transaction_it_is_a_part_of_that(self, loop):
        def outer():
            return txloop.apply(add, (1,), {"other": 2})

        async def main():
            return await txloop.atomically(outer)

        assert 3 == loop.run_sync(main)
