"""Committed state: the containers' cells, one integer version, and what changed when.

A container holds its own cells, so that the garbage collector decides what is still
in use; the `Store` knows the containers by number, gives out versions and keeps older
values only as long as an open snapshot may read them. It belongs to the loop thread
(in a worker: to the worker's only thread). Containers exist before any loop does, so
there is one store in a process: `committed`.

The chain of versions in a cell is multiversion concurrency control as in Bernstein and
Goodman (1983); readers follow it without a lock because entries never change, except
that `Store.trim` cuts off a tail which no snapshot can reach. A cell that no open
snapshot can see change has no chain, only its value: see `versions`.

Threads may read at an open snapshot while the owner installs and trims. They rely on
single reads and writes of a dict, and its `copy`, being atomic, on their order being
kept from one thread to the other, and on the owner to keep every key that an open
snapshot has in its dict at every moment.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from txloop.errors import TxThreadError
from txloop.stm.container import Container, Operation, Update, Write
from txloop.stm.contents import put, put_all, put_in_row, settle, values_of
from txloop.stm.joining import MOST_JOINED, Joining
from txloop.stm.threads import NO_THREAD, counting_from, gil_enabled, recheck
from txloop.stm.types import MISSING, Key
from txloop.stm.versions import PLACE_BITS, value_at

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

__all__ = ["Store", "committed"]


_FOREIGN = (
    "shared state was changed by a thread that is not the loop's; change it in a "
    "transaction, or on the loop by IOLoop.add_callback"
)
_IN_A_WORKER = (
    "shared state was changed in a worker, but outside a transaction: by an "
    "on_worker_start function, a thread, a finalizer or while a value was unpickled; "
    "change it in a transaction, and keep what belongs to this process alone in plain "
    "objects"
)


class _NumberedReference(weakref.ref[Container]):
    __slots__ = ("number",)
    number: int


class Store(Joining):
    """The committed versions of all containers of this process.

    Its newest version is written last by `install`, so that a reader that sees it sees
    all of its writes.

    Attributes:
        kept: Containers that live although nothing here refers to them (a replica
            keeps what the loop's process keeps), by number; None where that is not so.
        haunting: Numbers of those that live although the loop's process has dropped
            them, and this one has let go of them.
        owner: The thread that alone may write; None before the first transaction, and
            `NO_THREAD` in a replica.
        readers: What runs attempts in threads other than the owner's; while there is
            any, containers show no views.
        settled: No cell holds an entry that is as old as this version, or older.
        noting: Whether an attempt may run just now, in any thread, that has to note
            what it reads. If not, containers need not ask which this thread runs: that
            takes longer than all else that a read does.
    """

    def __init__(self) -> None:
        super().__init__()
        self.haunting: set[int] = set()
        self.kept: dict[int, Container] | None = None
        self.owner: int | None = None
        self.readers: set[object] = set()
        self.noting = not gil_enabled()
        self._reader = threading.get_ident()
        self._views: set[int] = set()  # numbers: a view keeps no container alive
        self._dropped = self._drop  # one for all: each would be an object of its own
        self._numbers = counting_from(1)
        self._replicas = itertools.count(1)
        self._references: dict[int, _NumberedReference] = {}
        self._snapshots: dict[int, int] = {}
        self._oldest = 0  # of these; there may be many
        self._superseded: deque[tuple[int, Container, Hashable]] = deque()
        self.settled = 0

    # Containers

    def adopt(
        self, container: Container, number: int | None = None, cells: Any = None
    ) -> None:
        """Give a new `container` its cells and a number.

        Args:
            container: It has neither yet.
            number: The one that it has elsewhere; None for one of our own.
            cells: What it holds already, if anything; `begin` makes that known.
        """
        own = next(self._numbers) if number is None else number
        container._tx_start(own, cells)
        reference = _NumberedReference(container, self._dropped)
        reference.number = own
        self._references[own] = reference
        if number is not None and self.kept is not None:
            self.kept[number] = container

    def new_number(self) -> int:
        """Return a number that this store, its replicas too, never gave out before."""
        return next(self._numbers)

    def find(self, number: int) -> Container | None:
        """Return the living container of that number, or None."""
        reference = self._references.get(number)
        return None if reference is None else reference()

    @property
    def container_count(self) -> int:
        """How many containers live."""
        return len(self._references)

    def containers(self) -> list[Container]:
        """Return all living containers."""
        living = [reference() for reference in list(self._references.values())]
        return [container for container in living if container is not None]

    def _drop(self, reference: weakref.ref[Container]) -> None:
        # Without a global: at the end of the program, when most die, those are gone.
        number: int = reference.number  # type: ignore[attr-defined] # it is a numbered one
        # A container of the same number may have taken the place of the dead one.
        if self._references.get(number) is reference:
            del self._references[number]
            self._views.discard(number)
            self.haunting.discard(number)
            for follower in self.followers:
                follower.dropped(number)

    def number_replica(self) -> int:
        """Return a number for a new replica, which no other one ever had.

        What replicas create is numbered by it, and may outlive the loop and the worker
        of its time.
        """
        return next(self._replicas)

    def become_replica(self, first_number: int) -> None:
        """Turn this process's copy into a worker's: keep everything, number apart.

        From then on it changes by `replay` and `load` only.
        """
        self.followers.clear()
        self.part(for_good=True)
        self.owner = NO_THREAD
        self._reader = threading.get_ident()
        self.forget_views()
        self.kept = {container._tx_number: container for container in self.containers()}
        self._numbers = counting_from(first_number)
        self._snapshots.clear()
        self.trim()

    def keep(self, writes: Sequence[Write]) -> None:
        """Keep the containers of a commit, which the loop's process has repeated."""
        kept = self.kept
        assert kept is not None
        for container, _, _ in writes:
            kept[container._tx_number] = container

    def forget(self, numbers: Iterable[int]) -> None:
        """Let go of containers that the loop's process has dropped."""
        assert self.kept is not None
        gone = []
        for number in numbers:
            container = self.kept.pop(number, None)
            if container is not None:
                container._tx_forgotten = True
                gone.append(number)
        container = None
        self.haunting.update(self._references.keys() & gone)

    # Reading

    def read_at(self, container: Container, key: Hashable, version: int) -> object:
        """Return the value of a cell at `version`, or MISSING."""
        return value_at(container._tx_cells.get(key, MISSING), version)

    def contents_at(self, container: Container, version: int) -> dict[Hashable, Any]:
        """Return the keys and values at `version`, in insertion order."""
        # Another thread may write meanwhile: it sets `_tx_changed` before the cells,
        # and `settled` after them. So the former is read after the copy, the latter
        # before it.
        settled = self.settled
        cells: dict[Hashable, Any] = container._tx_cells.copy()
        if container._tx_changed <= settled and not container._tx_shuffled:
            return cells
        return values_of(container, cells, version)

    def keys_at(self, container: Container, version: int) -> list[Hashable]:
        """Return the keys at `version`, in insertion order."""
        settled = self.settled  # before the cells, as above
        # By `keys()`: without the GIL, only that goes through a class derived from dict
        # in one step.
        keys: list[Hashable] = [*container._tx_cells.keys()]
        if container._tx_changed <= settled and not container._tx_shuffled:
            return keys
        return [*self.contents_at(container, version)]

    def size_at(self, container: Container, version: int) -> int:
        """Return the number of keys at `version`."""
        size = container._tx_size  # before the next line: the owner sets it after that
        if container._tx_resized <= version:
            return size
        return len(self.contents_at(container, version))

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
        return container._tx_changed_since(key, presence, snapshot)

    def stamp(self, number: int, key: Hashable, presence: bool) -> object:
        """Return what to compare a cell by, later; see `same_stamp`."""
        container = self.find(number)
        return None if container is None else container._tx_stamp(key, presence)

    # Views

    def show(self, container: Container, contents: list[Any]) -> bool:
        """Let `contents` answer the reads of this thread until `forget_views`.

        Only the thread that runs attempts may do that: the others would read what
        they have not asked for, and an attempt of theirs would not know what it read.

        Returns:
            Whether they will.
        """
        owner = self.owner or self._reader
        if self.readers or owner != threading.get_ident():
            return False
        container._tx_view = contents
        self._views.add(container._tx_number)
        return True

    def forget_views(self) -> None:
        """End all views: another attempt begins, or its reads count no more."""
        while self._views:
            container = self.find(self._views.pop())
            if container is not None:
                container._tx_view = None

    # Writing

    def install(self, writes: Sequence[Write], *, direct: bool = True) -> int:
        """Make `writes` the next version and return it.

        Args:
            writes: Cells and their new values; MISSING deletes.
            direct: What followers are told of it; see there.

        Raises:
            TxThreadError: if another thread owns the store, or if it is a replica.
        """
        self._check_owner()
        if direct and self._growing is not None:
            self._place = self._put_all(writes, self.version, self._place + 1)
            self._grow(self._growing, writes)
            return self.version
        version = self.replay(writes)
        self._announce(writes, direct)
        return version

    def replay(self, writes: Sequence[Write], version: int | None = None) -> int:
        """Make `writes` the next version, or that one, and tell no follower.

        By this a replica repeats the commits of the loop's process; no other code in
        a worker may change it, or it would differ from all others.
        """
        if version is None:
            self._growing = None
            version = self.version + 1
        self._put_all(writes, version, version << PLACE_BITS)
        self.version = version
        return version

    def _put_all(self, writes: Iterable[Write], version: int, place: int) -> int:
        """Do these writes at a version; return the place after those that they take."""
        kept = bool(self._snapshots)
        superseded = self._superseded
        for container, key, value in writes:
            if not isinstance(value, Operation):
                if put(container, key, value, version, place, kept):
                    superseded.append((version, container, key))
                place += 1
                continue
            keys = put_all(container, value, version, place, kept)
            if keys is not None:
                if keys:
                    superseded.extend((version, container, cell) for cell in keys)
                    place += len(keys)
                continue
            for cell, new in value.cells(container):
                if put(container, cell, new, version, place, kept):
                    superseded.append((version, container, cell))
                place += 1
        if not (kept or superseded):
            self.settled = version
        return place

    def write(
        self,
        container: Container,
        key: Hashable,
        value: object,
        index: int | None = None,
    ) -> None:
        """Make one write, which is no operation, the next version: the fastest way.

        Args:
            container: Where.
            key: Of which cell.
            value: What it has from then on.
            index: Where the cell is in the container's row; None if that is unknown.

        Raises:
            TxThreadError: if another thread owns the store.
        """
        owner = self.owner
        if owner is not None and owner != threading.get_ident():
            self._check_owner()
        kept = bool(self._snapshots)
        growing = self._growing
        if growing is None:
            version = self.version + 1
            place = version << PLACE_BITS
        else:  # it joins the newest commit
            version = self.version
            place = self._place = self._place + 1
        done = (
            index is not None
            and not kept
            and put_in_row(container, index, value, version)
        )
        if not done and put(container, key, value, version, place, kept):
            self._superseded.append((version, container, key))
        if growing is not None:
            growing.append((container, key, value))
            self.joined += 1
            if len(growing) >= MOST_JOINED:
                self._growing = None
            return
        if not (kept or self._superseded):
            self.settled = version
        self.version = version
        if self.followers:
            self._announce(((container, key, value),), direct=True)

    def operate(
        self, container: Container, operation: Operation, then: Operation | None = None
    ) -> None:
        """Make one operation, or two, the next version: a faster way than `install`.

        Raises:
            TxThreadError: if another thread owns the store.
        """
        owner, growing = self.owner, self._growing
        if owner is not None and owner != threading.get_ident():
            self._check_owner()
        first = container, Key.ALL, operation
        writes = (first,) if then is None else (first, (container, Key.ALL, then))
        if growing is not None:
            if (
                self._snapshots
                or then is not None
                or not operation.put_at_once(container, self.version)
            ):
                self._place = self._put_all(writes, self.version, self._place + 1)
            self._grow(growing, writes)
            return
        version = self.version + 1
        if self._snapshots or not operation.put_at_once(container, version):
            self.install(writes)
            return
        if then is not None and not then.put_at_once(container, version):
            self.replay(writes[1:], version)
        if not self._superseded:
            self.settled = version
        self.version = version
        self._announce(writes, direct=True)

    def _announce(self, writes: Sequence[Write], direct: bool) -> None:
        """Tell the followers of the newest version."""
        version = self.version
        told = self._begin_to_grow(writes) if direct and self._joins else writes
        for follower in self.followers:
            follower.installed(version, told, direct)

    def begin(self, container: Container) -> None:
        """Make the contents of a new container known, which it holds already.

        They have no version: any snapshot that finds the container finds them in it, as
        it cannot have been there before them, and they have never changed.

        Args:
            container: It must be a new one, made outside of any attempt.

        Raises:
            TxThreadError: if another thread owns the store.
        """
        if self.owner is not None:
            self._check_owner()
        for follower in self.followers:
            if follower.hears_births:
                told = container._tx_told()
                if self._growing is not None:
                    container._tx_changed = self.version
                    self._grow(self._growing, (told,))
                    return
                self.version += 1
                container._tx_changed = self.version
                self._announce((told,), direct=True)
                return
        if self.followers:  # else there are no replicas that it has to be newer than
            container._tx_changed = self.version

    def _check_owner(self) -> None:
        if self.owner is None or self.owner == threading.get_ident():
            return
        if self.owner:
            recheck(self)  # not in a replica: the claims are of the loop's process
        if self.owner is not None and self.owner != threading.get_ident():
            raise TxThreadError(_FOREIGN if self.owner else _IN_A_WORKER)

    def load(
        self,
        contents: Iterable[tuple[Container, dict[Hashable, Any]]],
        version: int,
    ) -> None:
        """Replace what a replica knows of some containers; it is at `version` then."""
        for container, items in contents:
            container._tx_cells.clear()
            container._tx_size = container._tx_shuffled = 0
            self.replay([(container, Key.ALL, Update(items))], version)
        self.version = version

    # Old versions

    def open_snapshot(self, version: int | None = None) -> int:
        """Keep a version readable until it is closed, and return it.

        Args:
            version: The newest one if None; or one that cannot be trimmed, because an
                older one or itself is open.
        """
        self._growing = None
        if version is None:
            version = self.version
        if not self._snapshots:
            self._oldest = version
        self._snapshots[version] = self._snapshots.get(version, 0) + 1
        return version

    def close_snapshot(self, version: int) -> None:
        """Give one `open_snapshot` back."""
        self._snapshots[version] -= 1
        if not self._snapshots[version]:
            del self._snapshots[version]
            if version == self._oldest:
                self.trim()

    def trim(self) -> None:
        """Let go of the values that no open snapshot can read."""
        superseded = self._superseded
        oldest = min(self._snapshots) if self._snapshots else self.version
        self._oldest = oldest
        while superseded and superseded[0][0] <= oldest:
            _, container, key = superseded.popleft()
            settle(container, key, oldest)
        self.settled = oldest


committed = Store()


def _found_or_made(kind: type[Container], number: int) -> Container:
    container = committed.find(number)
    if container is None:
        container = object.__new__(kind)  # what the program's own one does was done
        committed.adopt(container, number)
    return container


Container._tx_find = staticmethod(_found_or_made)
