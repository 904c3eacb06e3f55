"""The loop's end of one worker: its calls, its replica's version, its bytes."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from txloop.executors.codec.frames import (
    Frames,
    GarbledError,
    frame,
    split_number,
)
from txloop.executors.codec.packing import pack_plain, unpack_answer
from txloop.executors.processes.deaths import Death
from txloop.executors.processes.replication import LAG_COMMITS
from txloop.stm.store import committed
from txloop.stm.types import Outcome, Refusal, Retry

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from txloop.executors.processes.replication import DeltaLog
    from txloop.executors.protocol import Reactor, Work
    from txloop.stm.types import Answer

__all__ = ["GREETING", "Assignment", "WorkerConnection"]

_CHUNK_BYTES = 1 << 16  # room for more takes longer to get than an answer to read

_LARGE_CHUNK_BYTES = 1 << 20

_MOST_WORDS = 1 << 16  # bytes that are kept of what a worker wrote last

GREETING = -1
"""The number of a worker's first message."""

_log = logging.getLogger("txloop")

UNMEASURED_SECONDS = 1.0
"""What a call that never ran before counts for: nothing is sent behind it."""


@dataclass(slots=True)
class Assignment:
    """A piece of work at a worker."""

    work: Work
    payload: bytes
    snapshot: int = -1  # open in the store once the work is sent
    sent_at: float = 0.0
    transport_seconds: float = 0.0


