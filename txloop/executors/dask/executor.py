"""The dask executor: attempts run in processes beside Dask's workers, on any machine.

Dask schedules nothing here. It says which workers there are, connects to them, and ends
them; what runs where is the pool's to decide, as for forked processes.
"""

from __future__ import annotations

from txloop.executors.dask.crew import DaskCrew
from txloop.executors.processes.executor import ProcessesExecutor
from txloop.executors.processes.replication import DeltaLog
from txloop.stm.callables import weakly
from txloop.stm.store import committed

__all__ = ["DaskExecutor"]


class DaskExecutor(ProcessesExecutor):
    """Workers on a cluster behind one queue; owned by the loop thread."""

    name = "dask"

    # To its executor it is what a `Crew` is, as far as that is used there.
    _crew: DaskCrew  # type: ignore[assignment]

    def _new_crew(self) -> DaskCrew:  # type: ignore[override] # likewise
        return DaskCrew(
            self.workers,
            weakly(self._receive),
            weakly(self._bury),
            weakly(self.feed),
            weakly(self._before_fork),
            self._base,
            self.limits,
            self.clock,
        )

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
