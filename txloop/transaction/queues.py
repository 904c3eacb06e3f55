"""`TransactionQueue`, and the functions that PyPy's module had before it."""

from __future__ import annotations

import itertools
from collections import deque
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakValueDictionary

from txloop.errors import TransactionError
from txloop.executors.protocol import available_cores, resolve_name
from txloop.loop.options import Options
from txloop.stm.attempt import Attempt, current
from txloop.stm.callables import name_of
from txloop.stm.primitives import on_commit
from txloop.transaction.blocks import atomic
from txloop.transaction.pieces import Hindrance, Piece, is_immutable
from txloop.transaction.runs import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

__all__ = [
    "TransactionQueue",
    "add",
    "getsegmentlimit",
    "number_of_transactions_in_last_run",
    "run",
    "set_num_threads",
]


class TransactionQueue:
    """Calls that are to run as transactions, in no particular order.

    `add` them, then `run` them; while they run they may add more. Needs no event loop.
    It belongs to the thread that calls `run`, which alone may add outside of
    transactions. Inside of them any thread and any worker may.

    >>> queue = TransactionQueue()
    >>> for number in range(10):
    ...     queue.add(counter.add, number)
    >>> queue.run()

    As a context manager it is PyPy's form of 2014: the block is the first transaction,
    `add` of this module adds to its queue, and `run` comes at its end.
    """

    _numbers: ClassVar[Iterator[int]] = itertools.count(1)
    _queues: ClassVar[WeakValueDictionary[int, TransactionQueue]] = (
        WeakValueDictionary()
    )
    _running: ClassVar[TransactionQueue | None] = None
    _blocks: ClassVar[list[TransactionQueue]] = []

    def __init__(self, nb_segments: int = 0, *, executor: str | None = None) -> None:
        """Make an empty queue.

        Args:
            nb_segments: How many transactions run at once after a ``with`` block, as in
                `run`.
            executor: As in `txloop.install`.

        Raises:
            TxConfigurationError: if there is no such executor.
            TransactionError: inside a transaction, whose end would be the queue's.
        """
        if current() is not None:
            raise TransactionError(
                "a TransactionQueue cannot be made in a transaction; make it before, "
                "and add to it from there"
            )
        if executor is not None:  # else at `run`: this is imported with txloop
            _options(executor)
        self._number = next(self._numbers)
        self._queues[self._number] = self
        self._nb_segments = nb_segments
        self._executor = executor
        self._added: deque[Piece] = deque()
        self._told: set[str] = set()
        self._executed = 0

    def add(self, f: Callable[..., object], /, *args: object, **kwds: object) -> None:
        """Have ``f(*args, **kwds)`` run as a transaction.

        Inside a transaction it takes effect at the commit, so the new one starts after
        the present one; and only there may a thread other than that of `run` call it.
        """
        attempt = current()
        if attempt is None:
            self._added.append(Piece(f, args, kwds))
            return
        if attempt.speculative:
            _check_traveller(Piece(f, args, kwds), attempt)
        on_commit(_add, self._number, f, args, kwds)

    def add_generator(self, generator_iterator: Iterator[object]) -> None:
        """Run a generator, each part up to a ``yield`` as a transaction of its own.

        The parts run one after another, on the thread that calls `run`: a generator
        cannot be copied. What it yields is dropped.
        """
        self.add(_advance, self, generator_iterator)

    def run(self, nb_segments: int = 0) -> None:
        """Run what was added, and what that adds, until there is nothing left.

        If a transaction raises, that is raised here; what it wrote before stays, and
        what has not committed by then is dropped. Unlike PyPy's, it may be called in
        a callback of an event loop, which it holds up.

        Args:
            nb_segments: How many run at once; 0 for `getsegmentlimit`.

        Raises:
            TransactionError: inside a transaction or another run; and if transactions
                are left that wait for what no other will do.
            TxThreadError: if a loop of another thread runs transactions.
        """
        if current() is not None:
            raise TransactionError(
                "run() cannot be called in a transaction or an atomic block"
            )
        if TransactionQueue._running is not None:
            raise TransactionError("run() is running already: a recursive invocation")
        if not self._added:
            return
        options = _options(self._executor)
        workers = nb_segments if nb_segments > 0 else _limit(options)
        run = Run(options, workers, self._added, self._told)
        TransactionQueue._running = self
        try:
            run.run()
        finally:
            TransactionQueue._running = None
            self._executed += run.executed
            self._added.clear()

    def number_of_transactions_executed(self) -> int:
        """Return how many have taken effect so far, one that raised included.

        Raises:
            TransactionError: while it runs.
        """
        if TransactionQueue._running is self:
            raise TransactionError("how many there are is known when run() has ended")
        return self._executed

    def __enter__(self) -> TransactionQueue:
        if TransactionQueue._running is not None or self._blocks:
            raise TransactionError("recursive invocation of a TransactionQueue")
        atomic.__enter__()
        self._blocks.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._blocks.pop()
        atomic.__exit__(kind, error, trace)
        if error is None:
            self.run(self._nb_segments)
        else:
            self._added.clear()

    def __reduce__(self) -> tuple[object, ...]:
        # As an argument of a transaction it is itself again where that commits.
        return _find, (self._number,)


