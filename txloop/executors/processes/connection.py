"""The loop's end of one worker process: its replica's version, its bytes, its end."""

from __future__ import annotations

import dataclasses
import logging
import os
import pickle
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from txloop.executors.codec.contexts import Base
from txloop.executors.codec.frames import (
    UNPICKLABLE,
    Frames,
    GarbledError,
    frame,
    split_number,
)
from txloop.executors.codec.packing import (
    ANY_PLACE,
    pack_call,
    pack_plain,
    unpack_answer,
)
from txloop.executors.processes.replication import LAG_COMMITS
from txloop.executors.processes.spawner import hang_up
from txloop.executors.processes.supervision import Death, Supervision
from txloop.executors.processes.worker import LAST_WORDS
from txloop.executors.worker_protocol import Limits, Run
from txloop.stm.store import committed
from txloop.stm.types import Outcome, Refusal, Retry

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from txloop.executors.processes.feed import Calls
    from txloop.executors.processes.replication import DeltaLog
    from txloop.executors.protocol import Reactor
    from txloop.executors.worker_protocol import Assignment
    from txloop.stm.types import Answer

__all__ = ["WorkerConnection"]

_CHUNK_BYTES = 1 << 16  # room for more takes longer to get than an answer to read

_LARGE_CHUNK_BYTES = 1 << 20

_MOST_WORDS = 1 << 16  # bytes that are kept of what a worker wrote last

_log = logging.getLogger("txloop")


