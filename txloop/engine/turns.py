"""Whose turn it is to commit: those in order, and the inevitable one."""

from __future__ import annotations

import bisect
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from txloop.engine.transaction import Transaction

__all__ = ["Turns"]


class Turns:
    """Keeps answers back until it is their turn; used by the loop thread only.

    Attributes:
        inevitable: The transaction that all others have to wait for, or None.
    """

    def __init__(self) -> None:
        self.inevitable: Transaction | None = None
        self._in_order: deque[Transaction] = deque()
        self._held: deque[Transaction] = deque()  # they wait for the inevitable one
        self._next_inevitable: deque[Transaction] = deque()

    @property
    def in_order(self) -> bool:
        """Whether there is one that has a place in the order."""
        return bool(self._in_order)

    def enter(self, transaction: Transaction) -> None:
        """Let one take its place in the order, if it has one.

        One that has waited for a change takes the place that it had when it came.
        """
        if transaction.call.ordered:
            bisect.insort(self._in_order, transaction, key=lambda one: one.number)

    def hold_back(self, transaction: Transaction) -> bool:
        """Keep an answer if there is an inevitable one that it must wait for."""
        if self.inevitable is None or self.inevitable is transaction:
            return False
        self._held.append(transaction)
        return True

    def has_come(self, transaction: Transaction) -> bool:
        """Tell whether no other has to commit before it; else `next` names it later."""
        return not transaction.call.ordered or self._in_order[0] is transaction

    def next(self) -> Transaction | None:
        """Return one whose answer can be settled now, or None."""
        if self.inevitable is not None:
            return None
        if self._held:
            return self._held.popleft()
        first = self._in_order[0] if self._in_order else None
        return first if first is not None and first.outcome is not None else None

    def demand(self, transaction: Transaction) -> None:
        """Let a transaction be inevitable as soon as no other one is."""
        self._next_inevitable.append(transaction)

    def next_inevitable(self) -> Transaction | None:
        """Make the next one inevitable and return it, or None."""
        if self.inevitable is None and self._next_inevitable:
            self.inevitable = self._next_inevitable.popleft()
            return self.inevitable
        return None

    def leave(self, transaction: Transaction) -> None:
        """Let the others go on: it has committed, or waits, or will never run."""
        if transaction.call.ordered:
            self._in_order.remove(transaction)  # mostly the first one
        if transaction is self.inevitable:
            self.inevitable = None

    def forget(self, transaction: Transaction) -> None:
        """Let it leave, wherever it waits for its turn."""
        self.leave(transaction)
        for line in (self._held, self._next_inevitable):
            if transaction in line:
                line.remove(transaction)
