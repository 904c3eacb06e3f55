"""An attempt that settles what it reads only when it reads for the first time.

What a function does before that, to compute or to wait, takes its time, but depends on
nothing that others commit meanwhile. So an attempt that moves on to a newer version
there reads what it would have read if it had begun then, and conflicts only with
what is committed from then on. It is the extension of a snapshot of Riegel, Felber and
Fetzer ("A lazy snapshot algorithm with eager validation", 2006) where it needs no
validation, since nothing was read.

Each read asks whether it is the first; so only calls of functions that conflict are run
by attempts of these kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from txloop.stm.attempt import Attempt
from txloop.stm.traced import TracedAttempt

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from txloop.stm.container import Container

__all__ = ["LateAttempt", "LateTracedAttempt"]


class _Late(Attempt):
    """Reads the version at which it began, or what `renew` gives at its first read."""

    # No slots: two lines of descent could not both have them.
    _at: int
    _renew: Callable[[], int] | None

    def renew_by(self, renew: Callable[[], int]) -> None:
        """Have the first read happen at the version that `renew` returns.

        Args:
            renew: Called once at most, on the thread that runs the attempt. The
                version is the one at which it began, or newer, and readable.
        """
        self._renew = renew

    def stop_renewing(self) -> None:
        """Stay at the version that it is at, as it has ended."""
        self._renew = None

    @property
    def snapshot(self) -> int:
        """The version that it reads."""
        if self._renew is not None:
            self._settle()
        return self._at

    @snapshot.setter
    def snapshot(self, version: int) -> None:
        self._at, self._renew = version, None

    def _settle(self) -> None:
        renew, self._renew = self._renew, None
        if renew is not None:
            self._at = renew()

    # All else that reads asks for the snapshot first.

    def read(self, container: Container, key: Hashable) -> object:
        if self._renew is not None:
            self._settle()
        return super().read(container, key)

    def has(self, container: Container, key: Hashable) -> bool:
        if self._renew is not None:
            self._settle()
        return super().has(container, key)


class LateAttempt(_Late):
    """Belongs to the thread that runs it, as any attempt."""


class LateTracedAttempt(_Late, TracedAttempt):
    """A `LateAttempt` that notes lines, as a `TracedAttempt` does."""
