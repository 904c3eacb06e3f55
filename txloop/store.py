"""Committed state: the containers' cells, one integer version, and what changed when.

A container holds its own cells, so that the garbage collector decides what is still
in use; the `Store` knows the containers by number, gives out versions and keeps older
values only as long as an open snapshot may read them. It belongs to the loop thread
(in a worker: to the worker's only thread). Containers exist before any loop does, so
there is one store in a process: `committed`.

The chain of versions in a cell is multiversion concurrency control as in Bernstein and
Goodman (1983); readers follow it without a lock because entries never change, except
that `Store.trim` cuts off a tail which no snapshot can reach.

Threads may read at an open snapshot while the owner installs and trims. They rely on
single reads and writes of a dict, and its `copy`, being atomic, on their order being
kept from one thread to the other, and on the owner to keep every key that an open
snapshot has in its dict at every moment.
"""

from __future__ import annotations

import itertools
import operator
import sys
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from txloop.container import (
    NEWEST,
    PLACE_BITS,
    Container,
    Entry,
    Operation,
    Write,
)
from txloop.errors import TxThreadError
from txloop.types import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

__all__ = ["Clear", "Follower", "Store", "committed"]


class Clear(Operation):
    """Delete all keys that are there."""

    __slots__ = ()

    def cells(self, container: Container) -> list[tuple[Hashable, object]]:
        """Return the keys that are there, each to be deleted."""
        present = committed.items_at(container, NEWEST)
        return [(key, MISSING) for key, _ in present]

    def mapped(self, convert: Callable[[object], object]) -> Clear:
        """Return itself: it stores nothing."""
        return self


class Follower(Protocol):
    """Who keeps replicas of the store up to date."""

    def installed(self, version: int, writes: Sequence[Write]) -> None:
        """Take note of a commit; called on the thread that commits."""

    def dropped(self, number: int) -> None:
        """Take note of a container's death; called on any thread, at any moment."""


class _LockedCount:
    """Counts for any thread, where `itertools.count` is not atomic."""

    def __init__(self, first: int) -> None:
        self._numbers = itertools.count(first)
        # Reentrant: the garbage collector may run finalizers that count, anywhere.
        self._lock = threading.RLock()

    def __next__(self) -> int:
        with self._lock:
            return next(self._numbers)


_Count: TypeAlias = "itertools.count[int] | _LockedCount"


