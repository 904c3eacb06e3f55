"""What PyPy's own tests ask of the module, on shared objects.

The cases are those of ``test_transaction.py`` beside PyPy-STM's module: order, nested
adds, exceptions, counts, and the small things.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import pytest

import txloop
from tests.transaction.pieces import FooError, check_chains, nothing, raise_it
from txloop.transaction import TransactionError, TransactionQueue

Lists: TypeAlias = tuple[txloop.TList[Any], ...]

REPEATS = 3


class BarError(Exception):
    """What another piece raises."""


def step(chains: TransactionQueue, lists: Lists, chain: int, number: int, last: int):
    lists[chain].append(number)
    if number + 1 < last:
        chains.add(step, chains, lists, chain, number + 1, last)


def fall(queue: TransactionQueue, lists: Lists, chain: int, number: int):
    lists[chain].append(number)
    if number + 1 < 5:
        queue.add(fall, queue, lists, chain, number + 1)
    else:
        lists[chain].append("foo")
        raise FooError


def add_tree(queue: TransactionQueue, widths: tuple[int, ...]) -> None:
    if widths:
        for _ in range(widths[0]):
            queue.add(add_tree, queue, widths[1:])


class TestOrder:
    """There is none, but between a transaction and those that it adds."""

    @pytest.mark.parametrize("_", range(REPEATS))
    def test_all_run_once(self, queue: TransactionQueue, _: int) -> None:
        done: txloop.TList[int] = txloop.TList()
        for number in range(10):
            queue.add(done.append, number)

        queue.run()

        assert list(range(10)) == sorted(done)

    @pytest.mark.parametrize("_", range(REPEATS))
    def test_chain(self, queue: TransactionQueue, _: int) -> None:
        done: txloop.TList[int] = txloop.TList()
        queue.add(step, queue, (done,), 0, 0, 10)

        queue.run()

        assert list(range(10)) == done

    @pytest.mark.parametrize("_", range(REPEATS))
    def test_five_chains(self, queue: TransactionQueue, _: int) -> None:
        lists = tuple(txloop.TList[int]() for _ in range(5))
        for chain in range(5):
            queue.add(step, queue, lists, chain, 0, 10)

        queue.run()

        assert [list(range(10))] * 5 == [list(one) for one in lists]


class TestExceptions:
    """The failing one's writes stay, the rest is dropped, `run` raises."""

    @pytest.mark.parametrize("_", range(REPEATS))
    def test_one_failing_takes_effect(self, queue: TransactionQueue, _: int) -> None:
        lists = tuple(txloop.TList[object]() for _ in range(10))
        for chain in range(10):
            queue.add(fall, queue, lists, chain, 0)

        with pytest.raises(FooError):
            queue.run()

        check_chains(lists)

    def test_the_rest_is_dropped(self, queue: TransactionQueue) -> None:
        seen: txloop.TList[int] = txloop.TList()
        queue.add(raise_it, FooError)
        queue.add(raise_it, BarError)
        for _ in range(2):
            queue.add(seen.append, 42)
        with pytest.raises((FooError, BarError)):
            queue.run()
        before = list(seen)

        queue.run()

        assert before == seen

    @pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
    def test_whatever_is_raised(
        self, queue: TransactionQueue, error: type[BaseException]
    ) -> None:
        queue.add(raise_it, error)
        queue.add(raise_it, error)

        with pytest.raises(error):
            queue.run()

    def test_after_an_exception_the_queue_is_as_new(
        self, queue: TransactionQueue
    ) -> None:
        seen: txloop.TList[int] = txloop.TList()
        queue.add(raise_it, FooError)
        queue.add(raise_it, FooError)
        with pytest.raises(FooError):
            queue.run()
        queue.add(seen.append, 1)
        queue.add(seen.append, 2)

        queue.run()

        assert [1, 2] == sorted(seen)


class TestCounts:
    """How many transactions there were."""

    def test_they_add_up(self, queue: TransactionQueue) -> None:
        for expected, pieces in [(2, 2), (2, 0), (3, 1)]:
            for _ in range(pieces):
                queue.add(nothing)
            queue.run()

            assert expected == queue.number_of_transactions_executed()

    def test_one_that_raises_counts(self, queue: TransactionQueue) -> None:
        queue.add(raise_it, FooError)
        with pytest.raises(FooError):
            queue.run()

        assert queue.number_of_transactions_executed() == 1

    def test_they_are_not_known_while_it_runs(self, queue: TransactionQueue) -> None:
        queue.add(queue.number_of_transactions_executed)

        with pytest.raises(TransactionError, match="is known when"):
            queue.run()

    def test_those_that_were_added_on_the_way(self, queue: TransactionQueue) -> None:
        queue.add(add_tree, queue, (5, 5, 5))

        queue.run()

        assert 1 + 5 + 25 + 125 == queue.number_of_transactions_executed()
