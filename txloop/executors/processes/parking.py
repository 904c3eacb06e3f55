"""Whether replicas that nobody asks anything are told of commits.

An owner that runs all requests itself would pack each commit, and send it to replicas
that nobody uses, which took it a tenth of its time. So a log is parked when a number of
commits were of no use to any replica: it keeps nothing then, and the first replica that
is needed is loaded afresh. That is done while it is quick: while what a replica would
be sent is short. Where it is not, the log goes on until idle replicas were told of as
much as they would be loaded with: that makes it twice the work at the most, whenever
one is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from txloop.executors.codec.frames import dumped_within

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.stm.store import Store

__all__ = ["Parking"]

_UNASKED_COMMITS = 100
"""After this many that no replica has asked for, a log may be parked.

As many as it takes to measure what loading would cost, in time.
"""

_MOST_CONTAINERS = 4_000
_MOST_BYTES = 1 << 18  # takes some 2 ms to pickle, and as long to load

_MUCH_MORE = 8  # values than containers, of which each may have some
_MANY_VALUES = 30_000
_GROWN = 4  # times as many containers, until a log that was parked so goes on
_LONG_BYTES = 1 << 21  # of not so many containers: takes some 16 ms to pickle

_LOOK_AGAIN_COMMITS = 10_000
"""After this many, what was short may be long, and the other way round."""


class Parking:
    """Decides that for one log; used by the loop's thread.

    Attributes:
        parked: Whether the log is parked.
        look_at: The version from which on it is worth while to look again.
    """

    def __init__(self, store: Store) -> None:
        """Begin with a log of `store` that is not parked."""
        self.parked = False
        self.look_at = 0
        self._longest = 0  # how many containers may be loaded, as so much was of no use
        self._store = store

    def begins(
        self,
        unasked: int,
        contents: Callable[[], object],
        values: Callable[[], int],
        made: Callable[[], int],
    ) -> bool:
        """Tell whether the log is parked now; it was not.

        Args:
            unasked: How many commits no replica has asked for.
            contents: Returns what a replica would be loaded from, not pickled.
            values: Returns how many values these commits have, and those before them
                that were sent to replicas which nobody asked for anything.
            made: Returns how many containers these commits have made, of which most may
                live only in the log.
        """
        if unasked >= _UNASKED_COMMITS:
            if self._store.version >= self.look_at:
                self._look(contents, made)
            count = self._store.container_count
            if not self.parked and values() > max(_MUCH_MORE * count, _MANY_VALUES):
                many = count > _MOST_CONTAINERS
                self.parked = many or dumped_within(contents(), _LONG_BYTES)
                if self.parked:
                    self._longest = _GROWN * max(count, _MOST_CONTAINERS)
        return self.parked

    def ends(self, contents: Callable[[], object]) -> bool:
        """Tell whether a parked log has to go on, since loading takes longer now.

        Args:
            contents: Returns what a replica would be loaded from, not pickled.
        """
        if self._store.container_count <= self._longest:
            self.look_at = self._store.version + _LOOK_AGAIN_COMMITS
        else:
            self._look(contents, int)
        return not self.parked

    def stop(self) -> None:
        """Let the log go on; it may be parked again at any time."""
        self.parked = False
        self.look_at = self._longest = 0

    def _look(self, contents: Callable[[], object], made: Callable[[], int]) -> None:
        self.look_at = self._store.version + _LOOK_AGAIN_COMMITS
        count = self._store.container_count
        few = count <= _MOST_CONTAINERS or count - made() <= _MOST_CONTAINERS
        self.parked = few and dumped_within(contents(), _MOST_BYTES)
