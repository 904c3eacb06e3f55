"""txloop: Tornado without one-core handlers."""

from __future__ import annotations

from txloop.attempt import inevitable, on_commit
from txloop.cells import TDict, TVar
from txloop.errors import (
    TxClosedError,
    TxConfigurationError,
    TxError,
    TxForgottenError,
    TxInternalError,
    TxThreadError,
    TxValueError,
    TxWorkerError,
)
from txloop.executors.worker import on_worker_start
from txloop.loop import TransactionIOLoop, atomically
from txloop.marks import transactional
from txloop.profile import LabelStats, Stats
from txloop.setup import install, start_workers, stats
from txloop.web import take_requests_over

__all__ = [
    "LabelStats",
    "Stats",
    "TDict",
    "TVar",
    "TransactionIOLoop",
    "TxClosedError",
    "TxConfigurationError",
    "TxError",
    "TxForgottenError",
    "TxInternalError",
    "TxThreadError",
    "TxValueError",
    "TxWorkerError",
    "atomically",
    "inevitable",
    "install",
    "on_commit",
    "on_worker_start",
    "start_workers",
    "stats",
    "transactional",
]

take_requests_over()
