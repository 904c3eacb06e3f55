"""All functions under watch in one process, on the loop thread's side and a worker's.

**In a worker** nothing but attempts may change plain objects: what differs after one
was changed by it, and the worker's copy is spoilt. **On the loop thread** anything may
change them; what differs from the picture that was taken when the workers were forked
is out of date in them.

An *epoch* is the time between two moments at which code of the program has run on the
loop thread, as far as that is noticed. A function is looked at again in a new epoch,
and after `limits.STALE_SECONDS` in any case: coroutines go on unnoticed.

Lazy initialisation changes plain objects, too, but in the first runs only. So what is
held because of a change is looked at after each run on the loop thread: when a number
of them in a row have changed nothing, workers are forked anew, with what there is then.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Protocol

from txloop.scan import patches
from txloop.watch import limits
from txloop.watch.parts import only_here
from txloop.watch.places import Held, Reach, Roots, roots_of
from txloop.watch.reach import census, reach_of
from txloop.watch.subject import Change, Subject, finding_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from txloop.scan import Finding, Patch
    from txloop.stm.types import Call
    from txloop.watch.places import Table

__all__ = ["Watch", "held_in_reach"]

_log = logging.getLogger("txloop")


def held_in_reach(roots: Roots) -> Finding | None:
    """Return why a function can never run in a copy of the process, or None."""
    held = reach_of(roots, {}).held
    return None if held is None else finding_of(held)


class Epochs(Protocol):
    """What can be told which epoch it is."""

    epoch: int


class Watch:
    """The functions under watch; owned by the loop thread.

    Attributes:
        copies: Whether attempts run in copies of this process, not in threads.
        epoch: Counts the moments at which code of the program has run here.
        page: Told each epoch, if other processes want to know it.
    """

    def __init__(self, copies: bool) -> None:
        self.copies = copies
        self.epoch = 0
        self.page: Epochs | None = None
        self._table: Table = {}
        self._subjects: dict[Hashable, Subject] = {}
        self._patches: tuple[Patch, ...] = ()  # since the last pictures
        self._pictured = False
        self._pictured_in = 0  # which epoch

    def take_pictures(
        self,
        things: Iterable[tuple[str, object]] = (),
        functions: Iterable[Roots] = (),
    ) -> None:
        """Picture all that the program has; called just before workers are forked.

        Args:
            things: What its modules may not lead to, with the program's names.
            functions: Those of which calls may come: all that they reach is pictured,
                however much there is besides.
        """
        self._table.clear()
        for roots in functions:
            if roots.key not in self._subjects:
                self._subjects[roots.key] = Subject(roots, Reach())
        self._patches = patches() if self._subjects else ()  # it reads all the code
        census(things, self._table, self._patches)
        for subject in self._subjects.values():
            subject.reach = self._reach_of(subject.roots)
            subject.epoch = self.epoch
            subject.is_late = False
            subject.begin_anew()
        self._pictured = True
        self._pictured_in = self.epoch

    def close(self) -> None:
        """Let go of all that is under watch."""
        self._table.clear()
        self._subjects.clear()

    def subject_of(self, call: Call) -> Subject:
        """Return what is known of a call's function."""
        return self.subject(roots_of(call.function, call.args))

    def subject(self, roots: Roots) -> Subject:
        """Return what is known of a function; it is walked when first seen."""
        subject = self._subjects.get(roots.key)
        if subject is None:
            known = len(self._table)
            reach = self._reach_of(roots)
            if not self.copies and reach.held is None:
                reach.held = _only_here(reach)
            subject = self._subjects[roots.key] = Subject(roots, reach)
            # Not this epoch: something may have changed since the workers were forked.
            subject.epoch = self.epoch - self._pictured
            changing = self._pictured and self.epoch != self._pictured_in
            subject.is_late = changing and len(self._table) > known
        return subject

    def _reach_of(self, roots: Roots) -> Reach:
        """Return what a function can reach; without pictures if it is held for that.

        It is never asked for a change then, and pictures keep alive what they show.
        """
        known = len(self._table)
        reach = reach_of(roots, self._table, self._patches)
        if reach.held is None:
            return reach
        while len(self._table) > known:
            self._table.popitem()
        return Reach(held=reach.held, caches=reach.caches)

    # On the loop thread

    def note(self) -> None:
        """Begin a new epoch: code of the program has run on the loop thread."""
        self.epoch += 1
        if self.page is not None:
            self.page.epoch = self.epoch

    def look(self, subject: Subject) -> Change | None:
        """Return what has changed since the workers were forked, or None.

        Args:
            subject: The function that is about to run away from here, or has run.
        """
        now = time.monotonic()
        elapsed = now - subject.looked_at
        changed = subject.epoch != self.epoch or not self.copies
        if not changed and elapsed < limits.STALE_SECONDS:
            return None
        subject.epoch, subject.looked_at = self.epoch, now
        credit_seconds = limits.LOOP_SHARE * min(elapsed, 1.0)
        return subject.look(credit_seconds + limits.LEAST_SECONDS * changed)

    def is_certain(self, subject: Subject) -> bool:
        """Tell whether nothing has changed since the workers were forked.

        Not so, either, if there is no time to look at everything.
        """
        now = time.monotonic()
        elapsed, subject.checked_at = now - subject.checked_at, now
        return subject.is_same(limits.SLEEP_SHARE * min(elapsed, 1.0))

    def hold(self, subject: Subject) -> None:
        """Let a function settle on the loop thread: something has changed."""
        subject.calm = 0
        if subject.settling is not None:
            return  # another of its calls has found the same
        subject.rounds += 1
        if subject.rounds < limits.MOST_ROUNDS:
            self._let_settle(subject)

    def has_settled(self, subject: Subject) -> bool:
        """Tell, after a run on the loop thread, whether a function may leave again."""
        settling = subject.settling
        if settling is None:
            return False
        if settling.look_at_all() is None:
            subject.calm += 1
        else:
            subject.calm = 0
            self._let_settle(subject)
        return subject.calm >= limits.CALM_RUNS

    def _let_settle(self, subject: Subject) -> None:
        """Picture what a function reaches now, if it may leave with that at all."""
        reach = reach_of(subject.roots, {}, self._patches)
        subject.settling = None if reach.held else Subject(subject.roots, reach)


def _only_here(reach: Reach) -> Held | None:
    """Return what is kept for the loop thread alone, so that no other one finds it."""
    for one in reach.watched:
        thing, names = one.thing, one.names
        if issubclass(type(thing.object), threading.local):
            for name in only_here(thing.object):
                if names is None or name in names.wanted:
                    return Held.of(f"{thing.name}.{name}", thing.object, one.place)
    return None
