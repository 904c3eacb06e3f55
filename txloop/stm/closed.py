"""What takes the place of a read set whose attempt must not read any more.

Another thread puts it there, in the middle of the attempt: so it is no flag that each
read would have to ask for, but fails where the read would be noted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

from txloop.errors import BecomeInevitable

if TYPE_CHECKING:
    from txloop.stm.types import Cell

__all__ = ["Closed", "ClosedSpans"]


class Closed(set["Cell"]):
    """The cells read by an attempt that must not read any more."""

    def add(self, cell: Cell) -> Never:
        """Refuse: a read ends the attempt."""
        raise BecomeInevitable("this attempt was cancelled")


class ClosedSpans(dict[int, tuple[int, int]]):
    """The spans read by an attempt that must not read any more."""

    def __setitem__(self, number: int, span: tuple[int, int]) -> Never:
        raise BecomeInevitable("this attempt was cancelled")
