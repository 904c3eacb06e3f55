"""A lock for which nothing ever waits.

In the place of a `threading.Lock`, programs have it in which one thread takes the lock,
and gives it back before anything else runs (see `sharing`). A copy of it does as much
as the lock itself.
"""

from __future__ import annotations

from txloop.cells.kinds import register_immutable

__all__ = ["FreeLock"]


class FreeLock:
    """What `threading.Lock` and `RLock` are where nothing waits: no lock at all."""

    __slots__ = ()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Return True: it is free."""
        return True

    def release(self) -> None:
        """Do nothing: it is free already."""

    def __enter__(self) -> bool:
        return True

    def __exit__(self, *error: object) -> None:
        pass


register_immutable(FreeLock)
