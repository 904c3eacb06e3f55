"""Where transactions wait for each other: rounds, turns and lines.

**Rounds**: the transactions that came in one loop iteration go on together.

The loop does not wait for a round; the next one may begin while this one still runs.
With a barrier it does, as the loop of 2014 did: it called PyPy's ``transaction.run()``
and went on when all had committed.

**Turns**: which one may commit: those in order, and the inevitable one.

**Lines**: functions that keep meeting on one cell run one after another.

Optimism costs a run for each conflict. Where a third of a function's attempts ends in a
conflict on the same cell, the next ones will, too: then only one transaction that is
after this cell runs at a time, and the others stand in line for it. None loses by
that, as only one of them could have committed. When conflicts have become rare the line
is given up, and if they come back, formed again.

All of this is used by the loop thread only.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections import deque
from typing import TYPE_CHECKING

from txloop.engine.transaction import State, Transaction

if TYPE_CHECKING:
    from txloop.stm.types import Cell

__all__ = ["Lines", "Rounds", "Turns"]

_READY = frozenset({State.HERE, State.ANSWERED})


class Rounds:
    """Which transactions belong to the next round.

    With a barrier, one that was woken does not wait for the end of the round that runs,
    but joins it: a transaction of that round may come after it in the order.
    """

    def __init__(self, barrier: bool) -> None:
        """Begin without any.

        Args:
            barrier: Whether a round has to end before the next one begins.
        """
        self._barrier = barrier
        self._next: list[Transaction] = []
        self._woken: list[Transaction] = []
        self._announced = False  # whether it is known that some can begin
        self._running: set[int] = set()  # numbers; stays empty without a barrier

    @property
    def waits(self) -> bool:
        """Whether the next one waits for the end of the one that runs."""
        return bool(self._next) and bool(self._running)

    def __contains__(self, transaction: Transaction) -> bool:
        return transaction in self._next or transaction in self._woken

    def add(self, transaction: Transaction) -> bool:
        """Let one take part in the next round.

        Returns:
            Whether there is something to begin now, and was not before.
        """
        woken = transaction.waiting_since is not None
        (self._woken if woken else self._next).append(transaction)
        return self._announce()

    def begin(self) -> list[Transaction]:
        """Return those that begin now; none if they have to wait."""
        self._announced = False
        batch, self._woken = self._woken, []
        if not self._running:
            batch, self._next = batch + self._next, []
        if self._barrier:
            self._running.update(transaction.number for transaction in batch)
        return batch

    def leave(self, transaction: Transaction) -> bool:
        """Take note that one has ended, or waits for a change.

        Returns:
            Whether there is something to begin now, and was not before.
        """
        if transaction.number not in self._running:
            return False
        self._running.remove(transaction.number)
        return self._announce()

    def _announce(self) -> bool:
        """Return whether there is something to begin; True once for each round."""
        if self._announced or not (self._woken or (self._next and not self._running)):
            return False
        self._announced = True
        return True

    def forget(self, transaction: Transaction) -> None:
        """Remove one that has not begun."""
        (self._next if transaction in self._next else self._woken).remove(transaction)


class Turns:
    """Keeps transactions back until their turn comes; used by the loop thread only.

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

    def give_place(self, transaction: Transaction) -> None:
        """Let one have a place in the order that had none, by its number."""
        # For the inevitable one all others wait in any case.
        if not (transaction.call.ordered or transaction is self.inevitable):
            transaction.call = dataclasses.replace(transaction.call, ordered=True)
            self.enter(transaction)

    def hold_back(self, transaction: Transaction) -> bool:
        """Keep one if there is an inevitable one that it must wait for.

        One that comes before that in the order must not: it would be waited for itself.
        It was woken since, and may make the inevitable one run again, here.
        """
        if self.inevitable in (None, transaction) or self.is_waited_for(transaction):
            return False
        self._held.append(transaction)
        return True

    def is_waited_for(self, transaction: Transaction) -> bool:
        """Tell whether the inevitable one has to wait for it: it comes before that."""
        return self.inevitable is not None and _comes_before(
            transaction, self.inevitable
        )

    def has_come(self, transaction: Transaction) -> bool:
        """Tell whether no other has to commit before it; else `next` names it later."""
        return not transaction.call.ordered or self._in_order[0] is transaction

    def next(self) -> Transaction | None:
        """Return one that can be settled now, or None."""
        if self.inevitable is None and self._held:
            return self._held.popleft()
        if self.inevitable is not None and not self.inevitable.call.ordered:
            return None
        first = self._in_order[0] if self._in_order else None
        return first if first is not None and first.state in _READY else None

    def demand(self, transaction: Transaction) -> None:
        """Let a transaction be inevitable as soon as no other one is."""
        self._next_inevitable.append(transaction)

    def next_inevitable(self) -> Transaction | None:
        """Make the next one inevitable and return it, or None.

        It is none that would have to wait for another one of these.
        """
        if self.inevitable is None and self._next_inevitable:
            chosen = self._next_inevitable[0]
            for one in self._next_inevitable:
                if _comes_before(one, chosen):
                    chosen = one
            self._next_inevitable.remove(chosen)
            self.inevitable = chosen
            return chosen
        return None

    def leave(self, transaction: Transaction) -> None:
        """Let the others go on: it has committed, or waits, or will never run."""
        if transaction.call.ordered:
            self._in_order.remove(transaction)  # mostly the first one
        if transaction is self.inevitable:
            self.inevitable = None

    def forget(self, transaction: Transaction) -> None:
        """Remove one that waits for its turn, if it does."""
        for line in (self._held, self._next_inevitable):
            if transaction in line:
                line.remove(transaction)

    def clear(self) -> None:
        """Forget all."""
        self.inevitable = None
        for line in (self._in_order, self._held, self._next_inevitable):
            line.clear()


