"""What txloop promises of a queue beyond PyPy's tests, on every executor."""

from __future__ import annotations

from collections import Counter

import pytest

import txloop
from tests.logs import allow_log
from tests.transaction.conftest import ON_THIS_THREAD
from tests.transaction.pieces import add_to_total, seen, tell, told, total
from txloop.transaction import TransactionError, TransactionQueue


class TestTransactions:
    """Conflicts, effects, and adds at commit."""

    def test_conflicting_pieces(self, queue: TransactionQueue) -> None:
        for _ in range(60):
            queue.add(add_to_total, 1)

        queue.run()

        assert total.value == 60
        assert queue.number_of_transactions_executed() == 60

    def test_effects_come_once_each(self, queue: TransactionQueue) -> None:
        for number in range(40):
            queue.add(add_and_tell, number)

        queue.run()

        assert Counter((number,) for number in range(40)) == Counter(told)
        assert sum(range(40)) == total.value

    def test_adds_of_what_runs_again_come_once(self, queue: TransactionQueue) -> None:
        for _ in range(20):
            queue.add(add_to_total_and_queue, queue)

        queue.run()

        assert total.value == 20
        assert ["child"] * 20 == seen
        assert queue.number_of_transactions_executed() == 40

    def test_effects_of_one_that_raises_come_and_no_others(
        self, queue: TransactionQueue
    ) -> None:
        queue.add(tell_and_raise)
        queue.add(tell_and_raise)

        with pytest.raises(ValueError, match="told"):
            queue.run()

        assert [("raising",)] == told

    def test_an_effect_may_add(self, queue: TransactionQueue) -> None:
        queue.add(txloop.on_commit, add_seen, queue)

        with allow_log("txloop", ON_THIS_THREAD):
            queue.run()

        assert ["effect"] == seen

    def test_queues_do_not_mix(self, queue: TransactionQueue) -> None:
        other = TransactionQueue()
        queue.add(other.add, seen.append, "other")
        queue.add(seen.append, "own")

        queue.run()
        assert ["own"] == seen
        other.run()
        assert ["own", "other"] == seen


def add_and_tell(number: int) -> None:
    total.value += number
    txloop.on_commit(tell, number)


def add_to_total_and_queue(queue: TransactionQueue) -> None:
    queue.add(seen.append, "child")
    total.value += 1


def tell_and_raise() -> None:
    txloop.on_commit(tell, "raising")
    raise ValueError("told")


def add_seen(queue: TransactionQueue) -> None:
    queue.add(seen.append, "effect")


def wait_for(number: int) -> None:
    if total.value < number:
        txloop.retry()
    seen.append(number)
    total.value = number + 1


def wait_in_time() -> None:
    if not total.value:
        txloop.retry(timeout=0.01)
    seen.append("in time")


class TestWaiting:
    """Pieces that retry wait aside, and hold up neither chunk nor worker."""

    def test_they_wake_one_another(self, queue: TransactionQueue) -> None:
        for number in reversed(range(8)):
            queue.add(wait_for, number)

        queue.run()

        assert list(range(8)) == seen

    def test_timeout(self, queue: TransactionQueue) -> None:
        queue.add(wait_in_time)

        queue.run()

        assert ["in time"] == seen

    def test_nobody_is_left_to_wake_them(self, queue: TransactionQueue) -> None:
        queue.add(wait_for, 1)
        queue.add(wait_for, 2)

        with pytest.raises(TransactionError, match="2 transactions wait"):
            queue.run()

        assert [] == seen
