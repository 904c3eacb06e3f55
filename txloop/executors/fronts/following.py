"""How the replica of a front's process gets to know what was committed elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from txloop.executors.fronts.board import OverwrittenError
from txloop.executors.processes.feed import catch_up
from txloop.stm.store import committed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from txloop.executors.fronts.board import Board
    from txloop.executors.fronts.page import Page, Slot

__all__ = ["Following"]

_NEWEST = 1 << 62


class Following:
    """Repeats what others have committed; used by the front's only thread.

    Attributes:
        board: Where most of it stands.
        slot: The front's part of the page; None as long as it has none.
        position: Up to where the board was read; None before the owner has said from
            where on.
        trouble: Why this process cannot follow any more; None if it can.
    """

    def __init__(self, page: Page, board: Board, end: Callable[[], object]) -> None:
        """Begin before anything was read.

        Args:
            page: What is shared with the owner.
            board: Likewise.
            end: Ends this process: the owner has given it up.
        """
        self.board = board
        self.slot: Slot | None = None
        self.position: int | None = None
        self.trouble: str | None = None
        self._page, self._end = page, end

    @property
    def ready(self) -> bool:
        """Whether this front can read the board, and the owner where it is."""
        return self.position is not None and self.slot is not None

    @property
    def at_end(self) -> bool:
        """Whether all that is on the board was read."""
        return self.position == self.board.end

    def follow(
        self, commits: tuple[Any, ...] | None = None, dropped: Sequence[int] = ()
    ) -> None:
        """Repeat what there is on the board, and what does not stand there.

        Args:
            commits: These, if there are any: the version to which they lead, a dump or
                None, the others, up to where the board has to be read before, if it
                has, and from where to go on.
            dropped: Numbers of containers that have died.
        """
        if self.position is not None and (commits is None or commits[3] is not None):
            self._read_until(self._page.version)
        if commits is not None:
            version, dump, deltas, _, self.position = commits
            self._repeat(version, dump, deltas)
        if self.slot is not None and self.position is not None:
            self.slot.read = self.position
        if dropped:
            committed.forget(list(dropped))

    def follow_to_end(self) -> bool:
        """Repeat all that is on the board; tell whether there is nothing else.

        To be called while nobody else can put anything there.
        """
        if not self.at_end:
            self._read_until(_NEWEST)
        return self.at_end and self.trouble is None  # else the rest comes by the link

    def skip(self, position: int) -> None:
        """Go on from a position: what is before it was put there by this process."""
        assert self.slot is not None
        self.slot.read = self.position = position

    def _read_until(self, newest: int) -> None:
        """Repeat what there is on the board up to a version."""
        assert self.position is not None
        try:
            self.position, version, deltas = self.board.read(self.position, newest)
        except OverwrittenError:
            self._end()
            raise
        self._repeat(version, None, deltas)

    def _repeat(
        self, version: int, dump: bytes | None, deltas: Sequence[bytes]
    ) -> None:
        if version and self.trouble is None:
            self.trouble = catch_up(version, dump, deltas, ())