def _counting_from(first: int) -> _Count:
    # The GIL may be turned on while the program runs, but not off.
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    return itertools.count(first) if gil else _LockedCount(first)


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
        owner: The thread that alone may write, or None before the first transaction.
        recheck_owner: Called before a write by another one is refused.
        readers: Who runs attempts in other threads than the owner's; containers show
            no views as long as there is anybody.
    """

    def __init__(self) -> None:
        self.version = 0
        self.followers: list[Follower] = []
        self.kept: dict[int, Container] | None = None
        self.owner: int | None = None
        self.recheck_owner: Callable[[], object] = lambda: None
        self.readers: set[object] = set()
        self._reader = threading.get_ident()
        self._views: set[int] = set()  # numbers: views keep nobody alive
        self._numbers = _counting_from(1)
        self._replicas = itertools.count(1)
        self._references: dict[int, _NumberedReference] = {}
        self._snapshots: dict[int, int] = {}
        self._superseded: deque[tuple[int, Container, Hashable]] = deque()

    # Containers

    def adopt(self, container: Container, number: int | None = None) -> None:
        """Give an empty `container` its cells and a number."""
        container._number = self.new_number() if number is None else number
        container._entries = {}
        container._changed = 0
        container._resized = 0
        container._size = 0
        container._shuffled = False
        container._forgotten = False
        container._view = None
        reference = _NumberedReference(container, self._drop)
        reference.number = container._number
        self._references[container._number] = reference
        if self.kept is not None and number is not None:
            self.kept[number] = container

    def new_number(self) -> int:
        """Return a number that this store, its replicas too, never gave out before."""
        return next(self._numbers)

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
            self._views.discard(reference.number)
            for follower in self.followers:
                follower.dropped(reference.number)

    def number_replica(self) -> int:
        """Return a number for a new replica, which no other one ever had.

        What replicas create is numbered by it, and may outlive the loop and the worker
        of its time.
        """
        return next(self._replicas)

    def become_replica(self, first_number: int) -> None:
        """Turn this process's copy into a worker's: keep everything, number apart."""
        self.followers.clear()
        self.owner = None
        self._reader = threading.get_ident()
        self.forget_views()
        self.kept = {container._number: container for container in self.containers()}
        self._numbers = _counting_from(first_number)
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
        for newest in container._entries.copy().values():
            entry: Entry | None = newest
            while entry is not None and entry.version > version:
                entry = entry.older
            if entry is not None and entry.value is not MISSING:
                found.append((entry.place, entry.key, entry.value))
        if container._resized > version or container._shuffled:
            # A key that was deleted and came back stands at its newest or oldest place.
            found.sort(key=operator.itemgetter(0))
        return [(key, value) for _, key, value in found]

    def size_at(self, container: Container, version: int) -> int:
        """Return the number of keys at `version`."""
        size = container._size  # before the next line: the owner sets it after that
        if container._resized <= version:
            return size
        return len(self.items_at(container, version))

    def changed_since(
        self, number: int, key: Hashable, presence: bool, snapshot: int
    ) -> int:
        """Return the newest change to a cell after `snapshot`, or 0 for none.

        Args:
            number: The container's number; one that is dead has not changed.
            key: The cell's key.
            presence: Whether only the coming and going of the key counts.
            snapshot: A version that is open.
        """
        container = self.find(number)
        if container is None:
            return 0
        return container._changed_since(key, presence, snapshot)

    def stamp(self, number: int, key: Hashable, presence: bool) -> object:
        """Return what to compare a cell by, later; see `same_stamp`."""
        container = self.find(number)
        return None if container is None else container._stamp(key, presence)

    # Views

    def show(self, container: Container, contents: list[Any]) -> bool:
        """Let `contents` answer the reads of this thread until `forget_views`.

        Only the thread that runs attempts may do that: the others would read what
        they have not asked for, and an attempt of theirs would not know what it read.

        Returns:
            Whether they will.
        """
        owner = self._reader if self.owner is None else self.owner
        if self.readers or owner != threading.get_ident():
            return False
        container._view = contents
        self._views.add(container._number)
        return True

    def forget_views(self) -> None:
        """End all views: another attempt begins, or its reads count no more."""
        while self._views:
            container = self.find(self._views.pop())
            if container is not None:
                container._view = None

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
            self.recheck_owner()  # its loop may have gone without a word
        if self.owner is not None and self.owner != threading.get_ident():
            raise TxThreadError(
                "shared state was changed by a thread that is not the loop's; change "
                "it in a transaction, or on the loop by IOLoop.add_callback"
            )
        if version is None:
            version = self.version + 1
        for index, (container, key, value) in enumerate(writes):
            if isinstance(value, Operation):
                for cell, new in value.cells(container):
                    self._put(container, cell, new, version, index)
            else:
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
        entries = container._entries
        current = entries.get(key)
        present = current is not None and current.value is not MISSING
        if value is MISSING and not present:
            return
        place = (version << PLACE_BITS) + index
        container._changed = version
        container._view = None
        if value is MISSING:
            container._resized = version
            container._size -= 1
        elif present:
            assert current is not None
            key, place = current.key, current.place
        else:
            container._resized = version
            container._size += 1
            if current is not None:
                # It belongs at the end. But while it moved there, the readers of an
                # older version would miss it.
                container._shuffled = True
        if self._snapshots:
            entries[key] = Entry(version, key, value, place, current)
            if current is not None or value is MISSING:
                self._superseded.append((version, container, key))
        elif value is MISSING:
            del entries[key]
        else:
            entries[key] = Entry(version, key, value, place, None)

    # Old versions

    def open_snapshot(self, version: int | None = None) -> int:
        """Keep a version readable until it is closed, and return it.

        Args:
            version: The newest one if None; or one that cannot be trimmed, because an
                older one or itself is open.
        """
        if version is None:
            version = self.version
        self._snapshots[version] = self._snapshots.get(version, 0) + 1
        return version

    def close_snapshot(self, version: int) -> None:
        """Give one `open_snapshot` back."""
        self._snapshots[version] -= 1
        if not self._snapshots[version]:
            del self._snapshots[version]
            self.trim()

    def trim(self) -> None:
        """Let go of the values that no open snapshot can read."""
        superseded = self._superseded
        oldest = min(self._snapshots) if self._snapshots else self.version
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


def _found_or_made(kind: type[Container], number: int) -> Container:
    container = committed.find(number)
    if container is None:
        container = kind.__new__(kind)
        committed.adopt(container, number)
    return container


Container._find = staticmethod(_found_or_made)
