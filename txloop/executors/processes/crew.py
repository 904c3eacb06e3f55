"""Forked workers: made, replaced when they die, and relieved in time."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from txloop.executors.crew import Crew, M
from txloop.executors.processes.spawner import Spawner, threads_besides
from txloop.executors.processes.supervision import state_of
from txloop.stm.store import committed

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterable, Iterator

    from txloop.executors.processes.replication import DeltaLog
    from txloop.executors.processes.spawner import RunWorker
    from txloop.executors.processes.spawner_process import Report
    from txloop.executors.protocol import Reactor
    from txloop.executors.worker_protocol import Limits

__all__ = ["ForkedCrew"]

_NOTHING = -1  # the version of a worker that gets the whole store

_log = logging.getLogger("txloop")


class ForkedCrew(Crew[M]):
    """Workers that are forked from this process; owned by the loop thread.

    Where no worker can be made, it tries again after a pause, and says so once.

    Attributes:
        spawned: How many there were in all.
        spawner: What forks them, None if there is none just now.
    """

    def __init__(
        self,
        size: int,
        run_worker: RunWorker,
        on_readable: Callable[[M], object],
        on_end: Callable[[M], object],
        on_change: Callable[[], object],
        before_fork: Callable[[], object],
        connect: Callable[..., M],
        limits: Limits,
        what: str = "worker",
    ) -> None:
        """Begin without workers, which `start` makes.

        Args:
            size: How many get calls at once.
            run_worker: What a worker does.
            on_readable: Called when a worker has sent something, or has ended.
            on_end: Called when it has ended, and its connection does not say so.
            on_change: Called when there may be workers again, or fewer.
            before_fork: Called just before this process is forked.
            connect: Makes a connection, as its class does.
            limits: How long to wait for what.
            what: What members are called in messages.
        """
        super().__init__(size)
        self.spawned = 0
        self.spawner: Spawner | None = None
        self._run_worker = run_worker
        self._on_readable = on_readable
        self._on_end = on_end
        self._on_change = on_change
        self._before_fork = before_fork
        self._connect = connect
        self._limits = limits
        self._what = what
        self._stopped = False
        self._owner = os.getpid()
        self._log: DeltaLog | None = None
        self._reactor: Reactor | None = None
        self._relief: tuple[M, M] | None = None
        self._orphans: list[M] = []
        self._outdated: dict[Spawner, set[M]] = {}
        self._spawner_stopped = False
        self._forked = False
        self._copied_at = _NOTHING  # the version of a spawner that was just forked
        self._barren = False
        self._stillborn = 0
        self._pause_seconds = 0.0
        self._pausing = False
        self._planned = size  # how many are made if none dies

    # Starting and ending

    def start(self, log: DeltaLog) -> None:
        # By the spawner, which is forked now: before there is a loop.
        self._log = log
        self.fill()

    def attach(self, reactor: Reactor) -> None:
        if self._reactor is not None:
            return
        self._reactor = reactor
        if self.spawner is not None:
            reactor.add_reader(self.spawner.control.fileno(), self.read_reports)
        for worker in self._all():
            worker.attach(reactor, self._on_readable, self._on_end)
        self._pausing = False
        self.fill()

    def close(self) -> None:
        left = [worker for worker in self._all() if not worker.lost]
        for worker in left:
            worker.close()
        self.workers.clear()
        self._relief = self._log = None
        for spawner in list(self._outdated):
            self._dismiss(spawner)
        if self.spawner is not None and not self._drop_spawner(self.spawner):
            self._orphans += [worker for worker in left if worker.pid]
        for worker in self._orphans if self._owner == os.getpid() else ():
            worker.condemn(None)  # in a copy of this process, they are another's
        self._orphans.clear()
        self._reactor = None

    def _all(self) -> Iterator[M]:
        yield from self.workers
        if self._relief is not None:
            yield self._relief[0]

    @property
    def is_complete(self) -> bool:
        return sum(not one.retiring for one in self.workers) >= self._size

    # Making

    def fill(self) -> None:
        """Make the workers that are missing, as far as that is possible."""
        while self._lacks_workers():
            worker = self._make()
            if worker is not None:
                self.workers.append(worker)
        self._copied_at = _NOTHING  # later ones would keep what has died since

    def _lacks_workers(self) -> bool:
        if self._pausing or self._stopped or self._log is None or self.is_complete:
            return False
        # One after another, until one succeeds.
        return not self.complained or all(one.ready for one in self.workers)

    def _make(self) -> M | None:
        assert self._log is not None
        number = committed.number_replica()
        try:
            if self.spawner is None:
                self.spawner = self._new_spawner()
            connection = self.spawner.spawn(number)
        except ConnectionError:
            assert self.spawner is not None
            self._drop_spawner(self.spawner)
            return None
        except OSError as error:
            self.tally.fork_failures += 1
            self._pause(self._about(f"no worker can be started ({error})"))
            return None
        self.spawned += 1
        self.tally.restarts += self.spawned > self._planned
        place, version = self.free_place(), self._log.mark()
        if version != self._copied_at:
            version = _NOTHING
        worker = self._connect(number, connection, self._log, version, place)
        if self.most_calls is not None:
            # Not all of them at the same time, later.
            part = min(self.spawned / self._size, 1.0)
            worker.most_calls = max(1, round(self.most_calls * part))
        if self._reactor is not None:
            worker.attach(self._reactor, self._on_readable, self._on_end)
        return worker

    def _new_spawner(self) -> Spawner:
        if self._forked:
            threads = threads_besides()
            if threads is None or threads:
                names = ", ".join(threads or ["which ones is unknown"])
                raise OSError(
                    "the process that forks workers has died, and this one cannot be "
                    f"forked safely while it has other threads: {names}"
                )
            _log.error("the process that forks workers has died; starting another")
        return self._fork_spawner()

    def _fork_spawner(self) -> Spawner:
        self._before_fork()
        self._copied_at = committed.version
        spawner = Spawner(self._run_worker)
        self._forked = self._barren = True
        if self._reactor is not None:
            self._reactor.add_reader(spawner.control.fileno(), self.read_reports)
        return spawner

    def renew(self) -> bool:
        if self._log is None or self._pausing or threads_besides() != []:
            return False
        try:
            spawner = self._fork_spawner()
        except OSError:
            return False
        if self._relief is not None:
            self.workers.append(self._relief[0])
            self._relief = None
        if self.spawner is not None:
            self._outdated[self.spawner] = set(self.workers)
        self.spawner = spawner
        self._planned += self._size
        for worker in self.workers:
            worker.retiring = True
        self.fill()
        self.dismiss_retired()
        return True

    def stop(self) -> None:
        """Let all leave when they have nothing left, and make no more."""
        self._stopped = True
        for worker in self.workers:
            worker.retiring = True
        self.dismiss_retired()

    def _dismiss_spawners(self, worker: M) -> None:
        """End each outdated spawner whose last worker has gone."""
        for spawner, workers in list(self._outdated.items()):
            workers.discard(worker)
            if not workers:
                self._dismiss(spawner)

    def _dismiss(self, spawner: Spawner) -> None:
        del self._outdated[spawner]
        if self._reactor is not None:
            self._reactor.remove_reader(spawner.control.fileno())
        spawner.close()

    def _drop_spawner(self, spawner: Spawner) -> bool:
        """Do without a spawner; return whether it has taken its workers along."""
        if self._reactor is not None:
            self._reactor.remove_reader(spawner.control.fileno())
        orderly = spawner.close()
        self.spawner = None
        if self._barren and self._log is not None:
            self.tally.fork_failures += 1
            self._pause("the process that forks workers dies before it forks any")
        # Its workers go on, but nothing ends them if they do not end by themselves.
        self._orphans += [one for one in self._all() if one.pid and not one.lost]
        return orderly

    def _pause(self, reason: str) -> None:
        if not self.complained:
            self.complained = True
            left = sum(worker.ready for worker in self.workers)
            rest = f"{left} are left" if left else "all runs on the loop thread"
            _log.error("%s; %s", reason, rest)
        if self._pausing:
            return
        self._pausing = True
        limits = self._limits
        doubled = max(2 * self._pause_seconds, limits.first_pause_seconds)
        self._pause_seconds = min(doubled, limits.longest_pause_seconds)
        if self._reactor is not None:
            self._reactor.call_later(self._pause_seconds, self._go_on)

    def _about(self, message: str) -> str:
        """Return a message with what its members are called."""
        return message.replace("worker", self._what)

    def _go_on(self) -> None:
        self._pausing = False
        self.fill()
        self._on_change()

    # What becomes of them

    def read_reports(self) -> None:
        for spawner in list(self._outdated):
            reports = self._reports_of(spawner)
            if reports is None:
                self._dismiss(spawner)
            else:
                self._take_reports(reports)
        if self.spawner is None:
            return
        reports = self._reports_of(self.spawner)
        if reports is None:
            self._drop_spawner(self.spawner)
            self.fill()
            self._on_change()
        else:
            self._take_reports(reports)

    def _reports_of(self, spawner: Spawner) -> list[Report] | None:
        """Return what has become of workers; None if the spawner is dead.

        What is forked in a handler stays in it for ever, and so do all workers of a
        spawner: what their exceptions say would begin with the one that is handled
        here.
        """
        try:
            return spawner.reports(self._take_end)
        except EOFError:
            return None

    def _take_end(self, number: int, end: socket.socket) -> None:
        for worker in self._all():
            if worker.number == number:
                worker.salvage(end)

    def _take_reports(self, reports: Iterable[Report]) -> None:
        workers = {worker.number: worker for worker in self._all()}
        for report in reports:
            worker = workers.get(report.number)
            if worker is None:
                continue
            if not report.pid:
                reason = os.strerror(report.status or 0)
                self.tally.fork_failures += 1
                worker.cause = f"it could not be forked ({reason})"
                self._pause(self._about(f"no worker can be forked ({reason})"))
            elif report.status is None:
                self._barren = False
                worker.pid = report.pid
            else:
                worker.status = report.status

    def look(self) -> None:
        """Replace a spawner that was stopped, if it still is when looked at again."""
        if self.spawner is None:
            return
        stopped = state_of(self.spawner.pid) == "T"
        if stopped and self._spawner_stopped:
            self.spawner.kill()
        self._spawner_stopped = stopped

    def welcome(self, worker: M) -> None:
        self._stillborn = 0
        self._pause_seconds = 0.0
        if self._relief is not None and self._relief[0] is worker:
            self._relief[1].retiring = True
            self._relief = None
            self.workers.append(worker)
            self.dismiss_retired()
        self.fill()
        if self.complained and self.is_complete:
            self.complained = not all(one.ready for one in self.workers)
            if not self.complained:
                _log.warning(
                    self._about("there are workers again, as many as there should be")
                )

    def remove(self, worker: M) -> None:
        if worker in self.workers:
            self.workers.remove(worker)
        if worker in self._orphans:
            self._orphans.remove(worker)
        self._dismiss_spawners(worker)
        if self._relief is not None:
            relief, old = self._relief
            if old is worker:
                self.workers.append(relief)
            if worker in (relief, old):
                self._relief = None
        if worker.pid and not worker.ready:
            self._stillborn += 1
            if self._stillborn >= self._limits.stillborn:
                self._pause(self._about("workers keep dying at their start"))
        self.fill()

    # Relief

    def relieve(self, worker: M) -> None:
        if (
            worker.most_calls is None
            or worker.worn  # it leaves at once
            or worker.calls < worker.most_calls
            or self._relief is not None
            or self._pausing
            or worker not in self.workers
            or worker.retiring
        ):
            return
        relief = self._make()
        if relief is not None:
            self._relief = relief, worker
