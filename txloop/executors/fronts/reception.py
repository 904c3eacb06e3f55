"""The owner's side of all fronts of one loop, whatever lies between: see `Carrier`."""

from __future__ import annotations

import abc
import contextvars
import functools
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from txloop.executors.codec.contexts import Base
from txloop.executors.crew import Tally
from txloop.executors.fronts.carrier import Verdict
from txloop.executors.fronts.page import Page
from txloop.executors.protocol import Reactor
from txloop.stm.callables import weakly
from txloop.stm.store import committed
from txloop.stm.types import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from txloop.executors.fronts.page import Slot
    from txloop.executors.worker_protocol import Limits
    from txloop.stm.container import Write
    from txloop.stm.types import Answer, Conflict

__all__ = ["Callbacks", "DeskReactor", "FrontEnd", "Reception"]

_log = logging.getLogger("txloop")


class DeskReactor(Reactor, Protocol):
    """What is needed of the running event loop."""

    def call_soon(
        self,
        callback: Callable[..., object],
        *args: object,
        context: contextvars.Context | None = None,
    ) -> object:
        """Call `callback` in the next iteration."""


class FrontEnd(abc.ABC):
    """The owner's end of one front; owned by the loop thread.

    Attributes:
        place: Its number among those that there are, from 1.
        slot: What it writes in the page.
        pid: The system's number of the process or thread; 0 until it has begun.
        ready: Whether it can be given connections.
        lost: Whether it was closed here.
        given: How many connections it was given.
        verdicts: Those that it has not been sent.
        notes: What it has not been told.
        calls_open: What the owner calls those that it has forwarded, by their numbers.
    """

    def __init__(self, place: int, slot: Slot) -> None:
        """Begin with nothing that it was told; of those before it, nothing is left."""
        self.place = place
        self.slot = slot
        self.pid = 0
        self.ready = self.lost = False
        self.given = slot.gone
        self.verdicts: list[tuple[int, int]] = []
        self.notes: list[tuple[Any, ...]] = []
        self.calls_open: dict[int, int] = {}

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """What messages call it."""

    @property
    @abc.abstractmethod
    def open(self) -> bool:
        """Whether it takes connections."""

    @property
    def connections(self) -> int:
        """How many it has."""
        return self.given - self.slot.gone

    def keeps(self, version: int) -> bool:
        """Tell whether it can be told what has changed since a version.

        Not so where it has had no connection since, as one that closes while a
        transaction of it runs.
        """
        return True

    @abc.abstractmethod
    def tell(self, note: tuple[Any, ...], descriptor: int | None = None) -> None:
        """Tell it something now, with a descriptor that is the front's from then on."""

    @abc.abstractmethod
    def end_call(self, cause: str, seconds: float) -> None:
        """End the call that runs, whose time is up.

        Args:
            cause: What is said if the front has to end for it.
            seconds: For how long its time has been up.
        """


@dataclass(frozen=True, slots=True)
class Callbacks:
    """What is called for what fronts say; on the loop thread.

    Attributes:
        on_outcome: Given what a front wants committed: its number there, its kind, and
            the outcome, whose snapshot is open. Has to lead to `Reception.decided`.
        on_ran: Given the kind and the answer of an attempt that has ended in a front,
            if attempts are traced.
        on_call: Given what a front wants to run in a worker: its number there, its
            kind, and the call, packed if it comes from another process. Has to lead to
            `Reception.answer`.
        on_committed: Given a kind, how many transactions of it fronts have committed by
            themselves, how many of these keep all processes busy, and for how long one
            has kept this one.
        on_aborted: Given a kind, why fronts have aborted an attempt of it by
            themselves, and for how long that had run.
        on_leave: Given what was noted in `FrontEnd.calls_open` of a call whose answer
            is not wanted any more; or may be of use, if something is given besides,
            which is called if the call is dropped all the same.
        on_note: Given what a front tells besides, and a descriptor.
        on_greeting: Called when a front is ready.
    """

    on_outcome: Callable[[Any, int, int, Outcome], object]
    on_ran: Callable[[int, Answer], object]
    on_call: Callable[[Any, int, int, Any], object]
    on_committed: Callable[[int, int, int, float], object]
    on_aborted: Callable[[int, Conflict, float], object]
    on_leave: Callable[[int, Callable[[], object] | None], object]
    on_note: Callable[[Any, tuple[Any, ...], int | None], object]
    on_greeting: Callable[[Any], object]


