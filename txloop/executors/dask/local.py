"""A cluster of this machine alone, for programs that name none.

It runs in a process of its own, so that its workers inherit nothing of the program:
``python -m txloop.executors.dask.local 4 1`` starts four Dask workers with one thread
each, writes the scheduler's address to its output, and ends when its input does.
"""

from __future__ import annotations

import subprocess
import sys

from distributed import LocalCluster

from txloop.executors.dask.host import without_txloop

__all__ = ["LocalProcess"]


class LocalProcess:
    """A local cluster, as its program sees it.

    Attributes:
        address: The scheduler's.
    """

    def __init__(self, workers: int, threads: int = 1) -> None:
        """Start it, and wait until it is there.

        Args:
            workers: How many Dask workers.
            threads: How many threads each of them has.

        Raises:
            OSError: if it does not start.
        """
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(workers), str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=without_txloop(),
            text=True,
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        if not self.address:
            self.close()
            raise OSError("the local cluster did not start")

    def close(self) -> None:
        """End it, and wait until it is gone."""
        self._process.communicate()


def _serve(workers: int, threads: int) -> None:
    with LocalCluster(
        n_workers=workers,
        threads_per_worker=threads,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        sys.stdout.write(f"{cluster.scheduler_address}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    _serve(int(sys.argv[1]), int(sys.argv[2]))
