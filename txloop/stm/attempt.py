"""One run of a transaction: what it read, what it would write, what it would do.

It changes nothing that other code can see. An attempt belongs to the thread that runs
it (see `txloop.stm.run`), which finds it with `current`.
"""

from __future__ import annotations

import contextvars
import itertools
import operator
import threading
from typing import TYPE_CHECKING, Any, ClassVar, Never

from txloop.errors import (
    BecomeInevitable,
    Retrying,
    TxError,
    TxForgottenError,
)
from txloop.stm.callables import with_article
from txloop.stm.container import Container, forgotten_message
from txloop.stm.held import STRANGE
from txloop.stm.sets import Closed, ClosedSpans, KeyedWrites
from txloop.stm.store import committed
from txloop.stm.threads import gil_enabled
from txloop.stm.types import (
    MISSING,
    Cell,
    Effect,
    Key,
    Outcome,
    Retry,
    Trace,
    Unsendable,
    strange,
)
from txloop.stm.variables import Variables
from txloop.stm.versions import Entry, value_at

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Collection, Hashable, Mapping

    from txloop.stm.variables import OwnDecimals

__all__ = ["Attempt", "current", "make_current", "running"]


_number = operator.attrgetter("_tx_number")
_forgotten = operator.attrgetter("_tx_forgotten")


