"""Rounds: the transactions that came in one loop iteration go on together.

The loop does not wait for a round; the next one may begin while this one still runs.
With a barrier it does, as the loop of 2014 did: it called PyPy's ``transaction.run()``
and went on when all had committed.
"""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.engine.transaction import Transaction
    from txloop.engine.waiting import Timers

__all__ = ["Rounds"]


class Rounds:
    """Who belongs to the next round; used by the loop thread only."""

    def __init__(
        self, reactor: Timers, run: Callable[[], object], barrier: bool
    ) -> None:
        """Take who is told, in the loop's next iteration, that a round can begin.

        Args:
            reactor: The running event loop.
            run: Asks for the round by `begin`.
            barrier: Whether a round has to end before the next one begins.
        """
        self._reactor = reactor
        self._run = run
        self._barrier = barrier
        self._next: list[Transaction] = []
        self._running: set[int] = set()  # numbers; stays empty without a barrier

    @property
    def waits(self) -> bool:
        """Whether the next one waits for the end of the one that runs."""
        return bool(self._next) and bool(self._running)

    def __contains__(self, transaction: Transaction) -> bool:
        return transaction in self._next

    def add(self, transaction: Transaction) -> None:
        """Let one take part in the next round."""
        self._next.append(transaction)
        if len(self._next) == 1 and not self._running:
            self._announce()

    def begin(self) -> list[Transaction]:
        """Return those of the next round, which begins now; none if it has to wait."""
        if self._running:
            return []
        batch, self._next = self._next, []
        if self._barrier:
            self._running.update(transaction.number for transaction in batch)
        return batch

    def left(self, transaction: Transaction) -> None:
        """Take note that one has ended, or waits for a change."""
        if transaction.number not in self._running:
            return
        self._running.remove(transaction.number)
        if self._next and not self._running:
            self._announce()

    def forget(self, transaction: Transaction) -> None:
        """Let a transaction leave, wherever it is."""
        if transaction in self._next:
            self._next.remove(transaction)
        self.left(transaction)

    def _announce(self) -> None:
        # In an empty context: the first submitter's is not the others'.
        self._reactor.call_soon(self._run, context=contextvars.Context())
