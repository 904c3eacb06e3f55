"""The front's end of what lies between it and the owner, whatever carries it.

::

    front's side                                      owner's side
    web/fronts/front -- Carrier ---+       +--- Reception --- web/fronts/doorman
                                   |       |
    a process:   Replica ------- Link, a socket ------- FrontConnection, Desk
    a thread:    ThreadCarrier ------- Box ------- FrontThread, ThreadDesk

A process has a copy of the store that deltas bring up to date, and what it sends is
packed. A thread reads the store itself, and what it sends are the very objects.
"""

from __future__ import annotations

import abc
import enum
import itertools
import logging
from typing import TYPE_CHECKING, Any, Protocol

from txloop.stm.types import Outcome, Ready, Trace

if TYPE_CHECKING:
    import contextvars
    from collections.abc import Callable, Iterable, Sequence

    from txloop.executors.codec.contexts import Base
    from txloop.executors.fronts.page import Page, Slot
    from txloop.stm.types import Answer, Call
    from txloop.watch import Roots

__all__ = ["Carrier", "Kind", "Undoable", "Verdict"]

_log = logging.getLogger("txloop")


class Verdict(enum.IntEnum):
    """What has become of an outcome."""

    COMMITTED = 0
    CONFLICT = 1  # run it again
    ELSEWHERE = 2  # it has to run where the owner is


class Undoable(Ready, Protocol):
    """A call that may run, and then run again."""

    def undo(self) -> None:
        """Put everything back to how it was before it ran."""


class Kind(Protocol):
    """A kind of transactions that can run in a front."""

    @property
    def number(self) -> int:
        """What the owner counts them as."""

    @property
    def roots(self) -> Roots | None:
        """Where the walk of the watch begins; None if they are not watched."""

    @property
    def guarded(self) -> bool:
        """Whether they are stopped before they change anything outside the program."""

    @property
    def label(self) -> str:
        """What messages call them."""

    @property
    def timeout_seconds(self) -> float | None:
        """How long one may run; None for any time."""


