"""A second store in this process that follows the first, as a worker's replica does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.comparing import as_plain
from txloop.executors.codec.frames import loads
from txloop.executors.codec.plain_cells import unpack_commits
from txloop.executors.processes.replication import DeltaLog
from txloop.stm.store import Store, committed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from txloop.stm.container import Container

__all__ = ["Fork", "Replica"]


class Replica:
    """Repeats the packed commits on twins of the containers.

    Containers unpickle as references, so those that arrive are the originals; each has
    a twin here, of the same number.
    """

    def __init__(self) -> None:
        """Follow from now on: containers must be made later."""
        self.log = DeltaLog(committed)
        self._version = committed.version
        self._reset()

    def close(self) -> None:
        self.log.close()

    def catch_up(self) -> None:
        """Repeat what was committed since the last time."""
        deltas = self.log.since(self._version)
        assert deltas is not None
        self._repeat(deltas)
        self.log.trim(self._version)

    def _repeat(self, deltas: Iterable[bytes]) -> None:
        for writes in (one for delta in deltas for one in unpack_commits(delta)):
            twins = [(self._twin(one), key, new) for one, key, new in writes]
            self._store.install(twins)
        self._version = committed.version
        self._store.version = self._version

    def load_afresh(self) -> None:
        """Take over the whole contents, into what is known already or not."""
        contents, _ = loads(self.log.dump())
        self._store.load([(self._twin(one), items) for one, items in contents], 0)
        self._version = committed.version
        self._store.version = self._version

    def forget_all(self) -> None:
        """Start with nothing, as a worker does that takes a dead one's place."""
        self._reset()
        self.load_afresh()

    def shows(self, container: Container) -> object:
        """Return the plain contents of a container's twin."""
        return as_plain(container, self._twin)

    def _reset(self) -> None:
        self._store = Store()
        self._store.kept = {}
        self._twins: dict[int, Container] = {}

    def _twin(self, original: Container) -> Container:
        number = original._tx_number
        if number not in self._twins:
            twin = type(original).__new__(type(original))
            self._store.adopt(twin, number)
            self._twins[number] = twin
        return self._twins[number]


class Fork(Replica):
    """One of several that follow one log; a copy of what there is when it is made.

    Attributes:
        version: What it has been told.
    """

    def __init__(self, log: DeltaLog, containers: Iterable[Container]) -> None:
        """Begin with the contents of some containers, as they are now."""
        self.log = log
        self._version = committed.version
        self._reset()
        for one in containers:
            items = committed.contents_at(one, self._version)
            self._store.load([(self._twin(one), items)], self._version)

    @property
    def version(self) -> int:
        return self._version

    def catch_up(self) -> None:
        """Repeat what it misses, or load all of it afresh."""
        deltas = self.log.since(self._version)
        if deltas is None:
            self.load_afresh()
        else:
            self._repeat(deltas)
