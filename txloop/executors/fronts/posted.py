"""What a front may commit by itself, until it does or the owner is asked to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from txloop.stm.store import committed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from txloop.executors.codec.plain_cells import PlainOutcome
    from txloop.executors.fronts.carrier import Kind
    from txloop.stm.types import Outcome

__all__ = ["Posted", "PostedOutcomes"]


@dataclass(frozen=True, slots=True, eq=False)
class Posted:
    """An outcome that may be committed here.

    Attributes:
        number: The transaction's.
        kind: What it is.
        outcome: What has come of it.
        plain: The same as plain data, for the owner.
        packed: What it writes, for the board.
        at: When it was posted (`time.monotonic`).
    """

    number: int
    kind: Kind
    outcome: Outcome
    plain: PlainOutcome
    packed: bytes
    at: float


class PostedOutcomes:
    """All that are posted; as long, what they have read is kept where it has changed.

    Used by the front's only thread.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._all: list[Posted] = []
        self._snapshot: int | None = None  # of the first of these

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Posted]:
        return iter(self._all)

    @property
    def since(self) -> float:
        """When the first of them was posted."""
        return self._all[0].at

    def add(self, posted: Posted) -> None:
        """Add one."""
        self._all.append(posted)
        self._keep()

    def take(self, count: int) -> list[Posted]:
        """Remove the first ones, and return them."""
        taken, self._all = self._all[:count], self._all[count:]
        self._keep()
        return taken

    def _keep(self) -> None:
        oldest = self._all[0].outcome.snapshot if self._all else None
        if oldest != self._snapshot:
            if oldest is not None:
                committed.open_snapshot(oldest)
            if self._snapshot is not None:
                committed.close_snapshot(self._snapshot)
            self._snapshot = oldest
