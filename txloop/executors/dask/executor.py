"""The dask executor: attempts run in processes beside Dask's workers, on any machine.

Dask schedules nothing here. It says which workers there are, connects to them, and ends
them; what runs where is the pool's to decide, as for forked processes.

With local workers, the pool has workers of two kinds. A call that takes less time than
the way to the cluster goes to a local one, if one has room; a longer one to the
cluster, likewise. Else it goes to the other kind: to wait would leave a worker idle.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from txloop.executors.dask.connection import LocalConnection, RemoteConnection
from txloop.executors.dask.crew import DaskCrew
from txloop.executors.processes.executor import ProcessesExecutor
from txloop.executors.processes.replication import DeltaLog
from txloop.stm.callables import weakly
from txloop.stm.store import committed

if TYPE_CHECKING:
    from txloop.executors.crew import ProcessStats
    from txloop.executors.processes.connection import WorkerConnection
    from txloop.executors.protocol import Work

__all__ = ["DaskExecutor"]


class DaskExecutor(ProcessesExecutor):
    """Workers on a cluster behind one queue; owned by the loop thread."""

    name = "dask"

    _crew: DaskCrew

    def _new_crew(self) -> DaskCrew:
        crew = DaskCrew(
            self.workers,
            weakly(self._receive),
            weakly(self._bury),
            weakly(self.feed),
            weakly(self._before_fork),
            self._base,
            self.limits,
            self.clock,
        )
        self.addresses = crew.addresses
        return crew

    def fork_beside(self, local: int) -> None:
        """Have `local` forked workers beside those of the cluster; before `fork`."""
        self._crew.local = local

    def fork(self) -> None:
        """Make the program's image and look for the cluster, before there is a loop."""
        if self._log is None:
            # No context is inherited: `Base` stays empty, and all of it travels.
            self._log = DeltaLog(committed, self._flush_soon)
            self._crew.start(self._log)

    def feed(self) -> None:
        if self._workers:
            self.workers = self._most_for_medium = len(self._workers)
        elif self._crew.sought:
            return  # calls wait until the cluster is found, or is not
        super().feed()

    def _describe(self, worker: WorkerConnection) -> ProcessStats:
        found = super()._describe(worker)
        if isinstance(worker, RemoteConnection):
            return dataclasses.replace(found, address=worker.link.address)
        return found

    def _worker_for(self, work: Work) -> WorkerConnection | None:
        if not self._crew.local:
            return super()._worker_for(work)
        here: list[WorkerConnection] = []
        there: list[WorkerConnection] = []
        for worker in self._workers:
            (here if isinstance(worker, LocalConnection) else there).append(worker)
        # What is not known may be short, and what conflicts has to be back soon.
        seconds = work.estimate_seconds
        pays = seconds is not None and seconds >= self._crew.way.seconds
        first, second = (there, here) if pays else (here, there)
        return self._least_busy(first, work) or self._least_busy(second, work)
