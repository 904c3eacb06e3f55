"""From bytes to accounts, in constant memory and as fast as CPython allows.

The loop in `Reader.add` is the program's one hot place. What it costs per event decides
how long a log may be, so the events of every transaction are handled in it, on the
thread's fields; everything else is a method of the ledger.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final

from conflict_log import formats
from conflict_log.accounts import OUTSIDE, RUNNING, Contention, Thread
from conflict_log.files import CHUNK, read_fully
from conflict_log.formats import (
    ABORT,
    COMMIT,
    MAGIC_SIZE,
    START,
    WAIT_DONE,
    WAITS,
)
from conflict_log.framing import Batch, cut_packets, same_second
from conflict_log.resync import ENOUGH, find_packet
from conflict_log.strays import drop_strays

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conflict_log.files import Readable
    from conflict_log.formats import Format
    from conflict_log.grammar import Guess
    from conflict_log.ledger import Ledger

__all__ = ["Damage", "Reader", "Reading"]

_SECOND: Final = 1_000_000_000
_NAMED: Final = 20

_SHARE: Final = 256  # the accounts are written down that often, whatever the length


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes that are no packets.

    Attributes:
        offset: Where the first of them stands in the file.
        size: How many, up to the next packets that make sense.
    """

    offset: int
    size: int


@dataclass(slots=True)
class Reading:
    """What was found in one file.

    Attributes:
        path: The file.
        guess: Its format, and how sure that is.
        ledger: The accounts.
        size: Bytes read.
        cut: Bytes of a last packet that is not whole.
        damages: Where bytes were passed over; the first ones only.
        skipped: How many bytes were passed over in all.
        strays: Packets left out because their time cannot be right.
    """

    path: str
    guess: Guess
    ledger: Ledger
    size: int = 0
    cut: int = 0
    damages: list[Damage] = field(default_factory=list)
    skipped: int = 0
    strays: int = 0


