"""All fronts of one loop: forked with the workers, kept up to date, and heard.

The owner's side. What it lets be known outside, and when, is the whole of it: a commit
that a front has asked for may be known when it is on the board, where all fronts can
read it, and before that one gets its verdict. Any other commit may be known at once, by
what the program does next; so it is published in the shared page when it is installed,
and a front that needs it asks for it, and waits until the loop's iteration is over.
"""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING, Any

from txloop.executors.codec.answers import pack
from txloop.executors.codec.frames import GarbledError, loads
from txloop.executors.codec.packing import unpack_answer
from txloop.executors.codec.plain_cells import (
    PlainOutcome,
    outcome_of,
)
from txloop.executors.fronts.board import Board
from txloop.executors.fronts.commit_lock import CommitLock
from txloop.executors.fronts.connection import FrontConnection
from txloop.executors.fronts.lending import Lending
from txloop.executors.fronts.reception import Reception
from txloop.executors.processes.crew import ForkedCrew
from txloop.executors.processes.supervision import state_of
from txloop.stm.callables import weakly
from txloop.stm.log_capture import emit_here
from txloop.stm.store import committed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from txloop.executors.fronts.reception import Callbacks, DeskReactor
    from txloop.executors.processes.executor import ProcessesExecutor
    from txloop.executors.processes.replication import DeltaLog
    from txloop.stm.types import Answer, Outcome

__all__ = ["Desk"]

_MOST_TROUBLES = 3
"""After this many replicas could not load shared state, no more fronts are made."""

_log = logging.getLogger("txloop")


