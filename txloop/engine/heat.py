"""How often the calls of a function conflict on one cell: whether they stand in line.

In line, one runs after another, so none conflicts, which proves little. So the average
falls slowly there; but at its usual pace for commits that have not written to the
container at all: others could have run beside them. Each time that a function is back
in line soon after it has left, it falls more slowly there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from txloop.stm.container import Container

if TYPE_CHECKING:
    from txloop.stm.types import Cell, Outcome

__all__ = ["Heat"]

_WEIGHT = 0.1  # of the newest attempt in the moving average
_CALM_WEIGHT = 0.02  # the same in line
_LEAST_CALM_WEIGHT = 0.0003
_SOON = 200  # attempts
_HOT = 1 / 3
_COLD = 0.1


class Heat:
    """How often the attempts of one function conflict on the same cell.

    Attributes:
        cell: The cell on which it conflicted last, or None.
        share: The share of its attempts that conflict there, a moving average.
        lined_up: Whether its calls stand in line for that cell.
    """

    __slots__ = ("_apart", "_calm_weight", "cell", "lined_up", "share")

    def __init__(self) -> None:
        self.cell: Cell | None = None
        self.share = 0.0
        self.lined_up = False
        self._apart = _SOON  # attempts since it has left the line
        self._calm_weight = _CALM_WEIGHT

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
        self._apart += 1
        if not self.lined_up and self.share >= _HOT:
            self.lined_up = True
            soon = self._apart < _SOON
            weight = self._calm_weight / 4 if soon else _CALM_WEIGHT
            self._calm_weight = max(weight, _LEAST_CALM_WEIGHT)

    def note_commit(self, outcome: Outcome | None = None) -> None:
        """Take an attempt into the average that committed.

        Args:
            outcome: Its outcome, where it may have stood in line.
        """
        calm = self.lined_up and not (outcome and self._spares(outcome))
        self.share -= (self._calm_weight if calm else _WEIGHT) * self.share
        self._apart += 1
        if self.share < _COLD and self.lined_up:
            self.lined_up = False
            self._apart = 0

    def _spares(self, outcome: Outcome) -> bool:
        """Tell whether no other attempt could have conflicted with it there."""
        assert self.cell is not None
        number = self.cell[0]
        return not any(
            isinstance(container, Container) and container._tx_number == number
            for container, _, _ in outcome.writes
        )
