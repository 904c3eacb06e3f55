"""What is told of transactions: events to listeners, warnings to the log."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from txloop.engine.events import (
    Aborted,
    Answered,
    Closed,
    Committed,
    Conflicted,
    Dropped,
    Event,
    LinedUp,
    Listener,
    Retried,
    RoundRun,
    RoundWaits,
    Started,
    Waited,
    Woken,
)
from txloop.stm.cell_names import cell_name

if TYPE_CHECKING:
    from txloop.engine.transaction import Transaction
    from txloop.stm.types import Answer, Conflict, Outcome, Refusal, Retry

__all__ = ["Reporter"]

REPORT_SECONDS = 10.0
"""How often one log line, about refusals or one function, comes at most."""

_log = logging.getLogger("txloop")


class Reporter:
    """Tells what happens to transactions, on the loop thread; decides nothing.

    Attributes:
        listeners: Told each event, in this order.
    """

    def __init__(self, listeners: list[Listener], parallel: bool) -> None:
        """Begin without anything to report.

        Args:
            listeners: Told each event; the list may change.
            parallel: Whether attempts run beside this thread.
        """
        self.listeners = listeners
        self._parallel = parallel
        self._overran_labels: set[str] = set()
        self._warned: set[tuple[str, int]] = set()  # labels and containers
        self._next_warning: dict[str, float] = {}  # by label
        self._refused = 0  # since the last report
        self._next_report = 0.0

    def round_run(self, transactions: int) -> None:
        """Tell that a round goes to the executor."""
        if self.listeners:
            self._tell(RoundRun(transactions))

    def round_waits(self) -> None:
        """Tell that transactions wait for the end of a round."""
        if self.listeners:
            self._tell(RoundWaits())

    def started(self, transaction: Transaction) -> None:
        """Tell that an attempt begins."""
        if self.listeners:
            number, attempt = transaction.number, transaction.attempts
            label = transaction.profile.label
            self._tell(Started(number, attempt, label, transaction.inline))

    def lined_up(self, transaction: Transaction) -> None:
        """Tell that a transaction has to stand in line."""
        if self.listeners:
            self._tell(LinedUp(transaction.number, transaction.profile.label))

    def answered(self, transaction: Transaction, answer: Answer) -> None:
        """Tell that an attempt's answer is there."""
        if answer.trace is not None:
            number, label = transaction.number, transaction.profile.label
            self._tell(Answered(number, label, answer.trace))

    def refused(self, transaction: Transaction, refusal: Refusal) -> None:
        """Tell that a call has to run on the loop thread, and warn if that is new."""
        self.aborted(transaction, refusal)
        self.kept_on_loop(transaction, refusal)

    def aborted(self, transaction: Transaction, refusal: Refusal) -> None:
        """Tell that an attempt was given up, and its call runs on the loop thread."""
        label = transaction.profile.label
        self._tell(Aborted(transaction.number, label, refusal.reason))

    def kept_on_loop(self, transaction: Transaction, refusal: Refusal) -> None:
        """Warn that a function runs on the loop thread, unless that is known."""
        profile = transaction.profile
        if refusal.warn and profile.on_loop_because is None:
            _log.warning(
                "%s runs on the loop thread: %s", profile.label, refusal.reason
            )

    def held_back(self, transaction: Transaction, inevitable: Transaction) -> None:
        """Tell that an answer has to wait for an inevitable transaction."""
        number, label = transaction.number, transaction.profile.label
        self._tell(Waited(number, label, inevitable.number))

    def conflicted(
        self, transaction: Transaction, outcome: Outcome, conflict: Conflict
    ) -> None:
        """Tell that an attempt was aborted by a commit."""
        number, label = transaction.number, transaction.profile.label
        self._tell(Conflicted(number, label, conflict, outcome.body_seconds))

    def at_bound(self, transaction: Transaction, conflict: Conflict) -> None:
        """Warn that all others will have to wait for a transaction, now and then.

        It is said once per function and container, and not too often per function: to
        find the container's name takes a while.
        """
        label, (number, _) = transaction.profile.label, conflict.cell
        now = time.monotonic()
        if (label, number) in self._warned or now < self._next_warning.get(label, 0.0):
            return
        self._warned.add((label, number))
        self._next_warning[label] = now + REPORT_SECONDS
        _log.warning(
            "%s conflicted %d times on %s; running it again with other commits held "
            "back",
            label,
            transaction.conflicts,
            cell_name(conflict.cell),
        )

    def rejected(self, transaction: Transaction, waiting: int) -> None:
        """Warn now and then that calls are rejected because too many wait."""
        self._refused += 1
        now = time.monotonic()
        if now >= self._next_report:
            self._next_report = now + REPORT_SECONDS
            _log.warning(
                "queue full: rejected %d calls (last: %s); %d are waiting",
                self._refused,
                transaction.profile.label,
                waiting,
            )
            self._refused = 0

    def retried(self, transaction: Transaction, retry: Retry, waits: bool) -> None:
        """Tell that an attempt gave up until something changes; or has it already?"""
        number, label = transaction.number, transaction.profile.label
        self._tell(Retried(number, label, retry.body_seconds, waits))

    def woken(self, transaction: Transaction, timed_out: bool) -> None:
        """Tell that one that has waited runs again."""
        self._tell(Woken(transaction.number, transaction.profile.label, timed_out))

    def dropped(self, transaction: Transaction) -> None:
        """Tell that one that has waited will never run."""
        self._tell(Dropped(transaction.number, transaction.profile.label))

    def committed(
        self, transaction: Transaction, outcome: Outcome, version: int
    ) -> None:
        """Tell that a transaction took effect."""
        profile = transaction.profile
        timeout_seconds = transaction.call.timeout_seconds
        if (
            timeout_seconds is not None
            and outcome.body_seconds > timeout_seconds
            and (transaction.inline or not self._parallel)
        ):
            self.overran(profile.label, outcome.body_seconds, timeout_seconds)
        if self.listeners:
            self._tell(
                Committed(
                    transaction.number,
                    profile.label,
                    version,
                    outcome.body_seconds,
                    transaction.inline,
                    outcome.failed,
                )
            )

    def closed(self) -> None:
        """Tell that nothing more will happen."""
        self._tell(Closed())

    def overran(self, label: str, seconds: float, timeout_seconds: float) -> None:
        """Warn once of a function that a timeout could not end, where it ran."""
        if label in self._overran_labels:
            return
        self._overran_labels.add(label)
        _log.warning(
            "%s ran for %.3g s on the loop thread, where no timeout can end it; it "
            "should have been %g s at most",
            label,
            seconds,
            timeout_seconds,
        )

    def _tell(self, event: Event) -> None:
        """Tell all listeners; one that raises is removed."""
        for listener in list(self.listeners):
            try:
                listener(event)
            except Exception:
                self.listeners.remove(listener)
                _log.exception("the listener %r failed and was removed", listener)
