"""Functions that are held on the loop thread because plain objects have changed.

What a function can reach is looked at before a call of it is sent away and when its
answer is there (see `txloop.watch`). If something has changed, a copy of the program
elsewhere is out of date or spoilt: the function stays here, with one warning. When it
has changed nothing for a while, it may leave again, to new copies.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from txloop.stm.types import Refusal

if TYPE_CHECKING:
    from txloop.engine.profile import Profile
    from txloop.engine.reporting import Reporter
    from txloop.engine.transaction import Transaction
    from txloop.engine.waiting import Timers
    from txloop.executors.protocol import Executor
    from txloop.stm.types import Ready
    from txloop.watch import Change, Subject

__all__ = ["Holds"]

RENEW_SECONDS = 0.1
"""How long to wait for others that may leave, before workers are forked anew."""

RENEW_SHARE = 0.1
"""The share of the loop thread's time that this may take."""

_LATE = (
    "workers were forked before it was known what it reaches, and cannot be forked "
    "anew while the program has threads; mark with @transactional(trust=True) if "
    "nothing of it changes but containers"
)
_SINCE = "since workers were forked, the program has changed"

_log = logging.getLogger("txloop")


class Holds:
    """Which functions are held, and until when; used by the loop thread only."""

    def __init__(self, executor: Executor, reporter: Reporter, timers: Timers) -> None:
        """Begin without any.

        Args:
            executor: From where functions are held back.
            reporter: Told of each.
            timers: The running event loop.
        """
        self._executor = executor
        self._watch = executor.watch
        self._reporter = reporter
        self._timers = timers
        self._settled: list[Profile] = []
        self._renew_seconds = RENEW_SECONDS
        self._closed = False

    def close(self) -> None:
        """Let nothing leave any more."""
        self._closed = True
        self._settled.clear()
        if self._watch is not None:
            self._watch.close()

    def note(self) -> None:
        """Take note that code of the program has run on the loop thread."""
        if self._watch is not None:
            self._watch.note()

    def check_call(self, transaction: Transaction) -> bool:
        """Hold the function of a call if it cannot run elsewhere as it would run here.

        Returns:
            Whether it is held, so that the call has to run here.
        """
        profile = transaction.profile
        if profile.on_loop_because is not None:
            return True
        subject = self._subject_of(transaction)
        if subject is None or self._watch is None:
            return False
        held = subject.reach.held
        holds = held is not None and (held.is_missed or not profile.examined)
        if not profile.examined:
            profile.examined = True
            # Threads change the very objects: before it is known that a function does
            # not, it does not run beside itself.
            profile.unproven = not self._watch.copies
            self._tell_caches(profile.label, subject)
            if subject.is_late and not holds:
                _log.info(
                    "%s runs on the loop thread until workers are forked anew: it "
                    "reaches objects that were not looked at when they were",
                    profile.label,
                )
                profile.on_loop_because = _LATE
                self._may_leave(profile)
                return True
        if holds:  # perhaps only since workers are new
            profile.on_loop_because = subject.held
            _log.warning(
                "%s runs on the loop thread: %s", profile.label, profile.on_loop_because
            )
            return True
        return self._watch.copies and self._check_copies(transaction)

    def _check_copies(self, transaction: Transaction) -> bool:
        """Hold the function of a call if a copy of the program would not do."""
        change = self._look(transaction)
        if change is not None:
            self._hold(transaction, change.describe(_SINCE))
        return change is not None

    def _tell_caches(self, label: str, subject: Subject) -> None:
        """Log what is not held although it is not quite right, once per function."""
        # Threads use the same one.
        copied = self._watch is not None and self._watch.copies
        for name in subject.reach.caches if copied else ():
            _log.info("%s uses the cache of %s: each worker has its own", label, name)
        if not subject.reach.complete:
            _log.warning(
                "%s reaches more than %d plain objects: changes of the others are not "
                "seen; keep them in txloop containers if there are any, or mark with "
                "@transactional(trust=True)",
                label,
                len(subject.reach.watched),
            )

    def check_answer(self, transaction: Transaction) -> bool:
        """Hold the function of a call that has run away from here, if need be.

        Returns:
            Whether its answer does not count, so that the call has to run here.
        """
        if self._watch is None:
            return False
        if self._watch.copies:
            return self._check_copies(transaction)
        # The very objects have changed: to run it again would change them twice.
        change = self._look(transaction)
        if change is not None:
            self._hold(
                transaction, change.describe("it, or what runs beside it, changes")
            )
        return False

    def is_certain(self, transaction: Transaction) -> bool:
        """Tell whether nothing has changed of all that a call can reach, just now."""
        subject = self._subject_of(transaction)
        if subject is None or self._watch is None:
            return True
        return self._watch.is_certain(subject)

    def _look(self, transaction: Transaction) -> Change | None:
        """Return what has changed of all that a call can reach, or None."""
        subject = self._subject_of(transaction)
        if subject is None or self._watch is None:
            return None
        return self._watch.look(subject)

    def _subject_of(self, transaction: Transaction) -> Subject | None:
        """Return what is watched of a call's function; None if nothing is."""
        if self._watch is None or not transaction.call.watched:
            return None
        if transaction.subject is None:
            transaction.subject = self._watch.subject_of(transaction.call)
        return transaction.subject

    def _hold(self, transaction: Transaction, reason: str) -> None:
        """Keep a function on the loop thread from now on, and warn of it."""
        refusal = Refusal(reason, settles=True)
        self._reporter.refused(transaction, refusal)
        transaction.profile.note_refusal(refusal)
        self.refused(transaction, refusal)

    def refused(self, transaction: Transaction, refusal: Refusal) -> None:
        """Take note that an attempt was refused, and why."""
        if not refusal.settles or self._watch is None:
            return
        subject = self._subject_of(transaction)
        if subject is not None:
            self._watch.hold(subject)
            transaction.profile.may_settle = subject.settling is not None

    def ran_here(self, profile: Profile, ready: Ready) -> None:
        """Take note of a run on the loop thread; a held function may have settled."""
        if self._watch is None:
            return
        self._watch.note()
        if not profile.may_settle:
            return
        subject = self._watch.subject_of(ready.call())
        if self._watch.has_settled(subject):
            subject.settling = None
            profile.may_settle = False
            self._may_leave(profile)

    def _may_leave(self, profile: Profile) -> None:
        """Let a function leave as soon as workers have been forked anew."""
        self._settled.append(profile)
        if len(self._settled) == 1:
            self._timers.call_later(self._renew_seconds, self._renew)

    def _renew(self) -> None:
        """Let those leave that have settled, to copies that know what is here now."""
        if self._closed:
            return
        settled, self._settled = self._settled, []
        started = time.monotonic()
        renewed = self._executor.renew()
        spent = time.monotonic() - started
        self._renew_seconds = max(RENEW_SECONDS, spent / RENEW_SHARE)
        if not renewed:
            _log.info("workers cannot be forked anew while the program has threads")
            for profile in settled:
                if profile.on_loop_because is _LATE:  # not warned of yet
                    _log.warning("%s runs on the loop thread: %s", profile.label, _LATE)
            return
        for profile in settled:
            _log.info(
                "%s runs in parallel again: it changes nothing now", profile.label
            )
            profile.on_loop_because = None
