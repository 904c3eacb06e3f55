"""What an executor is, and the look-up of one by name."""

from __future__ import annotations

import abc
import difflib
import importlib
import importlib.util
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, cast

from txloop.errors import TxConfigurationError
from txloop.stm.threads import gil_enabled

if TYPE_CHECKING:
    from txloop.executors.plea import Plea
    from txloop.stm.types import Answer, Call
    from txloop.watch import Watch

__all__ = [
    "NICENESS",
    "Deliver",
    "Executor",
    "Reactor",
    "Running",
    "Work",
    "available_cores",
    "executor_named",
    "register_executor",
    "resolve_name",
    "unknown",
]

NICENESS = 5
"""How far behind the loop's thread workers stand, so that I/O stays prompt."""


@dataclass(frozen=True, slots=True)
class Work:
    """One attempt to make: the answer to it carries the same number."""

    number: int
    call: Call
    estimate_seconds: float | None = None  # None: unknown, or best not waiting
    urgent: bool = False  # others wait for it
    medium: bool = False  # it might as well run on the loop thread
    late: bool = False  # what it reads first may be newer than what it began with
    reading: bool = False  # it has only read so far, so that its reads need no notes


@dataclass(frozen=True, slots=True)
class Running:
    """An attempt that runs, or is about to, away from the loop thread.

    Attributes:
        number: That of its `Work`.
        worker: The number of the worker that runs it, from 1.
        since_ns: Since when, by `time.monotonic_ns`.
    """

    number: int
    worker: int
    since_ns: int


Deliver = Callable[[int, "Answer | Plea"], None]
"""Takes an answer on the loop thread. Its snapshot, if any, is still open then.

An attempt in a thread may plead before; then its answer comes as that of the plea, or,
if it is refused, later.
"""


_log = logging.getLogger("txloop")


class Reactor(Protocol):
    """What an executor needs of the running event loop: asyncio's, or uvloop's."""

    def add_reader(
        self, fd: int, callback: Callable[..., object], /, *args: object
    ) -> object:
        """Call `callback` whenever `fd` is readable."""

    def remove_reader(self, fd: int, /) -> object:
        """Stop that."""

    def add_writer(
        self, fd: int, callback: Callable[..., object], /, *args: object
    ) -> object:
        """Call `callback` whenever `fd` is writable."""

    def remove_writer(self, fd: int, /) -> object:
        """Stop that."""

    def call_later(
        self, delay: float, callback: Callable[..., object], /, *args: object
    ) -> object:
        """Call `callback` after `delay` seconds."""

    def call_soon_threadsafe(
        self, callback: Callable[..., object], /, *args: object
    ) -> object:
        """Call `callback` in the next iteration; the one method for any thread.

        Raises:
            RuntimeError: if the loop is closed.
        """


class Executor(abc.ABC):
    """Runs attempts somewhere and delivers their outcomes on the loop thread.

    An executor belongs to the loop thread, which alone calls it. For each attempt it
    opens a snapshot of the store; what takes the answer closes it. What is not abstract
    here is that of one where nothing ever waits.

    Attributes:
        name: As in `executor_named`.
        workers: How many attempts can run at once.
        forks: Whether attempts run in copies of this process, which know only what
            there was when they were forked and have no open files.
        parallel: Whether attempts run beside the loop thread: then they may share
            nothing but shared state.
        transport_seconds: What sending a call away costs, both ends, as measured.
        watch: The functions under watch, None where attempts share everything.
        stretch: How many times longer calls take there than they compute.
        own_place: What the loop thread is called among the workers: no worker has
            this number, and fronts have those that follow.
        addresses: Where each worker is or was last, by its number: ``""`` for this
            machine. Empty where there is no other machine.
    """

    name: str
    workers: int
    transport_seconds: float
    stretch: float = 1.0
    own_place: int
    addresses: Mapping[int, str] = MappingProxyType({})
    forks: bool = False
    parallel: bool = False
    watch: Watch | None = None

    @abc.abstractmethod
    def start(self, reactor: Reactor, deliver: Deliver) -> None:
        """Get ready to run attempts. Starting again does nothing."""

    @abc.abstractmethod
    def run(self, batch: Sequence[Work]) -> None:
        """Run the calls of one round, each as soon as there is a free worker.

        Every piece of work is answered exactly once, whatever dies, unless the
        executor is closed first. Answers may arrive before this returns.
        """

    def feed(self) -> None:  # noqa: B027 # as for the others
        """Give what waits to workers that are free: a commit is done, effects wait."""

    def withdraw(self, number: int) -> bool:
        """Forget work that has not been sent anywhere yet; return whether it was so.

        Then it is not answered.
        """
        return False

    def take_back(self) -> int | None:
        """Withdraw the call that would be sent next, if it is of medium length.

        Returns:
            Its number; None if there is none.
        """
        return None

    def running(self) -> Sequence[Running]:
        """Return what runs just now, away from the loop thread."""
        return ()

    def renew(self) -> bool:
        """Let attempts run in new copies of this process, if they run in copies.

        Returns:
            Whether what is here now is known where attempts will run.
        """
        return True

    @abc.abstractmethod
    def close(self) -> None:
        """End all workers, waiting for them. Closing again does nothing."""