class Carrier(abc.ABC):
    """The front's end; used by the front's only thread.

    Attributes:
        spoilt: Whether this copy of the program must not be used again.
        traced_from: What is added to this front's place to give the number under which
            attempts are traced; 0 if they are not.
    """

    def __init__(self, page: Page, base: Base) -> None:
        """Begin with nothing that was asked for.

        Args:
            page: What is shared with the owner.
            base: The context in which the program has started the fronts.
        """
        self.spoilt = False
        self.traced_from = 0
        self._page = page
        self._base = base
        self._slot: Slot | None = None
        self._place = 0
        self._numbers = itertools.count(1)
        self._unanswered: dict[int, Callable[[Outcome | None], object]] = {}
        self._ended: dict[int, Callable[[], object]] = {}
        self._undecided: dict[int, Callable[[Verdict], object]] = {}

    def take_place(self, place: int) -> None:
        """Count in the part of the page at `place` from now on."""
        self._place, self._slot = place, self._page.slot(place)

    @property
    def trouble(self) -> str | None:
        """Why it cannot follow the owner any more; None if it can."""
        return None  # a thread has nothing to follow

    @abc.abstractmethod
    def end(self) -> None:
        """Let this front end: the owner is gone, or wants that."""

    @property
    def busy(self) -> bool:
        """Whether verdicts or answers have not come yet."""
        return bool(self._undecided or self._unanswered)

    def count_gone(self) -> None:
        """Count a connection that has left."""
        if self._slot is not None:
            self._slot.gone += 1

    # What the owner sends

    @property
    @abc.abstractmethod
    def newest(self) -> tuple[int, int]:
        """What a transaction that is asked for now has to see; for `has_reached`."""

    @abc.abstractmethod
    def has_reached(self, needed: tuple[int, int]) -> bool:
        """Tell whether what was known outside at some time is known here."""

    @abc.abstractmethod
    def ask(self) -> None:
        """Have something to `receive` when all that is known outside is settled."""

    @abc.abstractmethod
    def receive(self) -> Sequence[tuple[tuple[Any, ...], int | None]]:
        """Receive what the owner has sent; return what it has told besides.

        Raises:
            EOFError: if the owner is gone, or wants this front to end.
            OSError: the same, seen otherwise.
        """

    def _take_verdicts(self, verdicts: Iterable[tuple[int, int]]) -> None:
        for number, verdict in verdicts:
            try:
                self._undecided.pop(number)(Verdict(verdict))
            except Exception:  # a connection's, hardly ours; the others are answered
                _log.exception("a request of a front could not be answered")

    # What the owner is sent

    @abc.abstractmethod
    def tell(self, note: tuple[Any, ...] | None, descriptor: int | None = None) -> None:
        """Tell the owner something, now; a descriptor is the owner's from then on."""

    @abc.abstractmethod
    def flush(self) -> None:
        """Let the owner have what attempts want committed and logged."""

    @abc.abstractmethod
    def log(self, record: logging.LogRecord) -> bool:
        """Keep a record for the owner's loggers; return whether it was the first."""

    # Transactions

    @abc.abstractmethod
    def run(self, ready: Undoable, kind: Kind) -> Answer | None:
        """Run something short at the newest version that may be read here.

        Args:
            ready: What to run.
            kind: What it is.

        Returns:
            The answer; None if the transaction has ended with its attempt.
        """

    def settle(self) -> bool:
        """Commit here and now what may be committed without the owner.

        Returns:
            Whether some waits for a moment at which it may; this is to be called again
            soon then, before a `flush` lets the owner have it.
        """
        return False  # threads have no such moments

    def commit(
        self, kind: Kind, outcome: Outcome, done: Callable[[Verdict], object]
    ) -> None:
        """Have an outcome committed with the next `flush`.

        Args:
            kind: What it is.
            outcome: The answer of the last `run`, without the value: that stays here.
            done: Takes the verdict.
        """
        number = next(self._numbers)
        self._undecided[number] = done
        self._post(number, kind, outcome)

    @abc.abstractmethod
    def _post(self, number: int, kind: Kind, answer: Answer) -> None:
        """Send the answer to an attempt with the next `flush`.

        Args:
            number: The transaction's; 0 if it has ended already, and is only told of.
            kind: What it is.
            answer: An outcome, if the transaction has not ended.
        """

    def _tell_of(
        self, kind: Kind, found: Answer | float, version: int, began_ns: int, now: int
    ) -> None:
        """Have the owner log an attempt that it would not hear of."""
        if isinstance(found, float):
            trace = Trace(self.traced_from + self._place, began_ns, now)
            found = Outcome(version, body_seconds=found, trace=trace)
        elif isinstance(found, Outcome):
            return  # its commit is asked for
        self._post(0, kind, found)

    # What is long

    @property
    def context(self) -> contextvars.Context:
        """That in which the program has started the fronts, a copy."""
        return self._base.context.copy()

    @abc.abstractmethod
    def forward(
        self, call: Call, kind: Kind, done: Callable[[Outcome | None], object]
    ) -> int:
        """Have the owner send a call to a worker.

        Args:
            call: The call; in a `context` of this carrier.
            kind: What it is.
            done: Takes its committed outcome; None if it has to run where the owner is.

        Returns:
            Its number, for `leave`; 0 if it cannot be sent.
        """

    def _send_call(
        self, call: object, kind: Kind, done: Callable[[Outcome | None], object]
    ) -> int:
        number = next(self._numbers)
        self._unanswered[number] = done
        self.tell(("call", number, kind.number, call))
        return number

    def leave(self, number: int) -> None:
        """Let go of a forwarded call, whose client has left."""
        self._ended.pop(number, None)
        if self._unanswered.pop(number, None) is not None:
            self.tell(("gone", number))

    def end_wait(self, number: int, close: Callable[[], object]) -> None:
        """Tell the owner that the client of a forwarded call has sent all it will.

        Args:
            number: The call's.
            close: Closes the connection; called if the call waits for a change: nothing
                else would tell that the client has left.
        """
        if number in self._unanswered:
            self._ended[number] = close
            self.tell(("ended", number))

    def _close(self, number: int) -> None:
        close = self._ended.pop(number, None)
        if self._unanswered.pop(number, None) is not None and close is not None:
            close()

    def _take_answer(self, number: int, outcome: object) -> None:
        self._ended.pop(number, None)
        done = self._unanswered.pop(number, None)
        if done is None:
            return  # its client has left
        done(outcome if isinstance(outcome, Outcome) else None)