class Reader:
    """One pass over one file.

    Attributes:
        chunk: How many bytes are looked at together.
    """

    chunk: ClassVar = CHUNK

    def __init__(
        self,
        reading: Reading,
        file: Readable,
        start: bytes,
        begin_seconds: float | None,
        end_seconds: float | None,
    ) -> None:
        self.reading = reading
        self.ledger = reading.ledger
        self.form: Format = reading.guess.format
        self.file = file
        self.buffer = start
        self.position = MAGIC_SIZE
        self.more = True
        self.before = 0  # bytes of the file before the buffer
        self.window = begin_seconds, end_seconds
        self.begin_at: int | None = None
        self.end_at: int | None = None
        self.started = self.finished = False
        self.last = 0

    def read(self) -> None:
        """Read to the end, and settle the accounts."""
        self.advance()
        self.settle()

    def advance(self) -> None:
        """Read what there is; of a file that grows, more with the next call."""
        for _ in self.steps():
            pass

    def steps(self) -> Iterator[None]:
        """Do the same chunk by chunk, for who must not be held up for long."""
        self.more = True
        while True:
            batch = cut_packets(self.buffer, self.position, self.form)
            self.position = batch.end
            self._handle(batch)
            if self.finished:
                break
            if batch.damaged:
                self._skip()
            elif not self._refill():
                break
            yield

    def settle(self) -> None:
        """Account for what has not ended."""
        reading, ledger = self.reading, self.ledger
        reading.size = self.before + len(self.buffer)
        if not self.finished:
            reading.cut = len(self.buffer) - self.position
        ledger.stop = max(self.last, ledger.start)
        ledger.close()
        ledger.reach(ledger.stop)
        ledger.mark(ledger.stop)

    def _refill(self) -> bool:
        """Read the next chunk; return whether there was one."""
        data = read_fully(self.file, self.chunk) if self.more else b""
        if not data:
            self.more = False
            return False
        self.before += self.position
        self.buffer = self.buffer[self.position :] + data
        self.position = 0
        return True

    def _handle(self, batch: Batch) -> None:
        """Add what of a batch makes sense and is asked for."""
        self.reading.strays += drop_strays(batch, self.form, self.last)
        for number, address in batch.addresses:
            self.ledger.locate(number, address)
        if not batch.records:
            return
        if not self.started:
            self._open(batch)
        size, edges = self.form.packet.size, [self.begin_at, self.end_at]
        first, markers = 0, iter(batch.markers)
        for edge in edges:
            if edge is None:
                continue
            index = self._index(batch, first * size, edge)
            if index is None:
                continue
            self.add(batch.records[first * size : index * size], markers)
            first = index
            if edge == self.end_at:
                self.finished, self.last = True, edge
                return
            self.ledger.restart(edge)
            self.last, self.begin_at = edge, None
        self.add(batch.records[first * size :], markers)

    def _open(self, batch: Batch) -> None:
        """Begin with the first event."""
        self.started = True
        seconds, nanos, *_ = self.form.packet.unpack_from(batch.records)
        self.last = seconds * _SECOND + nanos
        self.ledger.open(self.last)
        begin, end = self.window
        if begin is not None:
            self.begin_at = self.last + round(begin * _SECOND)
        if end is not None:
            self.end_at = self.last + round(end * _SECOND)

    def _index(self, batch: Batch, offset: int, edge: int) -> int | None:
        """Return the first record at or after a time, None if there is none."""
        records = memoryview(batch.records)[offset:]
        first = offset // self.form.packet.size
        for index, (seconds, nanos, *_) in enumerate(
            self.form.packet.iter_unpack(records), first
        ):
            if seconds * _SECOND + nanos >= edge:
                return index
        return None

    def add(self, data: bytes, markers: Iterator[tuple[bytes, bytes, int]]) -> None:
        """Add records to the accounts."""
        ledger, kinds, size = self.ledger, self.form.kinds, self.form.packet.size
        threads, now = ledger.threads, self.last
        minor_start = kinds.index(formats.MINOR_START)
        minor_done, wait_done = minor_start + 1, kinds.index(WAIT_DONE)
        contentions = self.form.contentions
        waits = {event for event, kind in enumerate(kinds) if kind in WAITS}
        # Locals are faster than globals.
        start, commit, outside, running = START, COMMIT, OUTSIDE, RUNNING
        unpack = self.form.fixed.iter_unpack
        for base, begin, end in same_second(data, size):
            done = begin
            while done < end:
                count = max(16, min(4096, ledger.events // _SHARE))
                block = data[done : min(done + count * size, end)]
                for nanos, number, event in unpack(block):
                    try:
                        thread = threads[number]
                    except KeyError:
                        thread = ledger.thread(number, base + nanos, kinds[event])
                    if event == minor_start:
                        if thread.phase > running:
                            ledger.touch(thread, base + nanos)
                        thread.minor_base, thread.minor_nanos = base, nanos
                        continue
                    if event == minor_done:
                        since = thread.minor_base
                        if since is not None:
                            thread.minor += nanos - thread.minor_nanos
                            if since is not base:  # it began in another second
                                thread.minor += base - since
                            thread.minor_base = None
                        continue
                    now = base + nanos
                    if event == start:
                        if thread.phase == outside:
                            thread.phase = running
                            thread.since = now
                        else:
                            ledger.begin(thread, now)
                    elif event == commit:
                        if thread.phase == running and thread.contention is None:
                            spent = now - thread.since
                            if spent > 0:
                                thread.committed += spent
                            if thread.run:
                                thread.committed += thread.run
                                thread.run = 0
                            thread.commits += 1
                            thread.phase = outside
                        else:
                            ledger.commit(thread, now)
                    elif event == wait_done:
                        ledger.wake(thread, now)
                    elif event in contentions:
                        one, other, of = next(markers)
                        contention = Contention(kinds[event], one, other, of)
                        ledger.contend(thread, contention, now)
                    elif event == ABORT:
                        ledger.abort(thread, now)
                    elif event in waits:
                        ledger.wait(thread, now, kinds[event])
                    else:
                        self._rest(thread, kinds[event], now)
                now = base + nanos
                done += len(block)
                ledger.events += len(block) // size
                ledger.reach(now)
                ledger.mark(now)
        self.last = now

    def _rest(self, thread: Thread, kind: int, now: int) -> None:
        """Handle what does not happen in every transaction."""
        ledger = self.ledger
        if kind == formats.ABORTING_OTHER:
            ledger.pass_on(thread)
        elif kind == formats.MAJOR_START:
            thread.major_since = now
        elif kind == formats.MAJOR_DONE:
            if thread.major_since:
                thread.major += now - thread.major_since
                thread.major_since = 0
        elif kind == formats.DETACH:
            ledger.detach(thread, now)
        else:
            ledger.touch(thread, now)

    def _skip(self) -> None:
        """Go on behind bytes that are no packets."""
        reading, form = self.reading, self.form
        if self.started:
            self.ledger.gap()
        begin, seconds = self.before + self.position, self.last // _SECOND
        if not self.started:
            seconds = int.from_bytes(self.buffer[MAGIC_SIZE : MAGIC_SIZE + 4], "little")
        look_from = self.position + 1
        while True:
            found = find_packet(self.buffer, look_from, form, seconds, not self.more)
            if found is None and not self.more:
                found = len(self.buffer)
            if found is not None:
                break
            # Nothing but near the end of the buffer, where packets may be cut.
            near_end = len(self.buffer) - ENOUGH * form.longest
            self.position = max(look_from, near_end)
            self._refill()
            look_from = self.position
        self.position = found
        size = self.before + found - begin
        reading.skipped += size
        if len(reading.damages) < _NAMED:
            reading.damages.append(Damage(begin, size))
