"""Which attempt computes what a cache misses, where several do at the same time.

The first attempt claims the entry; the others give themselves up until it is filled,
which costs no worker. Claims lie in memory that forked workers share, and in a table
for the threads of one process. They are advice: an entry that two compute all the same
(they looked at once, or the first one has not committed yet) is filled by one of them,
and the other runs again. Rejected: a claim by a transaction of its own, since each miss
would cost a commit; and locks on a file, since workers have no descriptors of ours.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
import time
from typing import TYPE_CHECKING

from txloop.stm.attempt import running
from txloop.stm.primitives import retry

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from txloop.stm.attempt import Attempt

__all__ = ["Claims"]

_CLAIM = struct.Struct("<qqd")  # process, entry, since when
_PLACES = 1024
_PATIENCE_SECONDS = 0.25
"""After how long to look whether the one that computes has failed."""

_STALE_SECONDS = 10.0
"""After how long a claim counts no more: its process may have died."""


class Claims:
    """What is computed just now, in all processes that were forked from this one."""

    def __init__(self) -> None:
        self._shared: mmap.mmap | None = None
        # By entry; relies on `setdefault` being atomic without the GIL.
        self._mine: dict[int, Attempt] = {}

    def prepare(self) -> None:
        """Make the memory; workers that are forked later share it."""
        if self._shared is None:
            self._shared = mmap.mmap(-1, _PLACES * _CLAIM.size)

    @contextlib.contextmanager
    def claimed(self, number: int, key: Hashable) -> Iterator[None]:
        """Claim an entry, or give the attempt up while another one computes it.

        Args:
            number: The number of the cache.
            key: The entry's, which was read and found missing.
        """
        attempt = running.attempt
        if attempt is None or not self._may_wait(attempt):
            yield
            return
        entry = hash((number, key))
        if not self._take(entry, attempt):
            retry(attempt.waited_seconds + _PATIENCE_SECONDS)
        try:
            yield
        finally:
            self._release(entry)

    def _may_wait(self, attempt: Attempt) -> bool:
        # One that waits loses its place in an order. One that has a claim would keep
        # others from computing what it waits for.
        return (
            attempt.speculative
            and not attempt.ordered
            and not attempt.alternatives
            and attempt not in self._mine.copy().values()
        )

    def _take(self, entry: int, attempt: Attempt) -> bool:
        if self._mine.setdefault(entry, attempt) is not attempt:
            return False
        if self._shared is None:
            return True
        place = entry % _PLACES * _CLAIM.size
        process, other, since = _CLAIM.unpack_from(self._shared, place)
        now, own = time.monotonic(), os.getpid()
        if process in (0, own) or now - since > _STALE_SECONDS:
            _CLAIM.pack_into(self._shared, place, own, entry, now)
        elif other == entry:
            del self._mine[entry]
            return False
        return True  # or another entry has the place: do without

    def _release(self, entry: int) -> None:
        self._mine.pop(entry, None)
        if self._shared is not None:
            place = entry % _PLACES * _CLAIM.size
            process, other, _ = _CLAIM.unpack_from(self._shared, place)
            if process == os.getpid() and other == entry:
                _CLAIM.pack_into(self._shared, place, 0, 0, 0.0)