class Reception(abc.ABC):
    """All fronts of one loop; used by the loop thread only.

    Attributes:
        page: What is shared with all of them.
        context: In which the program has started them.
        tally: What has become of others.
        copies: Whether they are copies of the program: then they may be out of date,
            and calls in them can be ended.
    """

    copies: bool
    hears_births = False  # the executor's log does
    grows = True

    def __init__(self, limits: Limits, callbacks: Callbacks) -> None:
        """Begin without any front, in the current context.

        Args:
            limits: How long to wait for what.
            callbacks: Called for what fronts say.
        """
        self.page = Page()
        self.context = contextvars.copy_context()
        self._base = Base()
        self._limits = limits
        self._callbacks = callbacks
        self.tally = Tally()
        self._reactor: DeskReactor | None = None
        self._flushes = False
        self._deciding: object = None  # writes that need not be known at once
        self._told_since: dict[int, int] = {}  # of calls that run for long, by place

    @property
    @abc.abstractmethod
    def fronts(self) -> Sequence[FrontEnd]:
        """Those that there are."""

    @abc.abstractmethod
    def start(self, reactor: DeskReactor) -> None:
        """Start them."""

    @abc.abstractmethod
    def retire(self) -> None:
        """Let all of them hand their connections back, and end."""

    @abc.abstractmethod
    def close(self) -> None:
        """End all of them."""

    def _begin(self, reactor: DeskReactor) -> None:
        """Follow the store from now on."""
        self._reactor = reactor
        self.page.version = committed.version
        committed.follow(self)

    def _end(self) -> bool:
        """Follow the store no more; return False if that is so already."""
        if self._reactor is None:
            return False
        self._reactor = None
        if self in committed.followers:
            committed.followers.remove(self)
        return True

    def knows(self, context: contextvars.Context | None = None) -> bool:
        """Tell whether fronts have all that is in a context, and nothing else.

        Args:
            context: None for the one in which they were started, which may hold what
                the program has changed since.
        """
        context = self.context if context is None else context
        try:
            return self._base.difference(context) is None
        except TypeError:
            return False

    def _look_later(self) -> None:
        if self._reactor is not None:
            self._reactor.call_later(self._limits.look_seconds, weakly(self._look))

    def _look(self) -> None:
        """Log a call that keeps all others of a front waiting; called now and then."""
        seconds = self._limits.slow_start_seconds
        for front in self.fronts:
            running = front.slot.running()
            if running is None or time.monotonic_ns() - running[1] < seconds * 1e9:
                continue
            if self._told_since.get(front.place) != running[1]:
                self._told_since[front.place] = running[1]
                _log.warning("%s has run one call for %g s", front.name, seconds)
        self._look_later()

    # Whom to give what

    @property
    def least_busy(self) -> FrontEnd | None:
        """The front with the fewest connections, if there is one that is ready."""
        ready = [one for one in self.fronts if one.open]
        return min(ready, key=lambda one: one.connections) if ready else None

    def tell_all(self, note: tuple[Any, ...]) -> None:
        """Tell every front something."""
        for front in self.fronts:
            if front.ready:
                front.notes.append(note)
        self._flush_soon()

    @abc.abstractmethod
    def seen(self, epoch: int) -> None:
        """Have all fronts told that no plain object has changed up to an epoch."""

    # A follower of the store

    def installed(self, version: int, writes: Sequence[Write], direct: bool) -> None:
        """Let a commit be known, unless that has time; see `Follower`."""
        if direct or writes is not self._deciding:
            self.page.version = version
        self._flush_soon()

    def dropped(self, number: int) -> None:  # noqa: B027 # both do nothing
        """Do nothing: replicas are told by the executor's log."""

    def _flush_soon(self) -> None:
        if not self._flushes and self._reactor is not None:
            self._flushes = True
            # In an empty context, as a round.
            self._reactor.call_soon(weakly(self.flush), context=contextvars.Context())

    @abc.abstractmethod
    def flush(self) -> None:
        """Let fronts have what they miss; verdicts when what they let out is known.

        Called between two callbacks: what is committed now is complete.
        """

    # What they say

    def decided(self, front: FrontEnd, number: int, verdict: Verdict) -> None:
        """Have a front told what has become of an outcome."""
        front.verdicts.append((number, int(verdict)))
        self._flush_soon()

    def answer(self, front: FrontEnd, number: int, outcome: Outcome | None) -> None:
        """Have a front given the outcome of a call that it has forwarded.

        Args:
            front: The front.
            number: That of the call, there.
            outcome: None if the call has to run where the owner is.
        """
        front.calls_open.pop(number, None)
        if front.ready and not front.lost:
            front.tell(("answer", number, self._carried(outcome)))

    def _carried(self, outcome: Outcome | None) -> object:
        """Return an outcome as it goes to a front."""
        return outcome

    def _close_call(self, front: FrontEnd, number: int) -> None:
        """Have the connection closed whose call waited, and was dropped."""
        if front.calls_open.pop(number, 0) and front.ready and not front.lost:
            front.tell(("close", number))

    def _decide(
        self, front: FrontEnd, number: int, kind: int, answer: Answer | None
    ) -> None:
        """Deal with the answer to an attempt; None if it could not be read."""
        if not number:
            if answer is not None:
                self._callbacks.on_ran(kind, answer)
            return
        if not isinstance(answer, Outcome) or not front.keeps(answer.snapshot):
            self.decided(front, number, Verdict.ELSEWHERE)
            return
        committed.open_snapshot(answer.snapshot)
        if not answer.effects:  # these may tell others of it at once
            self._deciding = answer.writes
        try:
            self._callbacks.on_outcome(front, number, kind, answer)
        finally:
            self._deciding = None

    def _hear(
        self, front: FrontEnd, note: tuple[Any, ...], descriptor: int | None
    ) -> None:
        match note:
            case ("call", int(number), int(kind), call):
                self._callbacks.on_call(front, number, kind, call)
            case ("gone", int(number)):
                self._callbacks.on_leave(front.calls_open.pop(number, 0), None)
            case ("ended", int(number)):
                close = functools.partial(self._close_call, front, number)
                self._callbacks.on_leave(front.calls_open.get(number, 0), close)
            case _:
                self._callbacks.on_note(front, note, descriptor)
