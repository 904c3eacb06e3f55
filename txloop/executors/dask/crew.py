"""The workers on a cluster: hired where Dask workers are, and let go with these."""

from __future__ import annotations

import functools
import logging
import socket
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from txloop.executors.crew import Crew
from txloop.executors.dask.cluster import Cluster
from txloop.executors.dask.connection import (
    LocalConnection,
    RemoteConnection,
    Way,
)
from txloop.executors.dask.forks import LocalForks
from txloop.executors.dask.image import make_image
from txloop.executors.dask.stream import Stream
from txloop.executors.dask.versions import versions_here
from txloop.stm.callables import weakly
from txloop.stm.store import committed

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.executors.codec.contexts import Base
    from txloop.executors.dask.cluster import Link
    from txloop.executors.dask.connection import Connection
    from txloop.executors.processes.connection import WorkerConnection
    from txloop.executors.processes.replication import DeltaLog
    from txloop.executors.protocol import Reactor
    from txloop.executors.worker_protocol import Limits

__all__ = ["DaskCrew"]

_log = logging.getLogger("txloop")


class DaskCrew(Crew["Connection"]):
    """Workers on a cluster; owned by the loop thread.

    Attributes:
        way: What the way to the cluster costs.
        local: How many workers are forked on this machine, beside those of the cluster.
        sought: Whether the cluster is sought for the first time: calls wait for it.
        addresses: Where each worker is or was last, by its place: that of the Dask
            worker, ``""`` for this machine.
    """

    def __init__(
        self,
        size: int,
        on_readable: Callable[[WorkerConnection], object],
        on_end: Callable[[WorkerConnection], object],
        on_change: Callable[[], object],
        before_image: Callable[[], object],
        base: Base,
        limits: Limits,
        clock: Callable[[], float],
    ) -> None:
        """Begin without workers, as a `Crew`; `size` is that of a local cluster."""
        super().__init__(size)
        self.way = Way()
        self.local = 0
        self._stream = Stream()
        self.sought = False
        self.addresses: dict[int, str] = {}
        self._on_readable = on_readable
        self._on_end = on_end
        self._on_change = on_change
        self._before_image = before_image
        self._base = base
        self._limits = limits
        self._clock = clock
        self._cluster: Cluster | None = None
        self._log: DeltaLog | None = None
        self._image = b""
        self._version = 0
        self._reactor: Reactor | None = None
        self._news: deque[tuple[Any, ...]] = deque()  # filled by the cluster's thread
        self._links: dict[str, Link | LocalForks] = {}
        self._stillborn: dict[Link | LocalForks, int] = {}

    # Starting and ending

    def start(self, log: DeltaLog) -> None:
        # With the program's image, and by Dask workers: the cluster is looked for.
        self._log = log
        if not self._take_image():
            return
        if self.local:
            self._add(LocalForks(self.local, weakly(self._hear)))
        self.sought = True
        self._cluster = Cluster(
            self._size, versions_here(), self._stream, weakly(self._hear)
        )
        self._cluster.start()

    def _take_image(self) -> bool:
        """Make an image of the program as it is now; return whether it can travel."""
        assert self._log is not None
        self._before_image()
        self._version = committed.version
        self._log.forked_at = -1  # nothing is there yet
        dump = self._log.dump()
        self._log.forked_at = self._version
        try:
            self._image = make_image(dump, self._version)
        except Exception:  # whatever the classes of the program raise
            _log.exception("the program cannot be copied for Dask; all runs here")
            return False
        return True

    def attach(self, reactor: Reactor) -> None:
        if self._reactor is None:
            self._reactor = reactor
            for link in self._links.values():
                if isinstance(link, LocalForks):
                    link.attach(reactor)
            for worker in self.workers:
                worker.attach(reactor, self._on_readable, self._on_end)
            reactor.call_soon_threadsafe(weakly(self._take_news))

    def close(self) -> None:
        for worker in self.workers:
            worker.close()
        self.workers.clear()
        if self._cluster is not None:
            self._cluster.close()
            self._cluster = None
        for link in self._links.values():
            link.close()
        self._links.clear()
        self._news.clear()
        self._log = self._reactor = None

    @property
    def is_complete(self) -> bool:
        wanted = sum(link.threads for link in self._links.values())
        return sum(not one.retiring for one in self.workers) >= wanted

    # What the cluster tells

    def _hear(self, *news: Any) -> None:
        """Remember what the cluster tells; on its thread."""
        self._news.append(news)
        reactor = self._reactor
        if reactor is not None:
            with suppress(RuntimeError):  # the loop is closed
                reactor.call_soon_threadsafe(self._take_news)

    def read_reports(self) -> None:
        for link in list(self._links.values()):
            if isinstance(link, LocalForks):
                link.read_reports()
        while self._news:
            kind, *about = self._news.popleft()
            getattr(self, f"_on_{kind}")(*about)

    def _take_news(self) -> None:
        if self._log is not None:
            self.read_reports()
            self._on_change()

    def _on_found(self, address: str, count: int) -> None:
        if self.complained:
            self.complained = False
            _log.warning(
                "the Dask cluster %s is there again, with %d workers so far",
                address,
                count,
            )

    def _on_lost(self, why: str) -> None:
        self.sought = False
        if not self.complained:
            self.complained = True
            left = len(self.workers)
            rest = f"{left} workers are left" if left else "all runs on the loop thread"
            _log.error("the Dask cluster is away (%s); %s until it is back", why, rest)

    def _on_joined(self, link: Link) -> None:
        self.sought = False
        self._add(link)

    def _on_left(self, link: Link, why: str) -> None:
        if self._links.get(link.address) is link:
            del self._links[link.address]
        self._stillborn.pop(link, None)
        link.gone = True
        for worker in self.workers:
            if worker.link is link and worker.cause is None:
                worker.cause = f"its Dask worker {link.address} left: {why}"

    def _on_refused(self, link: Link | LocalForks, why: str) -> None:
        self.sought = self.sought and isinstance(link, LocalForks)
        _log.warning("%s is not used: %s", link, why)

    def _on_unshown(self, why: str) -> None:
        _log.info("Dask's dashboard does not show the calls: %s", why)

    def _on_changed(self) -> None:
        """Do nothing: that a Dask worker has paused, or goes on, leads to a `feed`."""

    def _on_message(self, link: Link | LocalForks, message: tuple[Any, ...]) -> None:
        match message:
            case "report", number, pid, status:
                for worker in self.workers:
                    if worker.number == number:
                        if pid:
                            worker.pid = pid
                        if status is not None:
                            worker.status = status
            case "refused", why:
                self._on_refused(link, why)
                self._links.pop(link.address, None)
                link.close()
            case ("ended",) if self._links.get(link.address) is link:
                link.load(committed.number_replica(), self._image)

    # Making

    def _add(self, link: Link | LocalForks) -> None:
        """Have workers on a Dask worker, or on this machine."""
        self._links[link.address] = link
        self._stillborn[link] = 0
        if isinstance(link, LocalForks) and self._reactor is not None:
            link.attach(self._reactor)
        link.load(committed.number_replica(), self._image)
        self._fill(link)

    def _fill(self, link: Link | LocalForks) -> None:
        """Hire the workers that are missing there."""
        there = [one for one in self.workers if one.link is link and not one.retiring]
        for _ in range(link.threads - len(there)):
            if self._stillborn.get(link, 0) < self._limits.stillborn:
                self._hire(link)

    def _hire(self, link: Link | LocalForks) -> None:
        assert self._log is not None
        number = committed.number_replica()
        ours, theirs = socket.socketpair()
        connect: Callable[..., Connection]
        if isinstance(link, LocalForks):
            connect = functools.partial(LocalConnection, link)
        else:
            connect = functools.partial(RemoteConnection, link, self.way, self._stream)
        worker = connect(
            number,
            ours,
            self._log,
            self._version,
            self.free_place(),
            base=self._base,
            limits=self._limits,
            clock=self._clock,
        )
        worker.most_calls = self.most_calls
        self.workers.append(worker)
        is_here = isinstance(link, LocalForks)
        self.addresses[worker.place] = "" if is_here else link.address
        if self._reactor is not None:
            worker.attach(self._reactor, self._on_readable, self._on_end)
        link.spawn(number, theirs)

    def renew(self) -> bool:
        if self._log is None:
            return False
        if not self._take_image():
            return False
        for worker in self.workers:
            worker.retiring = True
        for link in self._links.values():
            link.load(committed.number_replica(), self._image)
            self._fill(link)
        self.dismiss_retired()
        return True

    # What becomes of them

    def look(self) -> None:
        pass  # what ends is told

    def welcome(self, worker: Connection) -> None:
        _log.info("worker %d is the process %s", worker.place, worker)
        self._stillborn[worker.link] = 0

    def remove(self, worker: Connection) -> None:
        # Where its Dask worker is still there.
        if worker in self.workers:
            self.workers.remove(worker)
        link = worker.link
        if self._links.get(link.address) is not link:
            return
        if not worker.ready:
            self._stillborn[link] += 1
            if self._stillborn[link] == self._limits.stillborn:
                self.tally.fork_failures += 1
                _log.error("workers keep dying at their start on %s", link.address)
        self.tally.restarts += 1
        self._fill(link)

    def relieve(self, worker: Connection) -> None:
        if worker.most_calls is not None and worker.calls >= worker.most_calls:
            worker.worn = True
