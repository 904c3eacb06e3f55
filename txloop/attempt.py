"""One run of a transaction: what it read, what it would write, what it would do.

`run_attempt` runs a call against a snapshot of the store and returns an `Outcome`; it
changes nothing that anybody else can see. An attempt belongs to the thread that runs
it, which finds it with `current`.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Never

from txloop.errors import BecomeInevitable, TxForgottenError, TxInternalError
from txloop.store import Container, Write, committed, forgotten_message
from txloop.timing import BodyTimer
from txloop.types import MISSING, Call, Cell, Effect, Key, Outcome, Refusal, Unsendable

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Hashable, Iterator

__all__ = ["Attempt", "current", "inevitable", "on_commit", "run_attempt"]


class Attempt:
    """The reads, writes and effects of one run so far.

    Attributes:
        snapshot: The version that it reads.
        speculative: Whether it may still be thrown away. An attempt on the loop
            thread is not: nothing can interfere before its commit.
        values: Cells whose value it read.
        presences: Cells of which it learnt only whether the key was there.
        writes: By container number, what it writes there.
        abandoned: Why it has to start anew on the loop thread, or None.
        error_answered: Whether it raised and made the answer to that itself.
        effects: What to run at commit.
        records: Log records to emit at commit.
    """

    __slots__ = (
        "abandoned",
        "effects",
        "error_answered",
        "presences",
        "records",
        "snapshot",
        "speculative",
        "values",
        "writes",
    )

    def __init__(self, snapshot: int, speculative: bool) -> None:
        self.snapshot = snapshot
        self.speculative = speculative
        self.values: set[Cell] = set()
        self.presences: set[Cell] = set()
        self.writes: dict[int, _Writes] = {}
        self.abandoned: str | None = None
        self.error_answered = False
        self.effects: list[Effect] = []
        self.records: list[logging.LogRecord] = []

    def read(self, container: Container, key: Hashable) -> object:
        """Return the value of a cell, or MISSING, and remember having read it."""
        number = container._number
        own = self.writes.get(number)
        if own is not None and key in own.values:
            return own.values[key]
        self.values.add((number, key))
        value = committed.read_at(container, key, self.snapshot)
        if value.__class__ is Unsendable or container._forgotten:
            self._refuse(container, value)
        return value

    def has(self, container: Container, key: Hashable) -> bool:
        """Tell whether a key is there, remembering no more than that."""
        number = container._number
        own = self.writes.get(number)
        if own is not None and key in own.values:
            return own.values[key] is not MISSING
        self.presences.add((number, key))
        if container._forgotten:
            self._refuse(container, None)
        return committed.read_at(container, key, self.snapshot) is not MISSING

    def write(self, container: Container, key: Hashable, value: object) -> None:
        """Set a cell for this attempt; MISSING deletes."""
        own = self.writes.get(container._number)
        if own is None:
            if container._forgotten:
                self._refuse(container, None)
            own = self.writes[container._number] = _Writes(container)
        if value is MISSING:
            own.deleted.add(key)
        elif own.values.get(key) is MISSING:
            del own.values[key]  # a key that comes back goes to the end
        own.values[key] = value

    def size(self, container: Container) -> int:
        """Return the number of keys, remembering that their coming and going counts."""
        self.values.add((container._number, Key.KEYS))
        if container._forgotten:
            self._refuse(container, None)
        size = committed.size_at(container, self.snapshot)
        own = self.writes.get(container._number)
        if own is not None:
            for key, value in own.values.items():
                before = committed.read_at(container, key, self.snapshot)
                size += (value is not MISSING) - (before is not MISSING)
        return size

    def keys(self, container: Container) -> list[Hashable]:
        """Return the keys in insertion order, remembering that they count."""
        self.values.add((container._number, Key.KEYS))
        if container._forgotten:
            self._refuse(container, None)
        found = committed.items_at(container, self.snapshot)
        own = self.writes.get(container._number)
        if own is None:
            return [key for key, _ in found]
        keys = dict.fromkeys(key for key, _ in found if key not in own.deleted)
        added = (key for key, new in own.values.items() if new is not MISSING)
        keys.update(dict.fromkeys(added))
        return list(keys)

    def _refuse(self, container: Container, value: object) -> Never:
        if isinstance(value, Unsendable):
            self.abandon(f"it reads a value that does not pickle ({value.reason})")
        raise TxForgottenError(forgotten_message(container))

    def roll_back(self) -> None:
        """Undo the writes and drop the effects; what was read and logged stays."""
        self.writes.clear()
        self.effects.clear()

    def abandon(self, reason: str) -> Never:
        """Give this attempt up: its call has to start anew on the loop thread."""
        self.abandoned = reason
        raise BecomeInevitable(reason)

    def outcome(
        self, value: object, error: BaseException | None, body_seconds: float
    ) -> Outcome:
        """Freeze what is known now."""
        return Outcome(
            self.snapshot,
            value,
            error,
            frozenset(self.values),
            frozenset(self.presences),
            tuple(write for own in self.writes.values() for write in own.in_order()),
            tuple(self.effects),
            tuple(self.records),
            body_seconds,
            self.error_answered,
        )


class _Writes:
    """What one attempt writes to one container."""

    __slots__ = ("container", "deleted", "values")

    def __init__(self, container: Container) -> None:
        self.container = container
        self.values: dict[Hashable, object] = {}
        self.deleted: set[Hashable] = set()  # at least for a while

    def in_order(self) -> Iterator[Write]:
        for key, value in self.values.items():
            if key in self.deleted and value is not MISSING:
                yield self.container, key, MISSING
            yield self.container, key, value


class _Running(threading.local):
    # Not a ContextVar: contexts are inherited by tasks that outlive the attempt.
    attempt: Attempt | None = None


_running = _Running()


def current() -> Attempt | None:
    """Return the attempt that this thread runs, or None outside a transaction."""
    return _running.attempt


def on_commit(function: Callable[..., object], *args: object, **kwargs: object) -> None:
    """Run ``function(*args, **kwargs)`` on the loop thread when this commits.

    Effects run in the order in which they were asked for, each exactly once, and not
    at all when the attempt is aborted or ends with an exception. An effect that raises
    is logged; the others run. Outside a transaction the function runs at once. May be
    called by any thread that runs an attempt.
    """
    attempt = _running.attempt
    if attempt is None:
        function(*args, **kwargs)
        return
    attempt.effects.append(Effect(function, args, kwargs, _caller()))


def inevitable() -> None:
    """Make sure that this attempt is the last: from here on nothing is run again.

    On the loop thread it returns at once. Elsewhere the attempt is abandoned and the
    call starts anew on the loop thread; later calls of the same function go there
    directly. Outside a transaction it does nothing.
    """
    attempt = _running.attempt
    if attempt is not None and attempt.speculative:
        attempt.abandon("it asks to be inevitable")


def run_attempt(
    call: Call, *, speculative: bool, keep_reads: bool = True
) -> Outcome | Refusal:
    """Run `call` once against the newest version, on this thread.

    Args:
        call: The transaction's function call.
        speculative: Whether the result may be thrown away; then what cannot be undone
            (the running loop, `inevitable`) ends it with a `Refusal`.
        keep_reads: Whether to report the reads even where they cannot matter.
    """
    attempt = Attempt(committed.version, speculative)
    value: object = None
    error: BaseException | None = None
    outer, _running.attempt = _running.attempt, attempt
    timer = BodyTimer()
    try:
        if speculative:
            with _no_running_loop():
                value = call.function(*call.args, **call.kwargs)
        else:
            value = call.function(*call.args, **call.kwargs)
    except BecomeInevitable:
        pass  # the attempt knows
    except BaseException as raised:  # whatever user code raises is its answer
        # The traceback starts in user code; our frame in it would be a cycle.
        trace = raised.__traceback__
        error = raised.with_traceback(trace.tb_next if trace else None)
        del trace
        if not isinstance(raised, call.commits_on):
            attempt.roll_back()
    finally:
        _running.attempt = outer
    if attempt.abandoned is not None:  # even if user code caught BecomeInevitable
        return Refusal(attempt.abandoned, warn=False)
    failed = error is not None or attempt.error_answered
    if not (keep_reads or attempt.writes or failed or call.ordered):
        # Correct at its snapshot, whatever was committed since.
        attempt.values.clear()
        attempt.presences.clear()
    return attempt.outcome(value, error, timer.seconds())


class _ForbiddenLoop:
    """Stands in for the running loop: touching it cannot be undone."""

    def __getattr__(self, name: str) -> Never:
        attempt = _running.attempt
        if attempt is None:
            raise TxInternalError(f"no attempt runs, yet the loop's {name} is hidden")
        attempt.abandon("it uses the running event loop")


_forbidden_loop = _ForbiddenLoop()


@contextmanager
def _no_running_loop() -> Iterator[None]:
    # The running loop is per thread, so this hides it from nobody else.
    before = asyncio._get_running_loop()
    asyncio._set_running_loop(_forbidden_loop)  # type: ignore[arg-type] # see the class
    try:
        yield
    finally:
        asyncio._set_running_loop(before)


def _caller() -> str:
    frame = sys._getframe(2)
    return f'File "{frame.f_code.co_filename}", line {frame.f_lineno}'