class WorkerConnection:
    """A `Worker` that is a process, by a non-blocking connection to it.

    Attributes:
        version: The version that its replica has or will have reached by what was sent.
        dropped: Numbers of dead containers that it has not been told of.
        number: Tells it from all others of the program's run.
        pid: Its process number, 0 until it was forked.
        ready: Whether it has said that it can run calls.
        calls: How many it has been given.
        most_calls: After how many it is replaced, or None.
        retiring: Whether another one has taken its place: it gets no more calls.
        worn: Whether another one takes its place once it has answered.
        condemned: Whether it has to end, and no answer of it counts any more.
        clock: Tells the time, in seconds.
        cause: Why, if we know.
        timed_out: Whether it was killed because a call took too long.
        status: How it ended, as far as reported.
    """

    may_repeat = True

    def __init__(
        self,
        number: int,
        connection: socket.socket,
        log: DeltaLog,
        version: int,
        place: int = 1,
        *,
        base: Base | None = None,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Keep this end of the connection to a worker that has been asked for.

        Args:
            number: Tells it from all others of the program's run.
            connection: The socket.
            log: What its replica misses.
            version: The version that its replica has.
            place: Its number among those that there are, from 1.
            base: The context that it inherits.
            limits: How long to wait for what.
            clock: Tells the time, in seconds.
        """
        connection.setblocking(False)
        self.number = number
        self.place = place
        self.assigned: dict[int, Assignment] = {}
        self.clock = clock
        self.ready = False
        self.calls = 0
        self.most_calls: int | None = None
        self.retiring = False
        self.worn = False
        self.condemned = False
        self.cause: str | None = None
        self.timed_out = False
        self.status: int | None = None
        self.received_bytes = 0
        self.dropped: list[int] = []
        self.version = version
        self.pid = 0
        self._words = bytearray()
        self._since = 0.0  # it runs the first of what is assigned
        self._base = base or Base()
        self._limits = limits or Limits()
        self._supervision = Supervision(self._limits)
        self._connection = connection
        self._maker = os.getpid()
        self._log = log
        self._unsent: list[tuple[Assignment, bytes]] = []
        self._output = bytearray()
        self._waits_to_send = False
        self._chunk_bytes = _CHUNK_BYTES
        self._frames = Frames()
        self._reactor: Reactor | None = None
        self._on_end: Callable[[WorkerConnection], object] | None = None

    def __str__(self) -> str:
        return str(self.pid)

    def attach(
        self,
        reactor: Reactor,
        on_readable: Callable[[WorkerConnection], object],
        on_end: Callable[[WorkerConnection], object],
    ) -> None:
        """Let `reactor` watch over it.

        Args:
            reactor: The running event loop.
            on_readable: Called when answers, or the end, have arrived.
            on_end: Called when it has ended, and its connection does not say so.
        """
        if self._reactor is None:
            self._reactor = reactor
            self._on_end = on_end
            reactor.add_reader(self._connection.fileno(), on_readable, self)

    @property
    def open(self) -> bool:
        return self.ready and not (self.retiring or self.condemned or self.worn)

    @property
    def needs_look(self) -> bool:
        return bool(self.assigned) or not self.ready or self.condemned

    def look(self) -> None:
        self._supervision.look(self)

    def vanish(self) -> None:
        """Have it taken for dead, although its connection is open."""
        if self._on_end is not None:
            self._on_end(self)

    def running(self) -> Run | None:
        if not (self.assigned and self.ready):
            return None
        return Run(next(iter(self.assigned.values())), self._since)

    def offer(self, assignment: Assignment) -> Refusal | None:
        work = assignment.work
        place = self.place if work.call.traced else 0
        try:
            payload = pack_call(work.call, place, self._base)
        except UNPICKLABLE as error:
            return Refusal(f"it does not pickle ({error})")
        if not self.assigned:
            self._since = self.clock()
        self._unsent.append((assignment, payload))
        self.calls += 1
        return None

    def take_back(self, number: int) -> bool:
        return False  # it may have begun: to run it elsewhere, too, is cheaper

    def cancel(self, assignment: Assignment, reason: str) -> str | None:
        if self.condemned or self.answering:
            return None
        self.timed_out = True
        self.condemn(reason, LAST_WORDS)
        return "it was ended"

    def flush(self) -> None:
        # One frame with the calls and all that the replica misses; if there are none,
        # only when the replica falls far behind.
        unsent = self._unsent
        if not (self.ready and not self.condemned):
            return
        if not unsent and (
            self.assigned
            or self._output
            or not self._log.lags(self.version, LAG_COMMITS)
        ):
            return
        started = time.thread_time()
        deltas = self._log.since(self.version, idle=not unsent)
        dump = None
        if deltas is None:
            dump = self._log.dump()
            deltas = []
            self.dropped.clear()
        self.version = committed.version
        calls = [
            (work.number, payload, work.late, work.reading)
            for work, payload in ((one.work, payload) for one, payload in unsent)
        ]
        self._put(dump, deltas, self.dropped, calls)
        self.dropped = []
        self._unsent = []
        spent = (time.thread_time() - started) / max(len(unsent), 1)
        for assignment, _ in unsent:
            assignment.transport_seconds += spent

    def renew(self) -> None:
        """Send its replica what it misses: a late attempt there is about to read.

        The worker's attempt reads that instead of what there was when its call was
        sent. If the log does not reach back so far, it reads the older one.

        Raises:
            GarbledError: if it runs nothing.
        """
        if not self.assigned:
            raise GarbledError("it asks for commits, but it has no call")
        deltas = self._log.since(self.version)
        if deltas is not None:
            self.version = committed.version
        self._put(None, deltas or [], [], [])

    def _put(
        self,
        dump: bytes | None,
        deltas: list[bytes],
        dropped: list[int],
        calls: Calls,
    ) -> None:
        parts = (self.sent_at(), self.version, dump, deltas, dropped, calls)
        self._output += frame(pack_plain(parts))
        self._write()

    def sent_at(self) -> float:
        """Return the time by the worker's own clock, `time.monotonic`."""
        return time.monotonic()

    def _write(self) -> None:
        output = self._output
        try:
            while output:
                # Released here, whoever refers to them (`gc.get_objects`, a debugger).
                with memoryview(output) as view, view[:_LARGE_CHUNK_BYTES] as chunk:
                    count = self._connection.send(chunk)
                del output[:count]
        except BlockingIOError:
            assert self._reactor is not None
            self._reactor.add_writer(self._connection.fileno(), self._write)
            self._waits_to_send = True
            return
        except OSError:
            output.clear()  # it died: reading will say so
        if self._waits_to_send:
            assert self._reactor is not None
            self._reactor.remove_writer(self._connection.fileno())
            self._waits_to_send = False

    def receive(self) -> list[tuple[int, float, object]]:
        """Return the answers that have arrived: number, seconds lost, and the answer.

        Raises:
            OSError: if the worker has died.
            EOFError: the same, seen otherwise.
            GarbledError: if something else has arrived.
        """
        try:
            data = self._connection.recv(self._chunk_bytes)
        except BlockingIOError:
            return []
        if not data:
            raise EOFError
        self.received_bytes += len(data)
        more = len(data) == self._chunk_bytes
        self._chunk_bytes = _LARGE_CHUNK_BYTES if more else _CHUNK_BYTES
        if self.condemned:
            self._words += data[: _MOST_WORDS - len(self._words)]
            return []
        try:
            return [_loaded(body) for body in self._frames.feed(data)]
        except GarbledError:
            self._words += self._frames.rest[:_MOST_WORDS]
            raise

    def check(self, number: int, answer: object) -> Answer:
        """Return `answer` if it is that to the call that runs.

        Raises:
            GarbledError: if it is not.
        """
        first = next(iter(self.assigned.values()), None)
        if first is None or first.work.number != number:
            raise GarbledError(f"no call waits for the answer {number}")
        self._since = self.clock()  # it runs the next one
        if not isinstance(answer, Outcome | Retry | Refusal):
            raise GarbledError(f"{answer!r} is no answer")
        trace = answer.trace
        if trace is not None and trace.worker == ANY_PLACE:
            placed = trace._replace(worker=self.place)
            answer = dataclasses.replace(answer, trace=placed)
        if isinstance(answer, Refusal):
            return answer
        if not first.snapshot <= answer.snapshot <= self.version:
            versions = f"{first.snapshot} to {self.version}"
            raise GarbledError(f"it ran at {answer.snapshot}, not {versions}")
        return answer

    @property
    def crashing(self) -> bool:
        """Whether what it writes is the stack that a fatal signal has found."""
        return self._words.startswith(b"Fatal Python error")

    @property
    def answering(self) -> bool:
        """Whether an answer has arrived in part."""
        return bool(self._frames.rest)

    def greet(self, greeting: object) -> None:
        """Note the worker's first message: it is ready."""
        match greeting:
            case (int(pid), list(troubles)) if not self.ready:
                self.pid, self.ready = pid, True
            case _:
                raise GarbledError(f"{greeting!r} is no greeting")
        for trouble in troubles:
            _log.error(
                "an on_worker_start function failed in worker %s:\n%s", self, trouble
            )

    @property
    def excused(self) -> bool:
        """Whether it is no news that it has ended."""
        return self.pid == 0

    def condemn(self, cause: str | None, number: int = signal.SIGKILL) -> None:
        """End it by a signal; from now on what it writes is no answer."""
        self.condemned = True
        self.cause = cause
        if self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def salvage(self, end: socket.socket) -> None:
        """Do nothing with what it has not read: those calls are here still."""

    def death(self) -> Death:
        """Return how it ended, once it has."""
        words = bytes(self._words or self._frames.rest[:_MOST_WORDS])
        return Death(self.pid, self.status, self.cause, words)

    @property
    def lost(self) -> bool:
        """Whether the connection was closed here."""
        return self._connection.fileno() < 0

    def close(self) -> None:
        if self._reactor is not None:
            self._reactor.remove_reader(self._connection.fileno())
            self._reactor.remove_writer(self._connection.fileno())
            self._reactor = None
        hang_up(self._connection, self._maker)
        self._unsent.clear()


def _loaded(body: bytes) -> tuple[int, float, object]:
    number, lost_seconds, body = split_number(body)
    try:
        return number, lost_seconds, unpack_answer(body)
    except GarbledError:
        raise
    except (pickle.UnpicklingError, EOFError) as error:
        raise GarbledError(f"it does not unpickle ({error!r})") from None
    except Exception as error:  # whatever the classes of the program raise
        return number, 0.0, Refusal(f"its outcome does not unpickle ({error!r})")
