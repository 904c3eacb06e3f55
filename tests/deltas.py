"""A log of what replicas miss, while a test runs."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

from txloop.executors.processes.replication import DeltaLog
from txloop.stm.store import committed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["delta_log"]


@contextmanager
def delta_log(on_lag: Callable[[], object] = lambda: None) -> Iterator[DeltaLog]:
    """Follow what is committed while the block runs."""
    for _ in range(3):  # containers of other tests shall not die meanwhile
        gc.collect()
    log = DeltaLog(committed, on_lag)
    yield log
    log.close()
