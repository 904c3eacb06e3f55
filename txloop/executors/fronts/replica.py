"""The front's end: a replica of the store, attempts on it, and their commits elsewhere.

A front begins an attempt when its replica has reached what may have been known outside
when the request came: the page that it shares with the owner tells that version, and
on the board is what changed. An attempt that wrote nothing has ended then. What
wrote something is committed here, where the owner sleeps. Else it goes to the owner,
all that one iteration has made in one frame, and a verdict comes back, with or after
what it has changed.
"""

from __future__ import annotations

import logging
import os
import time
from typing import TYPE_CHECKING, Any, Never

from txloop.errors import TxTimeoutError
from txloop.executors.codec.answers import pack, portable
from txloop.executors.codec.frames import UNPICKLABLE, dumps
from txloop.executors.codec.packing import (
    ANY_PLACE,
    pack_call,
    pack_marshalled,
    unpack_answer,
)
from txloop.executors.codec.plain_cells import Known, PlainOutcome, plain_outcome
from txloop.executors.codec.plain_values import agreed_kinds
from txloop.executors.debugging import set_title
from txloop.executors.fronts.carrier import Carrier
from txloop.executors.fronts.following import Following
from txloop.executors.fronts.link import Link
from txloop.executors.fronts.overtime import Alarm
from txloop.executors.fronts.own_commits import OwnCommits
from txloop.executors.fronts.page import LAG_COMMITS
from txloop.executors.fronts.posted import Posted
from txloop.executors.fronts.reading import ReadingFirst
from txloop.executors.processes.spawner_process import flush_output
from txloop.executors.processes.worker import become_copy, run_start_hooks
from txloop.executors.refusing import adopt_loop
from txloop.stm.run import run_ready
from txloop.stm.store import committed
from txloop.stm.types import Call, Outcome, Refusal
from txloop.watch import WorkerWatch
from txloop.watch.limits import SHARE
from txloop.watch.outside import guard

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from txloop.executors.codec.contexts import Base
    from txloop.executors.fronts.board import Board
    from txloop.executors.fronts.carrier import Kind, Undoable
    from txloop.executors.fronts.commit_lock import CommitLock
    from txloop.executors.fronts.page import Page
    from txloop.executors.protocol import Reactor
    from txloop.stm.types import Answer, Ready
    from txloop.watch import Subject

__all__ = ["Replica"]

_log = logging.getLogger("txloop")


