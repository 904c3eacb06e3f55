"""The attempts that run away from the loop thread, or wait there for a worker.

The dispatcher sends transactions to the executor through here and gets them back with
their answers. Here is known how many wait, and so whether one more may.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from txloop.errors import TxOverloadError
from txloop.executors.protocol import Work

if TYPE_CHECKING:
    from txloop.engine.contention import Contention
    from txloop.engine.profile import Profile
    from txloop.engine.reporting import Reporter
    from txloop.engine.transaction import Transaction
    from txloop.executors.protocol import Executor, Running

__all__ = ["Flights"]


class Flights:
    """Whose attempts the executor has; used by the loop thread only.

    Attributes:
        executor: Where they run.
    """

    def __init__(
        self,
        executor: Executor,
        reporter: Reporter,
        contention: Contention,
        max_queue: int | None,
    ) -> None:
        """Take the executor, which its owner starts before the first one is sent.

        Args:
            executor: Where attempts run.
            reporter: Told of each.
            contention: Who has to stand in line.
            max_queue: How many may wait for a worker, None for any number.
        """
        self.executor = executor
        self._reporter = reporter
        self._contention = contention
        self._max_queue = max_queue
        self._attempts = 0
        self._running: dict[int, Transaction] = {}  # by attempt number

    def __len__(self) -> int:
        return len(self._running)

    @property
    def queued(self) -> int:
        """The number of transactions that wait for a worker."""
        away = len(self._running) - self.executor.workers
        return max(0, away) + len(self._contention)

    def has_room(self, transaction: Transaction) -> bool:
        """Tell whether one more may wait for a worker.

        There is always room for those that commit in order, as others may wait for
        them, and for those that were let in before.
        """
        if self._max_queue is None or transaction.call.ordered:
            return True
        if transaction.waiting_since is not None:
            return True
        return self.queued < self._max_queue

    def no_room(self, transaction: Transaction) -> TxOverloadError:
        """Return what a transaction gets that is turned away."""
        profile, waiting = transaction.profile, self.queued
        seconds = waiting * (profile.body.seconds or 0.0) / self.executor.workers
        self._reporter.turned_away(transaction, waiting)
        error = TxOverloadError(
            f"queue full: {profile.label} did not run; {waiting} calls are waiting"
        )
        error.retry_after_seconds = math.ceil(seconds) or 1
        return error

    def work(self, transaction: Transaction, urgent: bool = False) -> Work:
        """Begin an attempt, which `Executor.run` has to be given at once."""
        transaction.outcome = None
        self._reporter.started(transaction, inline=False)
        self._attempts += 1
        self._running[self._attempts] = transaction
        transaction.running = self._attempts
        estimate = transaction.profile.estimate()
        medium = transaction.profile.medium(self.executor.transport_seconds)
        return Work(self._attempts, transaction.call, estimate, urgent, medium)

    def send(self, transaction: Transaction, urgent: bool = False) -> None:
        """Have one attempt made; an `urgent` one is not kept waiting by others."""
        self.executor.run([self.work(transaction, urgent)])

    def in_flight(self, number: int) -> Transaction | None:
        """Return whose attempt has that number, None if nobody waits for it."""
        return self._running.get(number)

    def landed(self, number: int) -> Transaction | None:
        """Return whose attempt has been answered, None if nobody waits for it."""
        transaction = self._running.pop(number, None)
        if transaction is not None:
            transaction.running = 0
        return transaction

    def running(self) -> list[tuple[int, Running]]:
        """Return what runs away from the loop thread, by transaction's number."""
        return [
            (self._running[one.number].number, one)
            for one in self.executor.running()
            if one.number in self._running
        ]

    def withdraw(self, transaction: Transaction) -> bool:
        """Take an attempt back that has not begun; False if that is too late."""
        return self.executor.withdraw(transaction.running)

    def forget(self, transaction: Transaction) -> None:
        """Take no answer for a transaction any more."""
        self._running.pop(transaction.running, None)

    def line_up(self, profile: Profile) -> None:
        """Let those of a function stand in line that have not begun."""
        for number, transaction in list(self._running.items()):
            if transaction.profile is profile and self.executor.withdraw(number):
                self.landed(number)
                self._reporter.not_started(transaction)
                if self._contention.enter_or_queue(transaction):
                    self.send(transaction)
                else:
                    self._reporter.lined_up(transaction)

    def clear(self) -> None:
        """Forget all: the executor is closed."""
        self._running.clear()
