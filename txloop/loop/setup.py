"""Setting a program up: the loop that it gets, its workers, its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tornado.ioloop import IOLoop

from txloop.errors import TxError
from txloop.executors.processes.executor import ProcessesExecutor
from txloop.loop.ioloop import (
    TransactionIOLoop,
    TransactionLoop,
    prepare_to_fork,
)
from txloop.loop.options import Options, take_executor, use_executor

if TYPE_CHECKING:
    from txloop.engine.profile import Stats

__all__ = ["install", "start_workers", "stats"]


def install(
    executor: str | None = None,
    workers: int | None = None,
    *,
    order: Literal["completion", "arrival"] = "completion",
    rounds: Literal["overlapping", "barrier"] = "overlapping",
    signals: bool = True,
    drain_seconds: float = 10.0,
    max_queue: int | None = None,
    timeout: float | None = None,
    max_calls: int | None = None,
    log: str | None = None,
    log_bytes: int | None = None,
) -> None:
    """Make every IOLoop that the program gets from now on a `TransactionIOLoop`.

    Call it first, before anything asks for an IOLoop; it works under
    ``IOLoop.current().start()`` as under ``asyncio.run``, on asyncio's loop and on
    uvloop's.

    Args:
        executor: ``"processes"``, ``"threads"``, ``"serial"`` or ``"auto"``, which is
            threads where the GIL is off, else forked processes where there are two
            cores and a fork. None: what ``TXLOOP_EXECUTOR`` says, else ``"auto"``.
        workers: How many transactions run at once. None: what ``TXLOOP_WORKERS`` says,
            else one per core.
        order: ``"completion"``: requests commit as they complete; ``"arrival"``: every
            transaction commits in the order of arrival, so that the whole run is the
            one that stock Tornado gives.
        rounds: ``"overlapping"``: transactions begin as they come; ``"barrier"``: those
            that came in one loop iteration must all have ended, or wait for a change,
            before the next ones begin, as in the loop of 2014.
        signals: Whether SIGTERM and Ctrl-C stop accepting, finish what runs and end the
            program with exit code 0. Signals that the program handles are left alone.
        drain_seconds: How long that may take.
        max_queue: How many calls may wait for a worker. Beyond it requests are answered
            with 503 and a Retry-After, and ``await atomically(...)`` raises
            `TxOverloadError`; callbacks are never rejected. None: any number.
        timeout: After how many seconds a transaction's run in a worker is ended, as in
            `transactional`, which overrides it. None: never.
        max_calls: After about how many calls a worker is replaced, against memory that
            leaks; the new one is ready before the old one leaves. None: never.
        log: The file to which conflicts, and what workers do, are logged in PyPy's
            format; with a ``+`` after its name, forked processes write their own. Read
            it with ``conflict-log``. None: what ``PYPYSTM`` says; ``""``: no log.
        log_bytes: How long that file may become: then it is renamed to ``NAME.1`` and
            begun anew. None: 256 MiB.

    Raises:
        TxConfigurationError: if an option has an unknown value.
        TxError: if there is a running stock IOLoop, which would stay one.
    """
    options: dict[str, object] = dict(locals())  # all parameters, and nothing else
    Options.split(dict(options))
    for asyncio_loop, loop in IOLoop._ioloop_for_asyncio.items():
        if not isinstance(loop, TransactionLoop) and asyncio_loop.is_running():
            raise TxError(
                "there is a running IOLoop already, and it is a stock one; call "
                "txloop.install() before anything asks for an IOLoop"
            )
    IOLoop.configure(TransactionIOLoop, **options)


def start_workers() -> None:
    """Fork the workers now, for a program that is about to start threads.

    Otherwise that is done by the first transaction. Call it when the application is
    set up: what is made later (applications, functions, global state) is unknown to the
    workers. With an executor that has no processes it does nothing.
    """
    configured, keywords = IOLoop._save_configuration()
    if not (isinstance(configured, type) and issubclass(configured, TransactionLoop)):
        raise TxError("call txloop.install() before txloop.start_workers()")
    loop = IOLoop.current(instance=False)
    if isinstance(loop, TransactionLoop):
        executor = loop.dispatcher.executor
    else:
        executor = take_executor(Options.split(dict(keywords or {}))[0])
        use_executor(executor)
    if isinstance(executor, ProcessesExecutor):
        prepare_to_fork()
        executor.fork()


def stats() -> Stats:
    """Return what the current IOLoop has done; call it on the loop thread.

    Raises:
        TxError: if the current IOLoop is not txloop's.
    """
    loop = IOLoop.current()
    if not isinstance(loop, TransactionLoop):
        raise TxError("the current IOLoop is a stock one; call txloop.install() first")
    return loop.dispatcher.stats()
