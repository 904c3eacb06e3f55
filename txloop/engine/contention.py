"""Predicted conflicts: functions that keep meeting on one cell run one after another.

Optimism costs a run for each conflict. Where a third of a function's attempts ends in a
conflict on the same cell, the next ones will, too: then only one transaction that is
after this cell runs at a time, and the others stand in line for it. Nobody loses by
that, as only one of them could have committed. When conflicts have become rare the line
is given up, and if they come back, formed again.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from txloop.engine.transaction import Transaction
    from txloop.stm.types import Cell

__all__ = ["Contention"]


class Contention:
    """Who stands in line for which cell; used by the loop thread only."""

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

    def in_line(self, transaction: Transaction) -> bool:
        """Tell whether a transaction stands in line."""
        return any(transaction in line for line in self._lines.values())

    def left(self, transaction: Transaction) -> None:
        """Take note that a transaction has committed, or will not for now."""
        cell = self._holders.pop(transaction.number, None)
        if cell is not None:
            self._free.append(cell)

    def forget(self, transaction: Transaction) -> None:
        """Let a transaction leave, wherever it is."""
        self.left(transaction)
        for line in self._lines.values():
            if transaction in line:
                line.remove(transaction)

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