class Replica(Carrier):
    """What one front's process knows of the owner; used by its only thread."""

    def __init__(
        self,
        connection: socket.socket,
        number: int,
        page: Page,
        board: Board,
        lock: CommitLock,
        base: Base,
    ) -> None:
        """Let this process, just forked, follow the owner.

        Args:
            connection: Leads to the owner.
            number: Tells this front from all others of the program's run.
            page: What is shared with the owner.
            board: Likewise.
            lock: Likewise.
            base: The context that this process has inherited.
        """
        become_copy(number)
        set_title(f"front {number}")
        super().__init__(page, base)
        self._link = Link(connection)
        lock.join()
        self._following = Following(page, board, self.end)
        self._own = OwnCommits(
            page,
            lock,
            self._following,
            self._is_certain,
            self._take_verdicts,
            self.end,
        )
        self._watch = WorkerWatch()
        self._epoch = -1  # of the owner's watch, when it last looked for us
        self._asked = -1  # for which one it was asked to look
        self._wanted = 0  # for which version it was asked
        self._told = committed.version  # where the owner knows this replica to be
        self._alarm = Alarm()
        self._outcomes: list[tuple[int, int, bytes | PlainOutcome]] = []
        self._records: list[logging.LogRecord] = []
        assert committed.kept is not None
        self._known = Known(0, committed.kept, agreed_kinds())
        self._reading_first = ReadingFirst()

    def begin(self, reactor: Reactor, on_readable: Callable[[], object]) -> None:
        """Run the program's start hooks, and tell the owner that this front is ready.

        Args:
            reactor: The running event loop.
            on_readable: Called when there is something to `receive`.
        """
        adopt_loop(reactor)
        troubles = run_start_hooks(self._base)
        self._link.attach(reactor, on_readable)
        self.tell(("hello", os.getpid(), troubles))

    def take_place(self, place: int) -> None:
        super().take_place(place)
        self._following.slot = self._slot

    @property
    def trouble(self) -> str | None:
        return self._following.trouble

    def end(self) -> Never:
        flush_output()
        os._exit(0)

    # What the owner sends

    @property
    def newest(self) -> tuple[int, int]:
        return self._page.known

    def has_reached(self, needed: tuple[int, int]) -> bool:
        version, epoch = needed
        if version > committed.version:
            self._following.follow()
        return version <= committed.version and epoch <= self._epoch

    def ask(self) -> None:
        """Ask the owner for what is known outside and not here, once.

        To look at plain objects, and to say when what has changed is on the board.
        """
        version, epoch = self._page.known
        asks = -1 if epoch in (self._epoch, self._asked) else epoch
        if asks >= 0 or version > max(committed.version, self._wanted):
            self._wanted, self._asked = version, epoch
            self.flush()  # where this replica is may be told after older outcomes only
            self._link.send((committed.version, (), b"", asks, ("wait",)))

    def receive(self) -> list[tuple[tuple[Any, ...], int | None]]:
        notes = []
        verdicts: list[tuple[int, int]] = []
        for frame, descriptor in self._link.receive():
            commits, dropped, decided, epoch, told = frame
            self._following.follow(commits, dropped)
            verdicts += decided
            if epoch >= 0:
                self._epoch = epoch
            if told is not None and told[0] == "answer":
                self._take_answer(told[1], unpack_answer(told[2]) if told[2] else None)
            elif told is not None and told[0] == "close":
                self._close(*told[1:])
            elif told is not None:
                notes.append((told, descriptor))
        self._take_verdicts(verdicts)
        if committed.version - self._told >= LAG_COMMITS:
            self.tell(None)
        return notes

    # What the owner is sent

    def tell(self, note: tuple[Any, ...] | None, descriptor: int | None = None) -> None:
        """Tell the owner something, and where this replica is."""
        self.flush()
        self._told = committed.version
        self._link.send((self._told, (), b"", -1, note), descriptor)

    def flush(self) -> None:
        """Send what attempts want committed and logged, in one frame; and output."""
        flush_output()
        for one in self._own.take():  # it is not committed here
            self._outcomes.append((one.number, one.kind.number, one.plain))
        if self._outcomes or self._records:
            records = dumps(self._records) if self._records else b""
            self._told = committed.version
            self._link.send((self._told, self._outcomes, records, -1, None))
            self._outcomes, self._records = [], []

    def log(self, record: logging.LogRecord) -> bool:
        portable(record)
        self._records.append(record)
        return len(self._records) == 1

    # Transactions

    def run(self, ready: Undoable, kind: Kind) -> Answer | None:
        slot = self._slot
        assert slot is not None
        subject = self._watch.subject(kind.roots)
        due = subject is not None and subject.is_due
        guarded, began_ns = kind.guarded, 0
        if guarded:
            guard()
        worker = 0
        if self.traced_from:
            worker, began_ns = self.traced_from + self._place, time.monotonic_ns()
        context, limit = self._base.context, kind.timeout_seconds
        call: Ready = ready
        if limit is not None:
            call = Call(
                self._alarm.run, (ready, limit), {}, commits_on=ready.commits_on
            )
        slot.begin(kind.number)
        if worker:
            found = run_ready(call, context.copy(), guarded, worker)
        else:
            found = self._reading_first.run(call, ready.undo, context, kind)
        slot.end()
        if limit is not None and self._alarm.rang:
            found = self._time_out(kind, limit)
        if due:
            assert subject is not None
            found = self._look(subject, found)
        if worker:
            now = time.monotonic_ns()
            self._tell_of(kind, found, committed.version, began_ns, now)
        if type(found) is float:
            if subject is not None:
                subject.save(SHARE * found)
            slot.count(kind.number, found)
            return None
        assert not isinstance(found, float)
        if isinstance(found, Refusal) and found.spoilt:
            self.spoilt = True
        return found

    def _time_out(self, kind: Kind, limit: float) -> Outcome:
        """Return the outcome of what has taken too long; let another front go on."""
        message = f"{kind.label} exceeded its {limit:g} s timeout"
        _log.warning(
            "%s; the front that ran it is replaced; it was at\n%s",
            message,
            self._alarm.lines,
        )
        self.spoilt = True
        error = TxTimeoutError(message)
        return Outcome(committed.version, error=error, body_seconds=limit)

    def _look(self, subject: Subject, found: Answer | float) -> Answer | float:
        """Return what was found; a `Refusal` if plain objects have changed."""
        if not isinstance(found, float):
            return self._watch.look(subject, found)
        outcome = Outcome(committed.version, body_seconds=found)
        looked = self._watch.look(subject, outcome)
        subject.spend()
        return found if looked is outcome else looked

    def _is_certain(self) -> bool:
        return self._page.epoch <= self._epoch

    def settle(self) -> bool:
        return self._own.settle()

    def _post(self, number: int, kind: Kind, answer: Answer) -> None:
        plain = None
        if number and isinstance(answer, Outcome):
            plain = plain_outcome(answer, self._known)
            packed = plain and self._own.may_hold() and pack_marshalled([plain[-1]])
            if plain and packed and not answer.error_answered:
                now = time.monotonic()
                self._own.post(Posted(number, kind, answer, plain, packed, now))
                return
        packed = pack(answer) if plain is None else plain
        self._outcomes.append((number, kind.number, packed))

    # What is long

    def forward(
        self, call: Call, kind: Kind, done: Callable[[Outcome | None], object]
    ) -> int:
        try:
            place = ANY_PLACE if self.traced_from else 0
            packed = pack_call(call, place, self._base)
        except UNPICKLABLE:
            return 0
        return self._send_call(packed, kind, done)