_EXECUTORS = {
    "serial": "txloop.executors.serial:SerialExecutor",
    "processes": "txloop.executors.processes.executor:ProcessesExecutor",
    "threads": "txloop.executors.threads.executor:ThreadsExecutor",
    "dask": "txloop.executors.dask.executor:DaskExecutor",
}


def register_executor(name: str, place: str) -> None:
    """Make an executor known by `name`.

    Args:
        name: What ``executor=`` takes.
        place: ``"package.module:Class"``; the class is called with the number of
            workers, or None, and makes an `Executor`.
    """
    _EXECUTORS[name] = place


def resolve_name(name: str) -> str:
    """Return the executor that `name` means here: ``"auto"`` is decided.

    Raises:
        TxConfigurationError: if there is none of that name, or not on this platform.
    """
    forks = sys.platform.startswith("linux") and hasattr(os, "fork")
    if name == "auto":
        if not gil_enabled():
            return "threads"
        if not forks:
            _log.warning("transactions run serially: there is no safe fork here")
        return "processes" if forks and available_cores() > 1 else "serial"
    if name == "processes" and not forks:
        raise TxConfigurationError(
            "the executor 'processes' needs Linux and its fork; use 'threads' without "
            "the GIL, or 'serial'"
        )
    if name == "dask" and importlib.util.find_spec("distributed") is None:
        raise TxConfigurationError(
            "the executor 'dask' needs Dask, which is not installed: "
            "pip install 'txloop[dask]'"
        )
    if name not in _EXECUTORS:
        raise TxConfigurationError(unknown("executor", name, ["auto", *_EXECUTORS]))
    return name


def unknown(what: str, given: object, known: Sequence[str]) -> str:
    """Return a message about a word that is none of the known ones."""
    meant = difflib.get_close_matches(str(given), known, n=1)
    hint = f"did you mean {meant[0]!r}? There are: " if meant else "there are: "
    return f"unknown {what} {given!r}; {hint}{', '.join(known)}"


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    with suppress(OSError), open("/proc/self/status") as file:  # as for PyPy
        for line in file:
            name, _, mask = line.partition(":")
            if name == "Cpus_allowed":
                return int(mask.replace(",", ""), 16).bit_count()
    return os.cpu_count() or 1


def executor_named(
    name: str,
    workers: int | None = None,
    max_calls: int | None = None,
    local: int = 0,
) -> Executor:
    """Return a new executor of that name, not yet started.

    Args:
        name: ``"serial"``, ``"processes"``, ``"threads"``, ``"dask"`` or ``"auto"``.
        workers: How many attempts at once; None for one per core.
        max_calls: After how many calls a worker is replaced, where there are workers.
        local: How many forked workers there are beside those of a Dask cluster; for
            other executors 0.

    Raises:
        TxConfigurationError: if there is none of that name, or `workers` is below 1.
    """
    if workers is not None and workers < 1:
        raise TxConfigurationError(f"workers must be at least 1, got {workers}")
    module, _, attribute = _EXECUTORS[resolve_name(name)].partition(":")
    make = getattr(importlib.import_module(module), attribute)
    executor = make(workers)
    if max_calls is not None and executor.forks:
        executor.relieve_after(max_calls)
    if local:
        executor.fork_beside(local)
    return cast("Executor", executor)  # the table lists executors only
