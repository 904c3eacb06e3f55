"""Committed state: the containers' cells, one integer version, and what changed when.

A `Container` holds its own cells, so that the garbage collector decides what is still
in use; the `Store` knows the containers by number, gives out versions and keeps older
values only as long as an open snapshot may read them. It belongs to the loop thread
(in a worker: to the worker's only thread). Containers exist before any loop does, so
there is one store in a process: `committed`.

The chain of versions in a cell is multiversion concurrency control as in Bernstein and
Goodman (1983); readers follow it without a lock because entries never change, except
that `Store.trim` cuts off a tail which no snapshot can reach.
"""

from __future__ import annotations

import itertools
import operator
import threading
import weakref
from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from txloop.errors import TxForgottenError, TxThreadError
from txloop.types import MISSING, Key

__all__ = ["Container", "Entry", "Follower", "Store", "Write", "committed", "refer"]

# An insertion's place: the version that inserted, then the position in that commit.
_PLACE_BITS = 32


class Entry:
    """One committed value of one cell, and the one before it."""

    __slots__ = ("older", "place", "value", "version")

    def __init__(
        self, version: int, value: object, place: int, older: Entry | None
    ) -> None:
        self.version = version
        self.value = value
        self.place = place
        self.older = older


class Container:
    """What every piece of shared state is: a numbered set of versioned cells.

    Pickled, it is only its class and number; whoever unpickles it gets the container
    of that number in the own process.
    """

    __slots__ = (
        "__weakref__",
        "_changed",
        "_entries",
        "_forgotten",
        "_number",
        "_resized",
        "_size",
    )

    _entries: dict[Hashable, Entry]
    _number: int
    _changed: int  # the newest version that wrote to it
    _resized: int  # the newest version that inserted or deleted a key
    _size: int  # the number of keys at the newest version
    _forgotten: bool

    def __reduce__(self) -> tuple[object, ...]:
        if self._forgotten:
            raise TxForgottenError(forgotten_message(self))
        return refer, (type(self), self._number)


Write: TypeAlias = tuple[Container, Hashable, object]


class Follower(Protocol):
    """Who keeps replicas of the store up to date."""

    def installed(self, version: int, writes: Sequence[Write]) -> None:
        """Take note of a commit; called on the thread that commits."""

    def dropped(self, number: int) -> None:
        """Take note of a container's death; called on any thread, at any moment."""


class _NumberedReference(weakref.ref[Container]):
    __slots__ = ("number",)
    number: int


