"""Commits that go on after followers were told of them, and who follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from txloop.stm.container import Operation, Write
from txloop.stm.versions import PLACE_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MOST_JOINED", "Follower", "Joining"]

_FIRST_JOINED = 1 << (PLACE_BITS - 1)
"""The place in a commit of what joins it; what it began with has some before that."""

MOST_JOINED = 16
"""Writes in one commit that joined it: followers bound what they keep by commits."""


class Follower(Protocol):
    """What is told of commits: replicas, transactions that wait, the log."""

    @property
    def hears_births(self) -> bool:
        """Whether it is told of containers made outside of any attempt, before others.

        That is: as a commit of its own, before something refers to them.
        """

    @property
    def grows(self) -> bool:
        """Whether it may be told of a commit that goes on: its list of writes grows.

        That ends with `Store.part`, which it calls before it looks at the list.
        """

    def installed(self, version: int, writes: Sequence[Write], direct: bool) -> None:
        """Take note of a commit; called on the thread that commits.

        Args:
            version: The version that it made.
            writes: Cells and their new values. A list may grow, where that is allowed.
            direct: Whether the code that runs just now has made the writes, rather than
                a transaction that listeners are told of.
        """

    def dropped(self, number: int) -> None:
        """Take note of a container's death; called on any thread, at any moment."""


class Joining:
    """The newest version, and those that are told of it: the base of the `Store`.

    Attributes:
        version: The newest version.
        followers: Told of every commit and of every container that died.
        joined: How many writes have joined a commit since `join`.
    """

    def __init__(self) -> None:
        self.version = 0
        self.followers: list[Follower] = []
        self.joined = 0
        self._joins = False
        self._growing: list[Write] | None = None  # the newest commit, if it goes on
        self._place = 0  # of its newest write

    def join(self) -> None:
        """Let what this thread's code writes be one commit, until `part`.

        Followers are told of its first write at once, so that no one takes an older
        version for the newest, and look at the others afterwards. It is for code during
        which nothing else reads, or is told, what is shared.
        """
        self._joins, self._growing, self.joined = True, None, 0

    def part(self, for_good: bool = False) -> None:
        """End the newest commit: what is written next belongs to another one.

        Args:
            for_good: Whether each write is a commit from now on.
        """
        self._growing = None
        if for_good:
            self._joins = False

    def follow(self, follower: Follower) -> None:
        """Tell a follower of all commits from the next one on."""
        self._growing = None
        self.followers.append(follower)

    def _begin_to_grow(self, writes: Sequence[Write]) -> Sequence[Write]:
        """Return what followers are told of the newest commit, which may go on."""
        if not all(each.grows for each in self.followers):
            return writes
        growing = [*writes]
        if self.followers:
            self._growing = growing
            self._place = (self.version << PLACE_BITS) + _FIRST_JOINED
        return growing

    def _grow(self, growing: list[Write], writes: Sequence[Write]) -> None:
        """Have followers told of writes that have joined the newest commit.

        One that is long ends with them.
        """
        container, _, last = growing[-1]
        for write in writes:
            if (
                write[0] is not container
                or not isinstance(last, Operation)
                or not last.takes_in(write[2])
            ):
                growing.append(write)
                container, _, last = write
        self.joined += len(writes)
        if len(growing) >= MOST_JOINED:
            self._growing = None
