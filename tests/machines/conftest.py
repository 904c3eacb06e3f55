"""Clusters of the tests' own: a scheduler, and Dask workers that come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cluster import DASK
from tests.engine import Engine, running
from txloop.executors.worker_protocol import Limits

if DASK:
    import dask

    from tests.machines.machines import Machines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

collect_ignore_glob = [] if DASK else ["test_*.py"]


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    """Give a cluster without workers."""
    made = Machines(tmp_path)
    try:
        with dask.config.set({"scheduler-address": made.address}):
            yield made
    finally:
        made.close()


@pytest.fixture
def limits() -> Limits:
    """Return those of the engine."""
    return Limits()


@pytest.fixture
def engine(limits: Limits) -> Iterator[Engine]:
    """Run the engine on the cluster that Dask's configuration names."""
    with running("dask", limits=limits) as engine:
        yield engine
