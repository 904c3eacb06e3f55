"""What PyPy's own tests ask of the module's functions, which share one queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import txloop
from tests.transaction.pieces import FooError, nothing, raise_it
from txloop import transaction
from txloop.transaction import TransactionError

if TYPE_CHECKING:
    from collections.abc import Callable


def add_here(function: Callable[..., object], *args: object) -> None:
    transaction.add(function, *args)


class TestModule:
    """The functions of 2012, and the `with` block of 2014."""

    def test_run(self, executor: str) -> None:
        done: txloop.TList[int] = txloop.TList()
        for number in range(10):
            transaction.add(done.append, number)

        transaction.run()

        assert list(range(10)) == sorted(done)
        assert transaction.number_of_transactions_in_last_run() == 10

    def test_nested_adds(self, executor: str) -> None:
        done: txloop.TList[int] = txloop.TList()
        transaction.add(add_here, add_here, done.append, 1)

        transaction.run()

        assert [1] == done
        assert transaction.number_of_transactions_in_last_run() == 3

    def test_the_last_run_only(self, executor: str) -> None:
        for pieces in (3, 1):
            for _ in range(pieces):
                transaction.add(nothing)
            transaction.run()

            assert pieces == transaction.number_of_transactions_in_last_run()

    def test_an_exception(self, executor: str) -> None:
        transaction.add(raise_it, FooError)
        with pytest.raises(FooError):
            transaction.run()

        assert transaction.number_of_transactions_in_last_run() == 1

    def test_a_run_cannot_be_nested(self, executor: str) -> None:
        transaction.add(transaction.run)

        with pytest.raises(TransactionError, match="in a transaction"):
            transaction.run()

    @pytest.mark.parametrize("number", [0, -1])
    def test_too_few_threads(self, number: int) -> None:
        with pytest.raises(ValueError, match="a number from 1"):
            transaction.set_num_threads(number)

    def test_threads_while_it_runs(self, executor: str) -> None:
        transaction.add(transaction.set_num_threads, 2)

        with pytest.raises(TransactionError, match="while run"):
            transaction.run()

    def test_with_block(self, executor: str) -> None:
        done: txloop.TList[int] = txloop.TList()

        with transaction.TransactionQueue():
            assert transaction.is_atomic()
            for number in range(10):
                transaction.add(done.append, number)
            assert not done

        assert list(range(10)) == sorted(done)

    def test_with_block_that_raises_runs_nothing(self, executor: str) -> None:
        done: txloop.TList[int] = txloop.TList()

        def add_and_raise() -> None:
            with transaction.TransactionQueue():
                transaction.add(done.append, 1)
                raise FooError

        with pytest.raises(FooError):
            add_and_raise()

        assert [] == done
        assert not transaction.is_atomic()

    def test_with_blocks_cannot_be_nested(self, executor: str) -> None:
        with (
            transaction.TransactionQueue() as queue,
            pytest.raises(TransactionError, match="recursive"),
        ):
            queue.__enter__()