class WorkerConnection:
    """A non-blocking connection to one worker; owned by the loop thread.

    Attributes:
        assigned: What the worker has been given and has not answered, by number; the
            first one is running.
        version: The version that its replica has or will have reached by what was sent.
        dropped: Numbers of dead containers that it has not been told of.
        number: Tells it from all others of the program's run.
        place: Its number among those that there are, from 1; a later one may get it.
        pid: Its process number, 0 until it was forked.
        ready: Whether it has said that it can run calls.
        calls: How many it has been given.
        most_calls: After how many it is replaced, or None.
        retiring: Whether another one has taken its place: it gets no more calls.
        worn: Whether another one takes its place once it has answered.
        condemned: Whether it has to end, and no answer of it counts any more.
        cause: Why, if we know.
        status: How it ended, as far as reported.
    """

    def __init__(
        self,
        number: int,
        connection: socket.socket,
        log: DeltaLog,
        version: int,
        place: int = 1,
    ) -> None:
        connection.setblocking(False)
        self.number = number
        self.place = place
        self.ready = False
        self.calls = 0
        self.most_calls: int | None = None
        self.retiring = False
        self.worn = False
        self.condemned = False
        self.cause: str | None = None
        self.status: int | None = None
        self.received_bytes = 0
        self._words = bytearray()
        self._ready_at = 0.0
        self.assigned: dict[int, Assignment] = {}
        self.dropped: list[int] = []
        self.version = version
        self.pid = 0
        self._connection = connection
        self._log = log
        self._unsent: list[Assignment] = []
        self._output = bytearray()
        self._waits_to_send = False
        self._chunk_bytes = _CHUNK_BYTES
        self._frames = Frames()
        self._reactor: Reactor | None = None

    def attach(
        self, reactor: Reactor, on_readable: Callable[[WorkerConnection], None]
    ) -> None:
        """Let `reactor` call `on_readable` when answers (or the end) have arrived."""
        if self._reactor is None:
            self._reactor = reactor
            reactor.add_reader(self._connection.fileno(), on_readable, self)

    @property
    def open(self) -> bool:
        """Whether it may be given calls."""
        return self.ready and not (self.retiring or self.condemned or self.worn)

    def load(self) -> float:
        """Return the seconds of work that it has to do, as far as measured.

        A call that turned out long counts for as long as it has been running.
        """
        if not self.assigned:
            return 0.0
        first, *waiting = self.assigned.values()
        seconds = max(_estimated(first), time.monotonic() - first.sent_at)
        return seconds + sum(map(_estimated, waiting))

    def overdue(self, seconds: float) -> list[Work]:
        """Return what has waited behind a call that runs for more than `seconds`."""
        if not self.assigned:
            return []
        first, *waiting = self.assigned.values()
        if not waiting or time.monotonic() - first.sent_at < seconds:
            return []
        return [assignment.work for assignment in waiting]

    def assign(self, work: Work, payload: bytes, seconds: float) -> None:
        """Note down a call for the next frame; packing it took `seconds`."""
        now = time.monotonic()
        assignment = Assignment(work, payload, sent_at=now, transport_seconds=seconds)
        self.assigned[work.number] = assignment
        self._unsent.append(assignment)
        self.calls += 1

    def send(self) -> None:
        """Send one frame with the assigned calls and all that the replica misses.

        A worker without calls gets one too when its replica falls far behind.
        """
        unsent = self._unsent
        if not unsent and (
            self.assigned
            or self._output
            or committed.version - self.version < LAG_COMMITS
        ):
            return
        started = time.thread_time()
        deltas = self._log.since(self.version)
        dump = None
        if deltas is None:
            dump = self._log.dump()
            deltas = []
            self.dropped.clear()
        self.version = committed.version
        calls = [(one.work.number, one.payload) for one in unsent]
        body = pack_plain(
            (time.monotonic(), self.version, dump, deltas, self.dropped, calls)
        )
        self.dropped = []
        self._output += frame(body)
        self._flush()
        spent = (time.thread_time() - started) / max(len(unsent), 1)
        now = time.monotonic()
        for assignment in unsent:
            assignment.payload = b""
            assignment.snapshot = committed.open_snapshot()
            assignment.sent_at = now
            assignment.transport_seconds += spent
        self._unsent = []

    def _flush(self) -> None:
        output = self._output
        try:
            while output:
                with memoryview(output) as view:
                    count = self._connection.send(view[:_LARGE_CHUNK_BYTES])
                del output[:count]
        except BlockingIOError:
            assert self._reactor is not None
            self._reactor.add_writer(self._connection.fileno(), self._flush)
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
        if isinstance(answer, Refusal):
            return answer
        if not isinstance(answer, Outcome | Retry):
            raise GarbledError(f"{answer!r} is no answer")
        if answer.snapshot != first.snapshot:
            raise GarbledError(f"it ran at {answer.snapshot}, not {first.snapshot}")
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
        """Take the worker's first message."""
        match greeting:
            case (int(pid), list(troubles)) if not self.ready:
                self.pid, self.ready, self._ready_at = pid, True, time.monotonic()
            case _:
                raise GarbledError(f"{greeting!r} is no greeting")
        for trouble in troubles:
            _log.error(
                "an on_worker_start function failed in worker %d:\n%s", pid, trouble
            )

    def running(self) -> tuple[Work, float] | None:
        """Return the call that it runs, and since how many seconds; None if none."""
        running = self.running_since()
        return None if running is None else (running[0], time.monotonic() - running[1])

    def running_since(self) -> tuple[Work, float] | None:
        """Return the call that it runs, and since when by `time.monotonic`."""
        if not (self.assigned and self.ready):
            return None
        first = next(iter(self.assigned.values()))
        return first.work, max(first.sent_at, self._ready_at)

    def condemn(self, cause: str | None, number: int = signal.SIGKILL) -> None:
        """End it by a signal; from now on what it writes is no answer."""
        self.condemned = True
        self.cause = cause
        if self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def death(self) -> Death:
        """Return how it ended, once it has."""
        words = bytes(self._words or self._frames.rest[:_MOST_WORDS])
        return Death(self.pid, self.status, self.cause, words)

    def finish(self, number: int) -> Assignment | None:
        """Take a call off its list; whoever gets it has to close its snapshot."""
        assignment = self.assigned.pop(number, None)
        now = time.monotonic()
        for following in self.assigned.values():
            following.sent_at = now  # it starts only now
            break
        return assignment

    @property
    def closed(self) -> bool:
        """Whether the connection was closed here."""
        return self._connection.fileno() < 0

    def close(self) -> list[Work]:
        """Close the connection and return what it had left to do."""
        if self._reactor is not None:
            self._reactor.remove_reader(self._connection.fileno())
            self._reactor.remove_writer(self._connection.fileno())
            self._reactor = None
        self._connection.close()
        left = list(self.assigned.values())
        self.assigned.clear()
        self._unsent.clear()
        for assignment in left:
            if assignment.snapshot >= 0:
                committed.close_snapshot(assignment.snapshot)
        return [assignment.work for assignment in left]


def _estimated(assignment: Assignment) -> float:
    seconds = assignment.work.estimate_seconds
    return UNMEASURED_SECONDS if seconds is None else seconds


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
