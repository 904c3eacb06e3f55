"""txloop: Tornado without one-core handlers."""

from __future__ import annotations

from txloop import transaction
from txloop.body import inevitable, on_commit, or_else, retry
from txloop.cells import (
    Channel,
    TCounter,
    TDict,
    TList,
    TObject,
    TSet,
    TVar,
    encode_containers,
    plain,
    share,
)
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
from txloop.executors.worker import on_worker_start
from txloop.loop import TransactionIOLoop, atomically
from txloop.marks import transactional
from txloop.profile import LabelStats, Stats
from txloop.setup import install, start_workers, stats
from txloop.web import keep_templates, take_requests_over, write_containers
from txloop.yieldable import YieldableThread, apply, exclusive_apply

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

encode_containers()
take_requests_over()
write_containers()
keep_templates()
