"""The waiting room: transactions that have retried, until something changes.

They hold neither a snapshot nor a worker nor a thread, only their place here. The room
belongs to the loop thread and runs nothing: it hands over those to run again.
"""

from __future__ import annotations

import contextvars
import math
import time
from typing import TYPE_CHECKING, Protocol

from txloop.engine.wake_index import Watches
from txloop.stm.callables import weakly

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.engine.transaction import Timer, Transaction
    from txloop.stm.store import Store
    from txloop.stm.types import Retry

__all__ = ["Timers", "WaitingRoom"]

_LONGEST_SECONDS = 24 * 3600.0  # that a timer runs; then it is set again


class Timers(Protocol):
    """What the room needs of the running event loop."""

    def call_soon(
        self,
        callback: Callable[..., object],
        /,
        *args: object,
        context: contextvars.Context | None = None,
    ) -> object:
        """Call `callback` in the next iteration."""

    def call_later(
        self, delay: float, callback: Callable[..., object], /, *args: object
    ) -> Timer:
        """Call `callback` after `delay` seconds."""


class WaitingRoom:
    """The waiting transactions of one dispatcher; used by the loop thread only.

    Attributes:
        attended: Whether `changed` is looked at anyway before this thread goes on.
    """

    def __init__(
        self,
        store: Store,
        timers: Timers,
        look: Callable[[], object],
        on_timeout: Callable[[Transaction], object],
    ) -> None:
        """Begin without any.

        Args:
            store: What the transactions have read.
            timers: The running event loop.
            look: Called soon after a change: `wake` may find some.
            on_timeout: Given each transaction whose time is up; it has left the room.
        """
        self._watches = Watches(store, weakly(self._look_soon))
        self._timers = timers
        self._look = look
        self._looking = False
        self._on_timeout = on_timeout
        self.attended = False
        self._inside: dict[int, Transaction] = {}
        self._closing = False

    def __len__(self) -> int:
        return len(self._inside)

    @property
    def patient(self) -> int:
        """How many may stay for ever. At the end, timeouts are about to pass."""
        if not self._closing:
            return len(self._inside)
        inside = self._inside.values()
        return sum(one.patience_seconds is None for one in inside)

    @property
    def timed(self) -> int:
        """How many have a timeout."""
        inside = self._inside.values()
        return sum(one.patience_seconds is not None for one in inside)

    @property
    def changed(self) -> bool:
        """Whether `wake` may find some."""
        return self._watches.changed

    def enter(self, transaction: Transaction, retry: Retry) -> None:
        """Let a transaction wait until something changes of what it read, or for long.

        Nothing of that may have changed since its snapshot.
        """
        self._inside[transaction.number] = transaction
        self._watches.enter(transaction.number, retry)
        if transaction.waiting_since is None:
            transaction.waiting_since = time.monotonic()
        transaction.patience_seconds = retry.timeout_seconds
        self._set_timer(transaction)

    def leave(self, transaction: Transaction) -> bool:
        """Take a transaction out; return whether it was there."""
        inside = self._inside.pop(transaction.number, None) is not None
        if inside:
            self._watches.leave(transaction.number)
            self._stop_timer(transaction)
        self.ended(transaction)
        return inside

    def wake(self, most: Callable[[Transaction], int]) -> list[Transaction]:
        """Take out those that may find something to do now, in the order of arrival.

        Args:
            most: Tells how many like this one may run at once, at least 1.
        """
        numbers = self._watches.wake(lambda number: most(self._inside[number]))
        woken = [self._inside.pop(number) for number in numbers]
        for transaction in woken:
            self._stop_timer(transaction)
            self._note_wait(transaction, 0.0)
        return woken

    def ended(self, transaction: Transaction) -> None:
        """Take note that one that was woken has committed, or waits again."""
        self._watches.ended(transaction.number)

    def hurry(self) -> None:
        """From now on, let every timeout pass at once."""
        self._closing = True
        for transaction in list(self._inside.values()):
            self._stop_timer(transaction)
            self._set_timer(transaction)

    def empty(self) -> list[Transaction]:
        """Take all out, in the order of arrival."""
        inside = [self._inside[number] for number in sorted(self._inside)]
        for transaction in inside:
            self.leave(transaction)
        return inside

    def clear(self) -> None:
        """Forget all, also those that were woken and have not ended."""
        self.empty()
        self._watches.clear()

    def _look_soon(self) -> None:
        """Have the loop look for transactions to wake; called at a change."""
        if not (self._looking or self.attended):
            self._looking = True
            try:
                # In an empty context: the change may have been made in any.
                self._timers.call_soon(self._look_now, context=contextvars.Context())
            except RuntimeError:  # a stock loop was closed, and does not tell
                self.clear()

    def _look_now(self) -> None:
        """Let the dispatcher look: in an iteration of its own, after the change."""
        self._looking = False
        self._look()

    # Timeouts

    def _set_timer(self, transaction: Transaction) -> None:
        """Have it woken when its time is up, if it has a timeout."""
        patience, since = transaction.patience_seconds, transaction.waiting_since
        if patience is None or since is None:
            return
        seconds = 0.0 if self._closing else since + patience - time.monotonic()
        transaction.timer = self._timers.call_later(
            max(0.0, min(seconds, _LONGEST_SECONDS)), self._ring, transaction, seconds
        )

    def _stop_timer(self, transaction: Transaction) -> None:
        """Forget its timeout, if it has one: it is awake."""
        if transaction.timer is not None:
            transaction.timer.cancel()
            transaction.timer = None

    def _ring(self, transaction: Transaction, seconds: float) -> None:
        """Wake one whose time is up, or set its timer again."""
        transaction.timer = None
        if seconds > _LONGEST_SECONDS:
            self._set_timer(transaction)
            return
        self.leave(transaction)
        assert transaction.patience_seconds is not None
        self._note_wait(transaction, transaction.patience_seconds)
        self._on_timeout(transaction)

    def _note_wait(self, transaction: Transaction, least: float) -> None:
        """Let the body know how long it has waited: not less than its timer says."""
        assert transaction.waiting_since is not None
        waited = max(time.monotonic() - transaction.waiting_since, least)
        transaction.waited_seconds = math.inf if self._closing else waited