def _comes_before(one: Transaction, other: Transaction) -> bool:
    both_ordered = one.call.ordered and other.call.ordered
    return both_ordered and one.number < other.number


class Lines:
    """Which transactions stand in line for which cell."""

    def __init__(self) -> None:
        self._holders: dict[int, Cell] = {}  # by transaction number
        self._lines: dict[Cell, deque[Transaction]] = {}
        self._free: deque[Cell] = deque()  # lines whose first one may run

    def __len__(self) -> int:
        return sum(map(len, self._lines.values()))

    def enter_or_queue(self, transaction: Transaction) -> bool:
        """Let a transaction run away from here now; or queue it for its cell.

        Returns:
            Whether it may run now.
        """
        cell = _line_of(transaction)
        if cell is None or transaction.number in self._holders:
            return True
        line = self._lines.get(cell)
        if line is None:
            self._lines[cell] = deque()
            self._holders[transaction.number] = cell
            return True
        line.append(transaction)
        return False

    def leave(self, transaction: Transaction) -> None:
        """Take note that a transaction has committed, or will not for now."""
        cell = self._holders.pop(transaction.number, None)
        if cell is not None:
            self._free.append(cell)

    def forget(self, transaction: Transaction) -> None:
        """Remove one that stands in line."""
        next(line for line in self._lines.values() if transaction in line).remove(
            transaction
        )

    def next(self) -> Transaction | None:
        """Return one that stood in line and may run now, or None."""
        while self._free:
            cell = self._free.popleft()
            line = self._lines[cell]
            if not line:
                del self._lines[cell]
                continue
            transaction = line.popleft()
            if _line_of(transaction) is not None:
                self._holders[transaction.number] = cell
            else:  # the line was given up: the others may go, too
                self._free.append(cell)
            return transaction
        return None

    def clear(self) -> None:
        """Forget all."""
        self._holders.clear()
        self._lines.clear()
        self._free.clear()


def _line_of(transaction: Transaction) -> Cell | None:
    """Return the cell for which a transaction has to stand in line, or None.

    What commits in order does not stand in line for a cell that is contended: those
    before it could be behind it. All calls of a function wait for its first run if that
    has to be made alone; they stand there as they came.
    """
    profile = transaction.profile
    if profile.unproven:
        return 0, profile  # no container has this number
    if profile.heat.lined_up and not transaction.call.ordered:
        return profile.heat.cell
    return None