class Desk(Reception):
    """Forked processes; used by the loop thread only."""

    copies = True

    def __init__(
        self,
        size: int,
        executor: ProcessesExecutor,
        run_front: Callable[..., None],
        callbacks: Callbacks,
        on_ask: Callable[[], object],
        is_certain: Callable[[], bool | None],
        may_sleep: Callable[[], bool | None],
        on_death: Callable[[FrontConnection, int | None], object],
    ) -> None:
        """Make ready to fork them, which `start` does.

        Args:
            size: How many.
            executor: The one with forked workers: that is done at the same time.
            run_front: What a front does; given its link, number, the page and the
                context that it inherits.
            callbacks: Called for what fronts say.
            on_ask: Called when a front asks whether plain objects have changed. Has to
                lead to `seen`.
            is_certain: Tells whether plain objects are as fronts know them.
            may_sleep: Tells whether the engine has nothing under way that the commits
                of others would concern.
            on_death: Called when one has died, with the kind that it ran.
        """
        super().__init__(executor.limits, callbacks)
        self._executor = executor
        self._on_ask = on_ask
        self._on_death = on_death
        self._troubles = 0  # replicas that could not follow
        self._board = Board()
        self._lock = CommitLock(self.page)
        self._lending = Lending(
            self.page,
            self._board,
            self._lock,
            callbacks,
            is_certain,
            may_sleep,
            positions=weakly(self._positions),
            on_stuck=weakly(self._end_stopped),
            on_back=weakly(self._flush_soon),
        )
        self._log: DeltaLog | None = None
        self._crew: ForkedCrew[FrontConnection] = ForkedCrew(
            size,
            functools.partial(
                run_front,
                page=self.page,
                board=self._board,
                lock=self._lock,
                base=self._base,
            ),
            weakly(self._receive),
            weakly(self._bury),
            lambda: None,
            weakly(self._before_fork),
            functools.partial(
                FrontConnection,
                slot=self.page.slot,
                limits=self._limits,
                publish=weakly(self.publish),
            ),
            self._limits,
            what="front",
        )
        self.tally = self._crew.tally

    @property
    def fronts(self) -> list[FrontConnection]:
        return self._crew.workers

    # Starting and ending

    def start(self, reactor: DeskReactor) -> None:
        # With the executor's workers.
        self._begin(reactor)
        self._executor.accompany(self)
        self._crew.attach(reactor)
        self._lending.begin(reactor)
        self._look_later()

    def fork(self, log: DeltaLog) -> None:
        """Have them forked; what their replicas miss is in `log`."""
        self.follow(log)
        self._crew.most_calls = self._executor.most_calls
        self._crew.start(log)

    def follow(self, log: DeltaLog) -> None:
        """Put on the board what is in `log` from now on."""
        self._log = self._lending.log = log
        self._board.version = log.mark()

    def renew(self) -> bool:
        """Have others forked in their place; tell whether that was possible."""
        return self._crew.renew()

    def versions(self) -> list[int]:
        """Return from which versions on commits are still needed, packed."""
        starting = [one.version for one in self.fronts if one.position is None]
        return [self._board.version, *starting]

    def note_dropped(self, numbers: Sequence[int]) -> None:
        """Note the numbers of containers that have died, for each front."""
        for front in self.fronts:
            front.dropped.extend(numbers)

    def _before_fork(self) -> None:
        self._base.capture(self.context)

    def close(self) -> None:
        if self._end():
            self._lending.end()
            self._crew.close()
            self._lock.close()

    def retire(self) -> None:
        self._crew.stop()

    def _look(self) -> None:
        self._crew.look()
        self._flush(all_of_them=True)  # a request may wait whose client has left
        for front in list(self.fronts):
            front.look()
            self._crew.relieve(front)
        super()._look()

    def flush(self) -> None:
        self._flush()

    def _flush(self, all_of_them: bool = False) -> None:
        self._flushes = False
        if self._reactor is None:
            return
        wanted = [
            one
            for one in self.fronts
            if one.ready and one.behind
            if one.in_use or (all_of_them and (one.is_awaited or not self._is_parked))
        ]
        if wanted:
            self.publish()
        for front in wanted:
            if all_of_them or front.is_awaited:
                front.send()
        for front in self.fronts:
            front.let_go_idle()
        self.page.version = committed.version
        self._executor.trim_log()

    @property
    def _is_parked(self) -> bool:
        return self._log is not None and self._log.parked

    def publish(self) -> int:
        """Let all that is committed be known: put it on the board; return its end.

        Called between two callbacks.
        """
        board, version = self._board, committed.version
        if board.version != version and self._log is not None:
            if any(front.position is not None for front in self.fronts):
                idle = all(front.is_idle for front in self.fronts)
                deltas = self._log.since(board.version, idle)
                if not deltas or not board.put(version, deltas, self._positions):
                    self._send_past(deltas)
            else:
                board.version = version
        self.page.version = version
        return board.end

    def _end_stopped(self) -> None:
        """End a front that was stopped while it had the lock, maybe."""
        for front in self.fronts:
            if not front.condemned and front.pid and state_of(front.pid) == "T":
                front.condemn("it was stopped by a signal")

    def _positions(self) -> list[int]:
        """Return where those fronts are on the board that read it."""
        found = (front.position for front in self.fronts)
        return [position for position in found if position is not None]

    def _send_past(self, deltas: list[bytes] | None) -> None:
        """Send what there was no room for to each front, and say so on the board."""
        place = self._board.skip(committed.version, self._positions)
        if place is None:  # there was none for all that came since
            furthest = min(self._positions())
            for front in self.fronts:
                if front.position == furthest:
                    front.condemn("it did not read what was committed")
            self._send_past(deltas)
            return
        for front in self.fronts:
            if front.position is not None:
                front.send_past(deltas, *place)

    # What they say

    def _carried(self, outcome: Outcome | None) -> bytes:
        return b"" if outcome is None else pack(outcome)

    def seen(self, epoch: int) -> None:
        for front in self.fronts:
            front.epoch = epoch
        self._flush_soon()

    def _receive(self, front: FrontConnection) -> None:
        try:
            frames, ended = front.receive()
        except GarbledError as error:
            front.condemn(f"it did not speak as a front does: {error}")
            return
        asks = False
        for (reached, outcomes, records, asked, note), descriptor in frames:
            for record in loads(records) if records else ():
                emit_here(record)
            if outcomes:
                self._lending.note_wanted()
            for number, kind, packed in outcomes:
                self._decide(front, number, kind, _unpacked(packed))
            front.note_reached(reached)
            asks = asks or asked >= 0
            if note is not None:
                self._hear(front, note, descriptor)
        if ended:  # not in the handler: what is forked there stays in it for ever
            self._bury(front)
            return
        if asks:
            self._on_ask()
        if front.left:
            self._crew.dismiss_retired()

    def _hear(
        self,
        front: FrontConnection,  # type: ignore[override] # it has no others
        note: tuple[Any, ...],
        descriptor: int | None,
    ) -> None:
        match note:
            case ("hello", int(pid), list(troubles)):
                front.pid, front.ready = pid, True
                for trouble in troubles:
                    _log.error(
                        "an on_worker_start function failed in front %d:\n%s",
                        pid,
                        trouble,
                    )
                front.notes.append(("place", front.place))
                self._callbacks.on_greeting(front)
                self._crew.welcome(front)
                self._flush_soon()
            case ("spoilt", trouble):
                if trouble is not None:
                    self._note_trouble(trouble)
                front.retiring = True
                self._crew.fill()
            case ("wait",):
                front.waits = True
                self._flush_soon()
            case ("left",):
                front.left = True
            case _:
                super()._hear(front, note, descriptor)

    def _note_trouble(self, trouble: str) -> None:
        """Count a replica that could not follow; after some, do without fronts."""
        self._troubles += 1
        if self._troubles == _MOST_TROUBLES:
            _log.warning(
                "there are no fronts any more, since %s; define the classes of what is "
                "shared before the first request",
                trouble,
            )
            self.retire()

    def _bury(self, front: FrontConnection) -> None:
        """Replace a front that has ended."""
        self._crew.read_reports()
        running = front.slot.running()
        front.slot.end()
        front.slot.gone = front.given
        wanted = front.left
        lost = front.take_lost()
        front.close()
        for number in front.calls_open.values():
            self._callbacks.on_leave(number, None)
        self._crew.remove(front)
        for note, descriptor in lost:
            self._callbacks.on_note(front, (*note, None), descriptor)
        if not wanted:
            self.tally.deaths += 1
            _log.warning("%s", _tell_end(front))
            self._on_death(front, None if running is None else running[0])


def _tell_end(front: FrontConnection) -> str:
    death, lost = front.death(), "the connections that it had are lost"
    if front.timed_out:
        return death.describe_timeout(f"front {front.pid} was killed; {lost}")
    return f"front {front.pid} died: {death.describe()}; {lost}"


def _unpacked(packed: bytes | PlainOutcome) -> Answer | None:
    try:
        if isinstance(packed, tuple):
            return outcome_of(packed)
        answer: Answer = unpack_answer(packed)
    except Exception:  # whatever the classes of the program raise
        return None
    return answer
