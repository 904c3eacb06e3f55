"""The packets of a log as PyPy's tools read them, up to where those would give up."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from conflict_log.files import CHUNK, read_fully

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conflict_log.files import Readable
    from conflict_log.formats import Format

__all__ = ["GaveUp", "Packet", "strict_packets"]


class GaveUp(Exception):
    """Where PyPy's tool raises; what was added up until then is good."""


class Packet(NamedTuple):
    """One event, its time as a float of seconds."""

    seconds: float
    thread: int
    other: int
    kind: int
    marker1: bytes
    marker2: bytes


def strict_packets(file: Readable, start: bytes, form: Format) -> Iterator[Packet]:
    """Yield the packets of a log.

    Args:
        file: The log, read up to the end of `start`.
        start: What was read of it, without the magic.
        form: How it is written.

    Raises:
        GaveUp: At an event or a time that PyPy's tool refuses.
    """
    buffer, position, more, before = start, 0, True, -1.0
    size, kinds = form.packet.size, form.kinds
    while True:
        if more and len(buffer) - position < form.longest:
            read = read_fully(file, CHUNK)
            more = bool(read)
            buffer, position = buffer[position:] + read, 0
            continue
        if len(buffer) - position < size:
            return
        at, nanos, thread, event, lengths = form.packet.unpack_from(buffer, position)
        if event >= len(kinds):
            raise GaveUp(f"event {event} does not exist: the file appears corrupted")
        seconds = at + 0.000000001 * nanos
        if form.ordered and seconds < before:
            raise GaveUp(f"decreasing timestamps: {before:.9f} -> {seconds:.9f}")
        before = seconds
        other = 0
        if form.other_offset is not None:
            other_at = position + form.other_offset
            other = int.from_bytes(buffer[other_at : other_at + 4], "little")
        middle = position + size + (lengths & 255)
        marker1 = buffer[position + size : middle]
        position = middle + (lengths >> 8)
        marker2 = buffer[middle:position]
        yield Packet(seconds, thread, other, kinds[event], marker1, marker2)
