"""txloop: Tornado without one-core handlers."""

from __future__ import annotations

from txloop import transaction
from txloop.cells import (
    Channel,
    TCache,
    TCount,
    TCounter,
    TCounterDict,
    TDefaultDict,
    TDeque,
    TDict,
    TList,
    TNamespace,
    TObject,
    TOrderedDict,
    TSet,
    TVar,
    cached,
    like_plain,
    plain,
    register_immutable,
    share,
)
from txloop.engine.marks import transactional
from txloop.engine.stats import Distribution, LabelStats, Stats
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
from txloop.executors.crew import ProcessStats
from txloop.executors.processes.worker import on_worker_start
from txloop.loop.ioloop import TransactionIOLoop, atomically
from txloop.loop.setup import explain, install, start_workers, stats
from txloop.loop.yieldable import YieldableThread, apply, exclusive_apply
from txloop.stm.primitives import inevitable, on_commit, or_else, retry
from txloop.web import announce_servers as _announce_servers
from txloop.web import keep_templates as _keep_templates
from txloop.web import take_requests_over as _take_requests_over
from txloop.web import write_containers as _write_containers

__version__ = "0.1.0"

__all__ = [
    "Channel",
    "Distribution",
    "LabelStats",
    "ProcessStats",
    "Stats",
    "TCache",
    "TCount",
    "TCounter",
    "TCounterDict",
    "TDefaultDict",
    "TDeque",
    "TDict",
    "TList",
    "TNamespace",
    "TObject",
    "TOrderedDict",
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
    "cached",
    "exclusive_apply",
    "explain",
    "inevitable",
    "install",
    "like_plain",
    "on_commit",
    "on_worker_start",
    "or_else",
    "plain",
    "register_immutable",
    "retry",
    "share",
    "start_workers",
    "stats",
    "transaction",
    "transactional",
]


def __dir__() -> list[str]:
    # Not the rooms, which are here because they were imported.
    return [*__all__, *(name for name in globals() if name.startswith("__"))]


_take_requests_over()
_write_containers()
_keep_templates()
_announce_servers(__version__)
