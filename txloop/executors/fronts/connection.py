"""The owner's end of one front: what it was sent, what it may still read, its end."""

from __future__ import annotations

import logging
import os
import signal
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from txloop.executors.fronts.link import MISSING, Link
from txloop.executors.fronts.overtime import OVERTIME
from txloop.executors.fronts.page import LAG_COMMITS
from txloop.executors.fronts.reception import FrontEnd
from txloop.executors.processes.supervision import Death, state_of
from txloop.stm.store import committed

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from txloop.executors.fronts.page import Slot
    from txloop.executors.processes.replication import DeltaLog
    from txloop.executors.protocol import Reactor
    from txloop.executors.worker_protocol import Limits

__all__ = ["FrontConnection"]

_MOST_WORDS = 1 << 16  # bytes that are kept of what a front wrote last

_MOST_UNSENT_BYTES = 1 << 26
_MOST_LAG = 4000  # commits; less than the log of deltas keeps

_log = logging.getLogger("txloop")


class FrontConnection(FrontEnd):
    """One front, as the crew of all wants it; owned by the loop thread.

    Attributes:
        number: Tells it from all others of the program's run.
        left: Whether it has said that it has none any more.
        condemned: Whether it has to end.
        version: The version that its replica will have reached when it has read what it
            was sent; it may have read more on the board.
        waits: Whether it has asked for what may be known outside.
        dropped: Numbers of dead containers that it has not been told of.
        most_calls: After how many transactions it is replaced, or None.
        epoch: Up to which of the watch all was seen to be as it was forked with.
        cause: Why it has to end, if we know.
        timed_out: Whether that is because a call took too long.
        status: How it ended, as far as reported.
    """

    worn = False
    most_calls: int | None = None

    def __init__(
        self,
        number: int,
        connection: socket.socket,
        log: DeltaLog,
        version: int,
        place: int = 1,
        *,
        slot: Callable[[int], Slot],
        limits: Limits,
        publish: Callable[[], int | None],
    ) -> None:
        """Keep this end of the connection to a front that has been asked for.

        Args:
            number: See above.
            connection: This end.
            log: What it misses, until it can read the board.
            version: See above.
            place: See `FrontEnd`.
            slot: Returns what it writes in the page.
            limits: How long to wait for what.
            publish: Puts all that is committed on the board, and returns its end; None
                when there is nobody any more who could.
        """
        super().__init__(place, slot(place))
        self.number = number
        self.left = False
        self.condemned = False
        self.version = version
        self.dropped: list[int] = []
        self._begun = self.slot.begun
        self.epoch = -1
        self.cause: str | None = None
        self.timed_out = False
        self.status: int | None = None
        self._retiring = False
        self._limits = limits
        self._log = log
        self._link = Link(connection)
        self._publish = publish
        self._reads_board = self.waits = False
        self._snapshot: int | None = None
        self._given: deque[tuple[Any, ...]] = deque()  # the last, with descriptors
        self._untaken: list[int] = []  # these, of the last of them
        self._amiss = 0
        self._on_end: Callable[[FrontConnection], object] | None = None

    def attach(
        self,
        reactor: Reactor,
        on_readable: Callable[[FrontConnection], object],
        on_end: Callable[[FrontConnection], object],
    ) -> None:
        """Let `reactor` watch over it."""
        self._on_end = on_end
        self._link.attach(reactor, lambda: on_readable(self))

    @property
    def name(self) -> str:
        return f"front {self.pid}"

    @property
    def open(self) -> bool:
        return self.ready and not (self._retiring or self.condemned)

    @property
    def retiring(self) -> bool:
        """Whether it is to leave when it has nothing left."""
        return self._retiring

    @retiring.setter
    def retiring(self, retiring: bool) -> None:
        if retiring and not self._retiring and self.ready:
            self._retiring = True
            self.notes.append(("retire",))
            self.send()
        self._retiring = retiring

    @property
    def assigned(self) -> bool:
        """Whether it has something left."""
        return self.ready and not self.left

    @property
    def calls(self) -> int:
        """How many transactions have begun in it."""
        return self.slot.begun - self._begun

    # Sending

    def send(self, descriptor: int | None = None) -> None:
        """Send the verdicts and all notes, for a replica that knows the board.

        One that does not is sent what it misses. The epoch goes with the last note:
        they may tell what must not run any more.

        Args:
            descriptor: One that goes with the last note.
        """
        if not self.ready or self.condemned:
            return
        while len(self.notes) > 1:
            self._link.send((None, [], [], -1, self.notes.pop(0)))
        end, commits = self._publish() or 0, None
        if not self._reads_board:
            self._reads_board, self.slot.read = True, end
            commits = self._commits(self._log.since(self.version), None, end)
        self.version = committed.version
        if self._snapshot is None and not self.is_idle:
            self._snapshot = committed.open_snapshot()
        last = self.notes.pop() if self.notes else None
        frame = (commits, self.dropped, self.verdicts, self.epoch, last)
        self._link.send(frame, descriptor)
        self.dropped, self.verdicts, self.epoch, self.waits = [], [], -1, False

    def send_past(self, deltas: list[bytes] | None, start: int, end: int) -> None:
        """Send what is not on the board, for lack of room.

        Args:
            deltas: The commits up to now, packed; None if too many have been made.
            start: Up to where it has to have read the board before.
            end: From where it has to read on.
        """
        commits = self._commits(deltas, start, end)
        self.version = committed.version
        self._link.send((commits, self.dropped, [], -1, None))
        self.dropped = []

    def _commits(
        self, deltas: list[bytes] | None, start: int | None, end: int
    ) -> tuple[Any, ...]:
        """Return commits as they are sent: see `Replica`."""
        if deltas is not None:
            return committed.version, None, deltas, start, end
        self.dropped = []  # a dump tells what there is
        return committed.version, self._log.dump(), [], None, end

    @property
    def position(self) -> int | None:
        """Where it reads the board next; None if it does not."""
        reads = self._reads_board and not (self.condemned or self.lost)
        return self.slot.read if reads else None

    @property
    def behind(self) -> bool:
        """Whether there is something that it has not been sent."""
        return self.is_awaited or self.version != committed.version

    @property
    def is_awaited(self) -> bool:
        """Whether it waits for that, or has to say where it is again."""
        asked = self.verdicts or self.notes or self.epoch >= 0 or self.waits
        return bool(asked or self._log.lags(self.version, LAG_COMMITS))

    @property
    def in_use(self) -> bool:
        """Whether it has to be sent at once what it has not been sent.

        What has no connection has no request that needs it; with the first one it is
        sent all. Where requests run elsewhere, as those that conflict, every commit
        would wake the fronts up for nothing.
        """
        return bool(
            self.verdicts
            or self.notes
            or self.calls_open
            or self.connections
            or self._log.lags(self.version, LAG_COMMITS)
        )

    @property
    def is_idle(self) -> bool:
        """Whether nothing can run in it before it is sent something."""
        return not (self.verdicts or self.notes or self.calls_open or self.connections)

    def keeps(self, version: int) -> bool:
        return self._snapshot is not None and version >= self._snapshot

    def tell(self, note: tuple[Any, ...], descriptor: int | None = None) -> None:
        if descriptor is not None:
            self.send()  # what else there is, first
            self._given.append(note)
            while len(self._given) > max(self.connections, 1):
                self._given.popleft()
        self.notes.append(note)
        self.send(descriptor)

    # Receiving

    def receive(self) -> tuple[list[tuple[tuple[Any, ...], int | None]], bool]:
        """Return what has arrived, and whether the front has ended.

        Raises:
            GarbledError: if something else has arrived than frames.
        """
        frames: list[tuple[tuple[Any, ...], int | None]] = []
        try:
            frames.extend(self._link.receive())
        except (OSError, EOFError):
            return frames, True
        return frames, False

    def salvage(self, end: socket.socket) -> None:
        """Keep the descriptors that it has not read; `end` is its end of the link."""
        self._untaken += Link(end).take_unread()

    def take_lost(self) -> list[tuple[tuple[Any, ...], int]]:
        """Return the notes that it has not got, of those with a descriptor."""
        descriptors = self._untaken + self._link.take_unsent()
        self._untaken = []
        notes = [*self._given][len(self._given) - len(descriptors) :]
        lost = zip(notes, descriptors, strict=True)
        return [(note, one) for note, one in lost if one != MISSING]

    def note_reached(self, version: int) -> None:
        """Let go of what is older than where its replica is.

        Called when the snapshots of all outcomes are open that have come with that, or
        before: they may be older.
        """
        if self.is_idle:
            # Where requests run elsewhere, as those that conflict, each write would
            # keep what it replaces.
            self.let_go()
        elif self._snapshot is not None and version > self._snapshot:
            committed.open_snapshot(version)
            committed.close_snapshot(self._snapshot)
            self._snapshot = version

    def let_go_idle(self) -> None:
        """Let go of that where nothing can run that would read it.

        The note by which a front becomes idle comes after where its replica is; and
        a verdict is sent later.
        """
        if self._snapshot is not None and self.is_idle:
            self.let_go()

    def let_go(self) -> None:
        """Let go of what only this front may still read."""
        if self._snapshot is not None:
            committed.close_snapshot(self._snapshot)
            self._snapshot = None

    # Its end

    def look(self) -> None:
        """End it if it is stopped, or does not follow any more."""
        if self.condemned or not self.pid:
            return
        state = state_of(self.pid)
        self._amiss = self._amiss + 1 if state in ("T", "Z", "X", "") else 0
        if self._amiss >= self._limits.amiss_looks:
            if state == "T":
                self.condemn("it was stopped by a signal")
            elif self._on_end is not None:
                self._on_end(self)
        elif self._link.unsent_bytes > _MOST_UNSENT_BYTES or (
            self._snapshot is not None
            and committed.version - self._snapshot > _MOST_LAG
            and self._link.unsent_bytes
        ):
            self.condemn("it did not read what it was sent")

    def end_call(self, cause: str, seconds: float) -> None:
        if self.condemned:
            return
        if seconds > self._limits.grace_seconds:
            self.timed_out = True
            self.condemn(cause)
            return
        with suppress(ProcessLookupError):
            os.kill(self.pid, OVERTIME)

    def condemn(self, cause: str | None, number: int = signal.SIGKILL) -> None:
        """End it by a signal."""
        self.condemned = True
        self.cause = self.cause or cause
        if self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def death(self) -> Death:
        """Return how it ended, once it has."""
        words = bytes(self._link.words[:_MOST_WORDS])
        return Death(self.pid, self.status, self.cause, words)

    def close(self) -> None:
        """Close the connection; a front that is alive ends then."""
        self.lost = True
        for descriptor in self._untaken:
            if descriptor != MISSING:
                os.close(descriptor)
        self._link.close()
        self.let_go()
