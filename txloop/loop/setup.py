"""Setting a program up: the loop that it gets, its workers, its figures."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal

from tornado.ioloop import IOLoop

from txloop.errors import TxError
from txloop.executors.processes.executor import ProcessesExecutor
from txloop.loop.ioloop import (
    TransactionIOLoop,
    TransactionLoop,
    prepare_to_fork,
    tell_options,
)
from txloop.loop.options import (
    Options,
    given_by_environment,
    misspelt_variables,
    take_executor,
    use_executor,
)

if TYPE_CHECKING:
    from txloop.engine.stats import Stats

__all__ = ["explain", "install", "is_installed", "start_workers", "stats"]

_log = logging.getLogger("txloop")
_installed = False


def install(
    executor: Literal["auto", "processes", "threads", "serial", "dask"] | None = None,
    workers: int | None = None,
    *,
    local: int | None = None,
    fronts: int | Literal["auto"] | None = None,
    order: Literal["completion", "arrival"] | None = None,
    rounds: Literal["overlapping", "barrier"] | None = None,
    signals: bool | None = None,
    drain_seconds: float | None = None,
    max_queue: int | None = None,
    timeout: float | None = None,
    max_calls: int | None = None,
    log: str | None = None,
    log_bytes: int | None = None,
    auto: bool | None = None,
) -> None:
    """Make every IOLoop that the program gets from now on a `TransactionIOLoop`.

    Call it first, before anything asks for an IOLoop; it works under
    ``IOLoop.current().start()`` as under ``asyncio.run``, on asyncio's loop and on
    uvloop's.

    What is left out, or None, a variable of the environment may give: ``TXLOOP_`` and
    the name in capitals, as ``TXLOOP_MAX_QUEUE=100``; else it is as described here.

    Args:
        executor: ``"processes"``, ``"threads"``, ``"serial"`` or ``"auto"``, which is
            threads where the GIL is off, else forked processes where there are two
            cores and a fork; the default. ``"dask"``: on the cluster that Dask's
            configuration names, else on a local one.
        workers: How many transactions run at once. None: one per core.
        local: With ``"dask"``, how many workers are forked on this machine, beside
            those of the cluster, for calls that take less time than the way there. None
            or 0: no workers.
        fronts: How many processes take requests in and run what is short, up to 30;
            with the executor ``"threads"``, how many threads, where the GIL is off.
            ``"auto"``, the default: one process per core, 16 at the most, from when
            the loop thread is first busy; with ``"threads"`` none.
        order: ``"completion"``, the default: requests commit as they complete.
            ``"arrival"``: every transaction commits in the order of arrival, so that
            the whole run is the one that stock Tornado gives.
        rounds: ``"overlapping"``, the default: transactions begin as they come.
            ``"barrier"``: those that came in one loop iteration must all have ended,
            or wait for a change, before the next ones begin, as in the loop of 2014.
        signals: Whether SIGTERM and Ctrl-C stop accepting, finish what runs and end the
            program with exit code 0, as by default. Signals that the program handles
            are left alone.
        drain_seconds: How long that may take. None: 10 seconds.
        max_queue: How many calls may wait for a worker. Beyond it requests are answered
            with 503 and a Retry-After, and ``await atomically(...)`` raises
            `TxOverloadError`. Callbacks are never rejected, nor is anything with
            ``order="arrival"``. None: any number.
        timeout: After how many seconds a transaction's run in a worker is ended, as in
            `transactional`, which overrides it. None: never.
        max_calls: After about how many calls a worker is replaced, against memory that
            leaks; the new one is ready before the old one leaves. None: never.
        log: The file to which conflicts, and what workers do, are logged in PyPy's
            format; with a ``+`` after its name, forked processes write their own. Read
            it with ``conflict-log``. ``PYPYSTM`` gives it, too; ``""``: no log.
        log_bytes: How long that file may become: then it is renamed to ``NAME.1`` and
            begun anew. None: 256 MiB.
        auto: Whether handlers' verbs without a mark run as transactions, too, where the
            scan proves that they share nothing: it can follow all that they call, and
            finds no plain state that changes. None: what ``TXLOOP_AUTO`` says (``1`` or
            ``0``), else not.

    Raises:
        TxConfigurationError: if an option has an unknown value.
        TxError: if there is a running stock IOLoop, which would stay one.
    """
    global _installed
    options: dict[str, object] = dict(locals())  # all parameters, and nothing else
    for name, meant in [] if _installed else misspelt_variables():
        _log.warning("the variable %s has no effect; did you mean %s?", name, meant)
    if signals is None:
        options["signals"] = given_by_environment().get("signals", True)
    tell_options(Options.split(dict(options))[0])
    for asyncio_loop, loop in IOLoop._ioloop_for_asyncio.items():
        if not isinstance(loop, TransactionLoop) and asyncio_loop.is_running():
            raise TxError(
                "there is a running IOLoop already, and it is a stock one; call "
                "txloop.install() before anything asks for an IOLoop"
            )
    IOLoop.configure(TransactionIOLoop, **options)
    _installed = True


def is_installed() -> bool:
    """Tell whether the program, or the command that runs it, has called `install`."""
    return _installed


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


def explain() -> str:
    """Return in words what became of a transaction: the last one that was not simple.

    That is one that failed, or ran more than once: each of its attempts, where it ran,
    and what it lost to which line. Stories are kept from the first call on; and with
    ``debug=True`` for a minute after the page of an error was shown, so that the next
    such page ends with it if there was more than one attempt. That costs time. Call it
    on the loop thread.

    Raises:
        TxError: if the current IOLoop is not txloop's.
    """
    return _current().stories.tell()


def stats() -> Stats:
    """Return what the current IOLoop has done; call it on the loop thread.

    Raises:
        TxError: if the current IOLoop is not txloop's.
    """
    return _current().dispatcher.stats()


def _current() -> TransactionLoop:
    loop = IOLoop.current()
    if not isinstance(loop, TransactionLoop):
        raise TxError("the current IOLoop is a stock one; call txloop.install() first")
    return loop
