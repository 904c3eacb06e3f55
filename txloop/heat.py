"""How often the attempts of a function conflict on the same cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from txloop.types import Cell

__all__ = ["Heat"]

_WEIGHT = 0.1  # of the newest attempt in the moving average
_CALM_WEIGHT = 0.02  # the same while there is a line, where a conflict proves more
_HOT = 1 / 3
_COLD = 0.1


class Heat:
    """How often the attempts of one function conflict on the same cell.

    Attributes:
        cell: The cell on which it conflicted last, or None.
        share: The share of its attempts that conflict there, a moving average.
        lined_up: Whether its calls stand in line for that cell.
    """

    __slots__ = ("cell", "lined_up", "share")

    def __init__(self) -> None:
        self.cell: Cell | None = None
        self.share = 0.0
        self.lined_up = False

    @property
    def matters(self) -> bool:
        """Whether conflicts on the cell are more than an accident."""
        return self.share >= _COLD

    def note_conflict(self, cell: Cell) -> None:
        """Take an attempt into the average that was in vain because of a cell."""
        if cell != self.cell:
            if self.share > _COLD:  # the other cell matters more, so far
                self.share -= _WEIGHT * self.share
                return
            self.cell, self.share = cell, 0.0
        self.share += _WEIGHT * (1 - self.share)
        self.lined_up = self.lined_up or self.share >= _HOT

    def note_commit(self) -> None:
        """Take an attempt into the average that was not in vain."""
        if self.cell is not None:
            self.share -= (_CALM_WEIGHT if self.lined_up else _WEIGHT) * self.share
            if self.share < _COLD:
                self.lined_up = False
