"""How often the calls of a function conflict on one cell: whether they stand in line.

In line, one runs after another, so none conflicts, which proves little. So the average
falls slowly there; but at its usual pace for commits that have not written to the
container at all: others could have run beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from txloop.stm.container import Container

if TYPE_CHECKING:
    from txloop.stm.types import Cell, Outcome

__all__ = ["Heat"]

_WEIGHT = 0.1  # of the newest attempt in the moving average
_CALM_WEIGHT = 0.02  # the same in line
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
        """Take an attempt into the average that was aborted because of a cell."""
        if cell != self.cell:
            if self.share > _COLD:  # the other cell matters more, so far
                self.share -= _WEIGHT * self.share
                return
            self.cell, self.share = cell, 0.0
        self.share += _WEIGHT * (1 - self.share)
        self.lined_up = self.lined_up or self.share >= _HOT

    def note_commit(self, outcome: Outcome | None = None) -> None:
        """Take an attempt into the average that committed.

        Args:
            outcome: Its outcome, where it may have stood in line.
        """
        calm = self.lined_up and not (outcome and self._spares(outcome))
        self.share -= (_CALM_WEIGHT if calm else _WEIGHT) * self.share
        if self.share < _COLD:
            self.lined_up = False

    def _spares(self, outcome: Outcome) -> bool:
        """Tell whether no other attempt could have conflicted with it there."""
        assert self.cell is not None
        number = self.cell[0]
        return not any(
            isinstance(container, Container) and container._tx_number == number
            for container, _, _ in outcome.writes
        )
