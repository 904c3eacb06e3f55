"""What the body of a transaction may ask for: effects, certainty, and to wait.

These functions belong to the program's code; each works on the attempt that the
calling thread runs.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from txloop.errors import Retrying, TxConfigurationError, TxError
from txloop.stm.attempt import Attempt, current
from txloop.stm.types import Effect

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["inevitable", "on_commit", "or_else", "retry"]

P = ParamSpec("P")
F = TypeVar("F")
S = TypeVar("S")


def on_commit(function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
    """Run ``function(*args, **kwargs)`` on the loop thread when this commits.

    Effects run in the order in which they were asked for, each exactly once, and not
    at all when the attempt is aborted or ends with an exception. They find the context
    variables as the transaction has left them. An effect that raises is logged; the
    others run. Outside a transaction the function runs at once. May be
    called by any thread that runs an attempt.
    """
    attempt = current()
    if attempt is None:
        function(*args, **kwargs)
        return
    effect = Effect(function, args, kwargs, _caller(), attempt.variables)
    attempt.effects.append(effect)


def inevitable() -> None:
    """Make sure that this attempt is the last: from here on nothing is run again.

    On the loop thread it returns at once. Elsewhere the attempt is abandoned and the
    call starts anew on the loop thread; later calls of the same function go there
    directly. Outside a transaction it does nothing.
    """
    attempt = current()
    if attempt is None:
        return
    if attempt.speculative:
        attempt.abandon("it asks to be inevitable")
    attempt.fixed = "it has become inevitable"


def retry(timeout: float | None = None) -> None:
    """Give this attempt up; the call runs again once something that it read changes.

    Meanwhile the transaction waits, without a worker or a thread, and nothing that it
    did so far has happened. Of several that wait for the same, the one that came first
    runs first. With a `timeout` it runs again after so many seconds at the latest,
    counted from when it first waited; `retry` returns then, and whatever follows it
    says what to do instead.

    >>> def take():
    ...     if not queue:
    ...         retry(timeout=20)
    ...     return queue.popitem() if queue else None

    A transaction that waits has left the order of those that commit in order, and
    takes its place again when it is woken. One whose awaiter is cancelled or whose
    client leaves while it waits is dropped. Code that runs on the loop thread should
    retry before it does what cannot be undone.

    Raises:
        TxError: outside a transaction; if nothing was read and there is no timeout; or
            after `inevitable` or the release of a response to its connection.
        TxConfigurationError: if `timeout` is not a number of seconds from 0.
    """
    if timeout is not None and not _is_duration(timeout):
        raise TxConfigurationError(
            f"timeout must be a number of seconds from 0, or None, not {timeout!r}"
        )
    attempt = current()
    if attempt is None:
        raise TxError(
            "retry() waits until something changes that a transaction has read; call "
            "it in one: in a function marked @transactional or given to atomically()"
        )
    attempt.reveal("it retries, and is a coroutine")
    if timeout is not None and attempt.waited_seconds >= timeout and not attempt.fixed:
        return
    attempt.retry(None if timeout == math.inf else timeout)


def or_else(first: Callable[[], F], second: Callable[[], S]) -> F | S:
    """Return what `first` returns, or, if it retries, undo it and run `second`.

    What `first` has written, logged and asked for with `on_commit` is undone then. If
    both retry, the transaction waits for what either has read, or for the shorter
    timeout of the two. An exception of `first` is raised here; its writes stay.

    >>> def take_from_either():
    ...     return or_else(urgent.get, ordinary.get)

    Raises:
        TxError: outside a transaction.
    """
    attempt = current()
    if attempt is None:
        raise TxError(
            "or_else() is a part of a transaction; call it in one: in a function "
            "marked @transactional or given to atomically()"
        )
    attempt.reveal("it calls or_else(), and is a coroutine")
    savepoint = _Savepoint(attempt)
    try:
        value = first()
        if not attempt.retrying:  # even if it caught Retrying
            return value
    except Retrying:
        pass
    finally:
        savepoint.leave()
    savepoint.go_back()
    return second()


class _Savepoint:
    """What an attempt has done so far, to go back to."""

    def __init__(self, attempt: Attempt) -> None:
        """Remember it, and let the attempt retry without giving itself up."""
        self._attempt = attempt
        self._writes = {number: own.copy() for number, own in attempt.writes.items()}
        self._effects = len(attempt.effects)
        self._records = len(attempt.records)
        self._fixed, attempt.fixed = attempt.fixed, None
        self._retrying, attempt.retrying = attempt.retrying, False
        attempt.alternatives += 1

    def leave(self) -> None:
        """Let what happened before count again."""
        attempt = self._attempt
        attempt.alternatives -= 1
        attempt.fixed = attempt.fixed or self._fixed
        attempt.retrying = attempt.retrying or self._retrying

    def go_back(self) -> None:
        """Undo what was done since; what was read stays."""
        attempt = self._attempt
        attempt.retrying = self._retrying
        attempt.writes = self._writes
        del attempt.effects[self._effects :]
        del attempt.records[self._records :]
        attempt.forget_views()


def _is_duration(timeout: object) -> bool:
    return (
        isinstance(timeout, int | float)
        and not isinstance(timeout, bool)
        and timeout >= 0
    )


def _caller() -> str:
    frame = sys._getframe(2)
    return f'File "{frame.f_code.co_filename}", line {frame.f_lineno}'
