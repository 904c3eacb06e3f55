"""Atomic blocks: a part of the program that is one transaction, where it stands."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from txloop.engine.effects import EffectQueue
from txloop.errors import TransactionError
from txloop.stm.attempt import Attempt, current, make_current
from txloop.stm.store import committed
from txloop.stm.validation import decide

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["atomic", "hint_commit_soon", "is_atomic", "signals_enabled"]


class _Atomic(threading.local):
    """The context manager `atomic`; its attributes are those of one thread."""

    def __init__(self) -> None:
        self._depth = 0
        self._attempt: Attempt | None = None

    def __enter__(self) -> None:
        if current() is None:
            self._begin()
        self._depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if not self._depth and self._attempt is not None:
            attempt, self._attempt = self._attempt, None
            self._commit(attempt)

    def _begin(self) -> None:
        self._depth = 0
        attempt = Attempt(committed.open_snapshot(), speculative=False)
        attempt.fixed = "it stands in an atomic block, which runs once"
        committed.forget_views()
        self._attempt = attempt
        make_current(attempt)

    def _commit(self, attempt: Attempt) -> None:
        make_current(None)
        committed.forget_views()
        outcome = attempt.outcome(None, None, 0.0)
        try:
            if decide(outcome, committed, ordered=False) is not None:
                raise TransactionError(
                    "an atomic block cannot commit: what it has read was changed "
                    "meanwhile, by another thread or by a loop that ran inside it"
                )
            if outcome.writes:
                committed.install(outcome.writes)  # type: ignore[arg-type] # containers
        finally:
            committed.close_snapshot(attempt.snapshot)
        effects = EffectQueue()
        effects.add(outcome, lambda value, error: None, "atomic")
        while effects.run_next():
            pass


atomic = _Atomic()
"""``with atomic:`` makes a block one transaction; blocks may stand in one another.

Its writes to containers commit together at its end, also if it ends with an exception,
as PyPy's did. Inside a transaction it changes nothing: that is atomic already. It runs
once, so it can neither retry nor be undone, and must not await or run a loop. Each
thread has its own; like any write, the commit is the loop's thread's while one runs.

Raises (at its end):
    TransactionError: if what it has read was changed meanwhile.
    TxThreadError: if a loop of another thread runs transactions.
"""

signals_enabled = contextlib.nullcontext()
"""``with signals_enabled:`` does nothing here: signals reach the calling thread."""


def is_atomic() -> bool:
    """Tell whether this thread is in a transaction or an atomic block."""
    return current() is not None


def hint_commit_soon() -> None:
    """Do nothing: outside of transactions each write commits at once.

    PyPy-STM, where all code ran in transactions, ended the present one here.
    """