class Attempt:
    """The reads, writes and effects of one run so far.

    Attributes:
        snapshot: The version that it reads.
        speculative: Whether it may still be thrown away. An attempt on the loop
            thread is not: nothing can interfere before its commit.
        values: Cells whose value it read.
        ordered: Whether its transaction has a place in an order.
        presences: Cells of which it learnt only whether the key was there.
        item_reads: By list's number, how many single items of it were read.
        views: By list's number, its contents, where `Store.show` may not show them.
        spans: By list's number, the span of it that was read in slices: a cell, too.
        writes: By container number, what it writes there.
        abandoned: Why it has to start anew on the loop thread, or None.
        warns: Whether the program should be told of that.
        decimals: Its own copy of decimal's context, where it may be answered before
            that is looked at; else None.
        files: Those outside that it has read, where it is stopped before it changes
            any; None where it may.
        plead: Asks whether it may change some all the same, and why it would have to
            stay on the loop thread otherwise; None where that is not asked.
        error_answered: Whether it raised and made the answer to that itself.
        effects: What to run at commit.
        variables: The context variables that effects find: as they are at the end.
        records: Log records to emit at commit.
        retrying: Whether it is given up until something that it read changes.
        patience_seconds: The shortest timeout that it retried with, or None.
        waited_seconds: How long its transaction has waited before.
        alternatives: How many `or_else` have something else to try if it retries.
        unnoticed: Whether its function, a coroutine, must not notice it. Where that
            would, it runs as in stock Tornado instead.
        fixed: What happened that cannot be undone, so that it cannot retry, or None.
        traced: Whether it notes where in the source things happen: `TracedAttempt`.
        notes: Whether it notes what it reads: all but a `ReadingAttempt`.
    """

    traced: ClassVar[bool] = False
    notes: ClassVar[bool] = True

    __slots__ = (
        "abandoned",
        "alternatives",
        "decimals",
        "effects",
        "error_answered",
        "files",
        "fixed",
        "item_reads",
        "ordered",
        "patience_seconds",
        "plead",
        "presences",
        "records",
        "retrying",
        "snapshot",
        "spans",
        "speculative",
        "unnoticed",
        "values",
        "variables",
        "views",
        "waited_seconds",
        "warns",
        "writes",
    )

    def __init__(
        self,
        snapshot: int,
        speculative: bool,
        context: contextvars.Context | None = None,
    ) -> None:
        """Begin one.

        Args:
            snapshot: The version that it reads.
            speculative: Whether it may still be thrown away.
            context: The one in which it runs, where that does not travel; None: a copy.
        """
        self.snapshot = snapshot
        self.speculative = speculative
        self.values: set[Cell] = set()
        self.presences: set[Cell] = set()
        self.ordered = False
        self.unnoticed = False
        self.item_reads: dict[int, int] = {}
        self.spans: dict[int, tuple[int, int]] = {}
        self.views: dict[int, list[Any]] = {}
        self.writes: dict[int, Any] = {}  # each container knows the class of its own
        self.abandoned: str | None = None
        self.warns = False
        self.files: set[str] | None = None
        self.decimals: OwnDecimals | None = None
        self.plead: Callable[[Attempt, str], bool] | None = None
        self.error_answered = False
        self.effects: list[Effect] = []
        self.variables = Variables(
            contextvars.copy_context() if context is None else context
        )
        self.records: list[logging.LogRecord] = []
        self.retrying = False
        self.patience_seconds: float | None = None
        self.waited_seconds = 0.0
        self.alternatives = 0
        self.fixed: str | None = None

    def read(self, container: Container, key: Hashable) -> object:
        """Return the value of a cell, or MISSING, and remember having read it."""
        number = container._tx_number
        if number in self.writes:
            own = self.writes[number]
            if own.cleared or key in own.values:
                return own.values.get(key, MISSING)
        # Not by `Store.read_at`: nothing is called more often than this.
        value = container._tx_cells.get(key, MISSING)
        if type(value) is Entry:
            value = value_at(value, self.snapshot)
        self.values.add((number, key))  # after it: see `condemn`
        if container._tx_forgotten or strange.seen:
            self.check_read(container, key, value)
        return value

    def has(self, container: Container, key: Hashable) -> bool:
        """Tell whether a key is there, remembering no more than that."""
        number = container._tx_number
        if number in self.writes:
            own = self.writes[number]
            if own.cleared or key in own.values:
                return own.values.get(key, MISSING) is not MISSING
        value = container._tx_cells.get(key, MISSING)
        if type(value) is Entry:
            value = value_at(value, self.snapshot)
        self.presences.add((number, key))
        if container._tx_forgotten or (strange.seen and type(key) in STRANGE):
            self.check(container, None, key)
        return value is not MISSING

    def write(self, container: Container, key: Hashable, value: object) -> None:
        """Set a cell for this attempt; MISSING deletes."""
        if strange.seen and type(key) in STRANGE:
            self.check(container, None, key)
        own = self.writes.get(container._tx_number) or self._own(container)
        if value is MISSING:
            own.deleted.add(key)
        elif own.values.get(key) is MISSING:
            del own.values[key]  # a key that comes back goes to the end
        own.values[key] = value

    def _own(self, container: Container) -> KeyedWrites:
        own: KeyedWrites | None = self.writes.get(container._tx_number)
        if own is None:
            if container._tx_forgotten:
                self.refuse(container)
            own = self.writes[container._tx_number] = KeyedWrites(container)
        return own

    def write_all(self, container: Container, values: Mapping[Any, object]) -> None:
        """Set many cells for this attempt."""
        if not values:
            return
        own = self._own(container)
        if self.traced:
            for key, value in values.items():
                self.write(container, key, value)
            return
        for key in own.deleted:
            if key in values and own.values.get(key) is MISSING:
                del own.values[key]  # as in `write`
        own.values.update(values)

    def begin(self, container: Container, values: dict[Any, object]) -> None:
        """Set the cells of a container that was made just now; takes the dict over."""
        if values and not self.traced:
            self._own(container).values = values
        else:
            self.write_all(container, values)

    def clear(self, container: Container) -> None:
        """Delete whatever is there at the commit; nothing is read."""
        if container._tx_forgotten:
            self.refuse(container)
        own = self.writes[container._tx_number] = KeyedWrites(container)
        own.cleared = True

    def contents(self, container: Container) -> dict[Hashable, object]:
        """Return all keys and values in insertion order, remembered as one read."""
        own: KeyedWrites | None = self.writes.get(container._tx_number)
        if own is not None and own.cleared:
            return own.present()
        found = committed.contents_at(container, self.snapshot)
        self.values.add((container._tx_number, Key.ALL))
        if container._tx_forgotten:
            self.refuse(container)
        if own is not None:
            for key in own.deleted:
                found.pop(key, None)
            found.update(own.present())
        if strange.seen:
            self._refuse_unsendable(container, found)
            self._refuse_unsendable(container, found.values())
        return found

    @property
    def settled(self) -> int:
        """As `Store.settled`, for who reads all of a container next; see `note_all`."""
        return min(committed.settled, self.snapshot)

    def note_all(self, container: Container) -> bool:
        """Remember that all of a container was read; return whether it may be so."""
        if strange.seen or container._tx_number in self.writes:
            return False
        self.values.add((container._tx_number, Key.ALL))
        if container._tx_forgotten:
            self.refuse(container)
        return True

    def note_whole(self, containers: Collection[Container]) -> bool:
        """Do as `note_all` for each of these, or for none of them."""
        if strange.seen or self.traced or any(map(_forgotten, containers)):
            return all(map(self.note_all, containers))
        numbers = [*map(_number, containers)]
        if not self.writes.keys().isdisjoint(numbers):
            return False
        self.values.update(zip(numbers, itertools.repeat(Key.ALL)))
        return True

    def size(self, container: Container) -> int:
        """Return the number of keys, remembering that their coming and going counts."""
        own = self.writes.get(container._tx_number)
        if own is not None and own.cleared:
            return len(own.present())
        size = committed.size_at(container, self.snapshot)
        if own is not None:
            for key, value in own.values.items():
                before = committed.read_at(container, key, self.snapshot)
                size += (value is not MISSING) - (before is not MISSING)
        self.values.add((container._tx_number, Key.KEYS))
        if container._tx_forgotten:
            self.refuse(container)
        return size

    def keys(self, container: Container) -> list[Hashable]:
        """Return the keys in insertion order, remembering that they count."""
        own = self.writes.get(container._tx_number)
        if own is not None and own.cleared:
            return list(own.present())
        found = committed.keys_at(container, self.snapshot)
        self.values.add((container._tx_number, Key.KEYS))
        if container._tx_forgotten:
            self.refuse(container)
        if strange.seen:
            self._refuse_unsendable(container, found)
        if own is None:
            return found
        keys = dict.fromkeys(key for key in found if key not in own.deleted)
        keys.update(dict.fromkeys(own.present()))
        return list(keys)

    def _refuse_unsendable(
        self, container: Container, things: Collection[object]
    ) -> None:
        if STRANGE.isdisjoint(map(type, things)):
            return
        for thing in things:
            if type(thing) in STRANGE:
                self.check(container, thing)

    def check_read(self, container: Container, key: Hashable, value: object) -> None:
        """Do as `check` for the value of a cell, and its key, where it may matter."""
        if container._tx_forgotten or type(value) in STRANGE or (type(key) in STRANGE):
            self.check(container, value, key)

    def check(self, container: Container, *things: object) -> None:
        """End this attempt at what must not be seen here.

        Args:
            container: One that may be forgotten.
            things: What was read of it, which may be there in name only, or belong to
                the loop thread.
        """
        if container._tx_forgotten:
            self.refuse(container)
        for thing in things:
            if isinstance(thing, Unsendable):
                self.abandon(f"it reads a value that does not pickle ({thing.reason})")
            elif self.speculative and type(thing) in STRANGE:
                self.abandon(
                    f"it uses {with_article(type(thing).__qualname__)} of a container, "
                    "which means something on the loop thread only"
                )

    def refuse(self, container: Container) -> Never:
        """End this attempt at a container that was forgotten."""
        raise TxForgottenError(forgotten_message(container))

    def roll_back(self) -> None:
        """Undo the writes and drop the effects; what was read and logged stays."""
        self.writes.clear()
        self.effects.clear()
        self.forget_views()

    def forget_views(self) -> None:
        """Make containers ask again: what they show may be no longer so."""
        committed.forget_views()
        self.views.clear()

    def condemn(self) -> None:
        """Cancel it: its next read raises. Callable from any thread.

        What it reads from then on may be gone. It cannot tell: each read is noted when
        it is done, and that fails.
        """
        self.values = self.presences = Closed()
        self.spans = ClosedSpans()

    def values_read(self) -> frozenset[Cell]:
        """Return the cells of which it has learnt the value."""
        return frozenset(self.values.union(self.spans.items()))

    def forget_reads(self) -> None:
        """Report no reads: what it returns is right, whatever was committed since."""
        self.values.clear()
        self.spans.clear()
        self.presences.clear()

    def abandon(self, reason: str) -> Never:
        """Give this attempt up: its call has to start anew on the loop thread."""
        self.abandoned = reason
        raise BecomeInevitable(reason)

    def reveal(self, reason: str) -> None:
        """Give it up if its function would notice it now, and must not."""
        if self.unnoticed and self.speculative:
            self.abandon(reason)

    def stay(self, version: int) -> None:
        """Make it one that is not thrown away: it goes on as if on the loop thread.

        Args:
            version: What it reads from now on; all that it has read is the same there.
        """
        self.snapshot = version
        self.speculative = False
        self.files = None

    def retry(self, timeout_seconds: float | None) -> Never:
        """Give this attempt up until something that it has read changes.

        Raises:
            TxError: if it must not run again, or if nothing could ever wake it.
        """
        given = (self.patience_seconds, timeout_seconds)
        patience = min((one for one in given if one is not None), default=None)
        if self.fixed is not None:
            raise TxError(
                f"retry() would run the transaction again, but {self.fixed}; call "
                "retry() before that"
            )
        if patience is None and not (
            self.alternatives or self.values or self.presences or self.spans
        ):
            raise TxError(
                "retry() would wait for ever: the transaction has read nothing that "
                "could change; read a container first, or give a timeout"
            )
        self.patience_seconds = patience
        self.retrying = True
        raise Retrying

    def has_results(self) -> bool:
        """Tell whether there is anything that others have to decide, or to do."""
        return bool(
            self.writes
            or self.effects
            or self.records
            or self.files
            or self.error_answered
            or (self.decimals is not None and self.decimals.changed)
        )

    def note_write(self, container: Container, keys: Collection[Hashable]) -> None:
        """Note the line that writes; called where `traced`. No keys: all of it."""

    def trace(self, worker: int) -> Trace | None:
        """Return when and where it ran, where `traced`."""

    def given_up(self, body_seconds: float, trace: Trace | None = None) -> Retry:
        """Freeze what is known now, after `retry`."""
        return Retry(
            self.snapshot,
            self.values_read(),
            frozenset(self.presences),
            self.patience_seconds,
            body_seconds,
            trace,
        )

    def written(self) -> tuple[tuple[Container, Hashable, Any], ...]:
        """Return what it writes, in the order of the first write to each."""
        writes: list[tuple[Container, Hashable, Any]] = []
        for own in self.writes.values():
            writes += own.in_order()
        return tuple(writes)

    def outcome(
        self,
        value: object,
        error: BaseException | None,
        body_seconds: float,
        trace: Trace | None = None,
    ) -> Outcome:
        """Freeze what is known now; called in the context that the function left."""
        if self.effects and self.variables.context is None:
            self.variables.context = contextvars.copy_context()
        return Outcome(
            self.snapshot,
            value,
            error,
            self.values_read(),
            frozenset(self.presences),
            self.written(),
            tuple(self.effects),
            tuple(self.records),
            body_seconds,
            self.error_answered,
            trace,
            frozenset(self.files or ()),
        )


class _Running(threading.local):
    # Not a ContextVar: contexts are inherited by tasks that outlive the attempt.
    attempt: Attempt | None = None


running = _Running()
"""Has what this thread runs as its `attempt`; for containers, which save a call so."""

_AT_ONCE = not gil_enabled()


def current() -> Attempt | None:
    """Return the attempt that this thread runs, or None outside a transaction."""
    return running.attempt


def make_current(attempt: Attempt | None) -> None:
    """Let this thread run `attempt` from now on, or none, whatever it ran before."""
    running.attempt = attempt
    # Other threads than this one have attempts only while there are `readers`.
    notes = attempt is not None and attempt.notes
    committed.noting = notes or _AT_ONCE or bool(committed.readers)