class Store:
    """The committed versions of all containers of this process.

    Attributes:
        version: The newest version. Written last by `install`, so that a reader who
            sees it sees all of its writes.
        followers: Told of every commit and of every container that died.
        kept: Containers that live although nothing here refers to them (a replica
            keeps what the loop's process keeps), by number; None where that is not so.
    """

    def __init__(self) -> None:
        self.version = 0
        self.followers: list[Follower] = []
        self.kept: dict[int, Container] | None = None
        self.owner: int | None = None
        self._numbers = itertools.count(1)
        self._references: dict[int, _NumberedReference] = {}
        self._snapshots: dict[int, int] = {}
        self._superseded: deque[tuple[int, Container, Hashable]] = deque()

    # Containers

    def adopt(self, container: Container, number: int | None = None) -> None:
        """Give an empty `container` its cells and a number."""
        container._number = next(self._numbers) if number is None else number
        container._entries = {}
        container._changed = 0
        container._resized = 0
        container._size = 0
        container._forgotten = False
        reference = _NumberedReference(container, self._drop)
        reference.number = container._number
        self._references[container._number] = reference
        if self.kept is not None and number is not None:
            self.kept[number] = container

    def find(self, number: int) -> Container | None:
        """Return the living container of that number, or None."""
        reference = self._references.get(number)
        return None if reference is None else reference()

    def containers(self) -> list[Container]:
        """Return all living containers."""
        living = [reference() for reference in list(self._references.values())]
        return [container for container in living if container is not None]

    def _drop(self, reference: weakref.ref[Container]) -> None:
        assert isinstance(reference, _NumberedReference)
        # A container of the same number may have taken the place of the dead one.
        if self._references.get(reference.number) is reference:
            del self._references[reference.number]
            for follower in self.followers:
                follower.dropped(reference.number)

    def become_replica(self, first_number: int) -> None:
        """Turn this process's copy into a worker's: keep everything, number apart."""
        self.followers.clear()
        self.owner = None
        self.kept = {container._number: container for container in self.containers()}
        self._numbers = itertools.count(first_number)
        self._snapshots.clear()
        self.trim()

    def forget(self, numbers: Iterable[int]) -> None:
        """Let go of containers that the loop's process has dropped."""
        assert self.kept is not None
        for number in numbers:
            container = self.kept.pop(number, None)
            if container is not None:
                container._forgotten = True

    # Reading

    def read_at(self, container: Container, key: Hashable, version: int) -> object:
        """Return the value of a cell at `version`, or MISSING."""
        entry = container._entries.get(key)
        while entry is not None and entry.version > version:
            entry = entry.older
        return MISSING if entry is None else entry.value

    def items_at(
        self, container: Container, version: int
    ) -> list[tuple[Hashable, object]]:
        """Return the keys and values at `version`, in insertion order."""
        found = []
        for key, newest in list(container._entries.items()):
            entry: Entry | None = newest
            while entry is not None and entry.version > version:
                entry = entry.older
            if entry is not None and entry.value is not MISSING:
                found.append((entry.place, key, entry.value))
        if container._resized > version:
            # A key that was deleted and came back stands at its newest place.
            found.sort(key=operator.itemgetter(0))
        return [(key, value) for _, key, value in found]

    def size_at(self, container: Container, version: int) -> int:
        """Return the number of keys at `version`."""
        if container._resized <= version:
            return container._size
        return len(self.items_at(container, version))

    def changed_at(self, number: int, key: Hashable, presence: bool) -> int:
        """Return the version of the newest change to a cell (0: never, or long ago).

        Args:
            number: The container's number.
            key: The cell's key.
            presence: Whether only the coming and going of the key counts.
        """
        container = self.find(number)
        if container is None:
            return 0
        if key is Key.KEYS:
            return container._resized
        entry = container._entries.get(key)
        if entry is None:
            return 0
        if presence and entry.value is not MISSING:
            return entry.place >> _PLACE_BITS
        return entry.version

    # Writing

    def install(self, writes: Sequence[Write], version: int | None = None) -> int:
        """Make `writes` the next version and return it.

        Args:
            writes: Cells and their new values; MISSING deletes.
            version: The number to give it; None for the next one. A replica, which
                repeats the commits of the loop's process, gives theirs.

        Raises:
            TxThreadError: if another thread owns the store.
        """
        if self.owner is not None and self.owner != threading.get_ident():
            raise TxThreadError(
                "shared state was changed by a thread that is not the loop's; change "
                "it in a transaction, or on the loop by IOLoop.add_callback"
            )
        if version is None:
            version = self.version + 1
        for index, (container, key, value) in enumerate(writes):
            self._put(container, key, value, version, index)
        self.version = version
        for follower in self.followers:
            follower.installed(version, writes)
        return version

    def load(
        self,
        contents: Iterable[tuple[Container, Mapping[Hashable, object]]],
        version: int,
    ) -> None:
        """Replace what a replica knows of some containers; it is at `version` then."""
        for container, items in contents:
            container._entries.clear()
            container._size = 0
            self.install([(container, *item) for item in items.items()], version)
        self.version = version

    def _put(
        self,
        container: Container,
        key: Hashable,
        value: object,
        version: int,
        index: int,
    ) -> None:
        container._changed = version
        entries = container._entries
        current = entries.get(key)
        present = current is not None and current.value is not MISSING
        place = (version << _PLACE_BITS) + index
        if value is MISSING:
            if not present:
                return
            container._size -= 1
            container._resized = version
        elif present:
            assert current is not None
            place = current.place
        else:
            container._size += 1
            container._resized = version
            if current is not None:
                del entries[key]  # so that a key which comes back goes to the end
        if self._snapshots:
            entries[key] = Entry(version, value, place, current)
            if current is not None or value is MISSING:
                self._superseded.append((version, container, key))
        elif value is MISSING:
            del entries[key]
        else:
            entries[key] = Entry(version, value, place, None)

    # Old versions

    def open_snapshot(self) -> int:
        """Keep the newest version readable until it is closed, and return it."""
        self._snapshots[self.version] = self._snapshots.get(self.version, 0) + 1
        return self.version

    def close_snapshot(self, version: int) -> None:
        """Give one `open_snapshot` back."""
        self._snapshots[version] -= 1
        if not self._snapshots[version]:
            del self._snapshots[version]
            self.trim()

    def trim(self) -> None:
        """Let go of the values that no open snapshot can read."""
        # Snapshots open at the newest version, so the first one is the oldest.
        oldest = next(iter(self._snapshots), self.version)
        superseded = self._superseded
        while superseded and superseded[0][0] <= oldest:
            _, container, key = superseded.popleft()
            entry = container._entries.get(key)
            if entry is None:
                continue
            if entry.value is MISSING and entry.version <= oldest:
                del container._entries[key]
                continue
            while entry is not None and entry.version > oldest:
                entry = entry.older
            if entry is not None:
                entry.older = None


committed = Store()


def refer(kind: type[Container], number: int) -> Container:
    """Return the container of that number; an empty one where it is unknown yet."""
    container = committed.find(number)
    if container is None:
        container = kind.__new__(kind)
        committed.adopt(container, number)
    return container


def forgotten_message(container: Container) -> str:
    """Say what became of a forgotten container and what to do."""
    return (
        f"this {type(container).__name__} was dropped: nothing in the loop's process "
        "refers to it any more, only something that a worker kept between calls; keep "
        "it in a module global or in another container"
    )
