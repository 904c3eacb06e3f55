"""Where a queue may be made and run, and where not."""

from __future__ import annotations

import asyncio
import threading

import pytest

import txloop
from tests.logs import allow_log
from tests.transaction.conftest import ON_THIS_THREAD
from tests.transaction.pieces import seen, tell, told
from txloop import transaction
from txloop.errors import TxThreadError
from txloop.transaction import TransactionError, TransactionQueue


class TestCalling:
    """Where `run` may be called, and where not."""

    def test_not_in_a_transaction(self, queue: TransactionQueue) -> None:
        queue.add(queue.run)

        with pytest.raises(TransactionError, match="in a transaction"):
            queue.run()

    def test_not_in_an_atomic_block(self, queue: TransactionQueue) -> None:
        queue.add(seen.append, 1)

        with (
            transaction.atomic,
            pytest.raises(TransactionError, match="atomic block"),
        ):
            queue.run()

    def test_not_in_an_effect(self, queue: TransactionQueue) -> None:
        queue.add(txloop.on_commit, run_and_tell, queue)

        with allow_log("txloop", ON_THIS_THREAD):
            queue.run()

        assert [("recursive",)] == told

    def test_a_queue_is_not_made_in_a_transaction(
        self, queue: TransactionQueue
    ) -> None:
        queue.add(TransactionQueue)

        with pytest.raises(TransactionError, match="cannot be made in a transaction"):
            queue.run()

    def test_in_a_callback_of_a_loop(self, queue: TransactionQueue) -> None:
        async def main() -> None:
            for number in range(5):
                queue.add(seen.append, number)
            queue.run()

        asyncio.run(main())

        assert list(range(5)) == sorted(seen)

    def test_on_another_thread_than_a_loop(
        self, queue: TransactionQueue, executor: str
    ) -> None:
        """One thread commits; a second one is told so."""
        other = TransactionQueue()
        other.add(seen.append, 1)
        queue.add(txloop.on_commit, run_elsewhere, other)

        queue.run()

        assert [("TxThreadError",)] == told
        assert [] == seen

    def test_an_empty_queue(self, queue: TransactionQueue) -> None:
        queue.run()

        assert queue.number_of_transactions_executed() == 0

    def test_unknown_executor(self) -> None:
        with pytest.raises(txloop.TxConfigurationError, match="unknown executor"):
            TransactionQueue(executor="elsewhere")

    def test_limit(self, executor: str) -> None:
        assert (1 if executor == "serial" else 2) == transaction.getsegmentlimit()


def run_elsewhere(queue: TransactionQueue) -> None:
    def run() -> None:
        try:
            queue.run()
        except TxThreadError as error:
            tell(type(error).__name__)

    thread = threading.Thread(target=run)
    TransactionQueue._running, running = None, TransactionQueue._running
    thread.start()
    thread.join()
    TransactionQueue._running = running


def run_and_tell(queue: TransactionQueue) -> None:
    try:
        queue.run()
    except TransactionError:
        tell("recursive")
