"""txloop: Tornado without one-core handlers."""

from __future__ import annotations

from txloop import transaction
from txloop.cells import (
    Channel,
    TCounter,
    TDict,
    TList,
    TObject,
    TSet,
    TVar,
    plain,
    share,
)
from txloop.engine.marks import transactional
from txloop.engine.profile import LabelStats, Stats
from txloop.errors import (
    TxClosedError,
    TxConfigurationError,
    TxError,
    TxForgottenError,
    TxInternalError,
    TxOverloadError,
    TxThreadError,
    TxTimeoutError,
    TxValueError,
    TxWorkerError,
)
from txloop.executors.processes.worker import on_worker_start
from txloop.loop.ioloop import TransactionIOLoop, atomically
from txloop.loop.setup import install, start_workers, stats
from txloop.loop.yieldable import YieldableThread, apply, exclusive_apply
from txloop.stm.primitives import inevitable, on_commit, or_else, retry
from txloop.web import keep_templates, take_requests_over, write_containers

__version__ = "0.1.0"

__all__ = [
    "Channel",
    "LabelStats",
    "Stats",
    "TCounter",
    "TDict",
    "TList",
    "TObject",
    "TSet",
    "TVar",
    "TransactionIOLoop",
    "TxClosedError",
    "TxConfigurationError",
    "TxError",
    "TxForgottenError",
    "TxInternalError",
    "TxOverloadError",
    "TxThreadError",
    "TxTimeoutError",
    "TxValueError",
    "TxWorkerError",
    "YieldableThread",
    "apply",
    "atomically",
    "exclusive_apply",
    "inevitable",
    "install",
    "on_commit",
    "on_worker_start",
    "or_else",
    "plain",
    "retry",
    "share",
    "start_workers",
    "stats",
    "transaction",
    "transactional",
]

take_requests_over()
write_containers()
keep_templates()