def _find(number: int) -> TransactionQueue:
    queue = TransactionQueue._queues.get(number)
    if queue is None:  # it was made after this worker
        queue = TransactionQueue.__new__(TransactionQueue)
        queue._number = number
    return queue


def _add(
    number: int,
    f: Callable[..., object],
    args: tuple[object, ...],
    kwds: dict[str, object],
) -> None:
    """Add to a queue: the effect of a transaction."""
    queue = TransactionQueue._queues.get(number)
    if queue is not None:  # else it cannot be run any more
        queue._added.append(Piece(f, args, kwds))


def _advance(queue: TransactionQueue, generator: Iterator[object]) -> None:
    """Run a generator up to its next ``yield``."""
    for _ in generator:
        queue.add(_advance, queue, generator)
        return


def _check_traveller(piece: Piece, attempt: Attempt) -> None:
    """Start anew on the calling thread if a copy would not do for what is added."""
    wrong = next((thing for thing in piece.given if not is_immutable(thing)), None)
    if wrong is not None:
        reason = (
            f"it adds {name_of(piece.function)} with a {type(wrong).__name__}, which "
            "in a worker may be a copy: pass tuples and txloop containers"
        )
        attempt.abandon(Hindrance(reason))


def _options(executor: str | None) -> Options:
    return Options.split({"executor": executor})[0]


def _limit(options: Options) -> int:
    if resolve_name(options.executor) == "serial":
        return 1
    return options.workers or available_cores()


def getsegmentlimit() -> int:
    """Return how many transactions `run` has at once, unless it is told otherwise.

    That is ``TXLOOP_WORKERS``, else the number of cores; 1 on the serial executor.
    """
    return _limit(_options(None))


class _Module:
    """What the functions of PyPy's module know of each other."""

    def __init__(self) -> None:
        self.queue = TransactionQueue()
        self.num_threads = 0
        self.executed = 0


_module = _Module()


def set_num_threads(num: int) -> None:
    """Say how many transactions the module's `run` has at once.

    Raises:
        ValueError: if that is less than 1.
        TransactionError: while transactions run.
    """
    if num < 1:
        raise ValueError(f"set_num_threads() takes a number from 1, not {num}")
    if TransactionQueue._running is not None:
        raise TransactionError("set_num_threads() cannot be called while run() runs")
    _module.num_threads = num


def add(f: Callable[..., object], /, *args: object, **kwds: object) -> None:
    """Have ``f(*args, **kwds)`` run by the next `run` of this module.

    While a queue runs, and in its ``with`` block, it is added to that one.
    """
    blocks = TransactionQueue._blocks
    queue = TransactionQueue._running or (blocks[-1] if blocks else _module.queue)
    queue.add(f, *args, **kwds)


def run() -> None:
    """Run what the module's `add` has collected, as `TransactionQueue.run` does."""
    queue = _module.queue
    before = queue._executed
    try:
        queue.run(_module.num_threads)
    finally:
        if TransactionQueue._running is not queue:
            _module.executed = queue._executed - before


def number_of_transactions_in_last_run() -> int:
    """Return how many the module's last `run` has run, one that raised included.

    Raises:
        TransactionError: while it runs.
    """
    _module.queue.number_of_transactions_executed()
    return _module.executed
