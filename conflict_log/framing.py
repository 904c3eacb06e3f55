"""Packets of different length made into records of one length, at the speed of C.

Nearly all packets carry no marker and stand in long runs, which slices with a step pass
over. Only a contention stops them. What is left for Python is a `Batch`: records that
`struct` unpacks in a row, and beside them the markers of those that have some. Where a
batch turns out to hold nonsense, a regular expression finds out where that begins.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final

from conflict_log.markers import WORKER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conflict_log.formats import Format

__all__ = ["Batch", "cut_packets", "same_second"]

# How many records of one second are looked for at first; more if all of them are.
_SHORTEST: Final = 256
# How many packets are looked at together, at first.
_WINDOW: Final = 64
# The top byte of a number of nanoseconds below a second.
_TOPS: Final = bytes(range(0x3C))
_NUMBER: Final = struct.Struct("<I")
_THREAD_AT: Final = 8  # in a packet


@dataclass(slots=True)
class Batch:
    """Whole packets that stand one after another.

    Attributes:
        records: The fixed parts of the packets, joined.
        markers: For each contention, in order: both markers and the other thread.
        addresses: Where threads are, each with its number. The packets that say so are
            left out: they are no events.
        end: Where the bytes after the last of them stand in the buffer.
        damaged: Whether those are no packet; else they are the beginning of one.
    """

    records: bytes
    markers: list[tuple[bytes, bytes, int]] = field(default_factory=list)
    addresses: list[tuple[int, bytes]] = field(default_factory=list)
    end: int = 0
    damaged: bool = False


def cut_packets(buffer: bytes, position: int, form: Format) -> Batch:
    """Return the packets from a position on, up to the first that is not whole."""
    batch = _cut_by_lengths(buffer, position, form)
    return batch if _sound(batch, form) else _cut_by_events(buffer, position, form)


def same_second(records: bytes, size: int) -> Iterator[tuple[int, int, int]]:
    """Yield runs of records of one second, so that few have to look at their seconds.

    Each is the second in nanoseconds, and where the run begins and ends.
    """
    low, *others = (records[index::size] for index in range(4))
    begin, count, window = 0, len(low), _SHORTEST
    while begin < count:
        rest = low[begin : begin + window]
        length = len(rest) - len(rest.lstrip(rest[:1]))
        end = begin + length
        if any(one[begin:end] != one[begin : begin + 1] * length for one in others):
            end = begin + 1  # so far apart that only the low byte is the same
        seconds = int.from_bytes(records[begin * size : begin * size + 4], "little")
        yield seconds * 1_000_000_000, begin * size, end * size
        begin = end
        window = window * 2 if length == len(rest) else _SHORTEST


def _cut_by_lengths(buffer: bytes, position: int, form: Format) -> Batch:
    """Take every packet for good, and one that has a first marker for a contention.

    The lengths of first markers stand at equal distances up to the first that is not
    zero, so a slice with a step holds them.
    """
    size, whole, two = form.packet.size, len(buffer), form.two_markers
    lengths = 2 if two else 1  # they are the last bytes of a packet
    firsts = buffer[: whole - lengths + 1]  # where one of them is, all of its packet is
    # Counted from a packet's end.
    other_from = size - form.other_offset if form.other_offset is not None else 0
    pieces: list[bytes] = []
    markers: list[tuple[bytes, bytes, int]] = []
    addresses: list[tuple[int, bytes]] = []
    begin, reach, other = position, _WINDOW * size, 0
    while True:
        found = firsts[position + size - lengths : position + reach : size]
        rest = found.lstrip(b"\0")
        if not rest:
            position += len(found) * size
            if not found:
                break
            reach *= 2
            continue
        at = position + (len(found) - len(rest) + 1) * size
        middle = at + rest[0]
        end = middle + buffer[at - 1] if two else middle
        if end > whole:  # a marker is cut
            position = at - size
            break
        if buffer.startswith(WORKER, at):
            pieces.append(buffer[begin : at - size])
            addresses.append(_address(buffer, at - size, at, middle))
        else:
            if other_from:
                (other,) = _NUMBER.unpack_from(buffer, at - other_from)
            pieces.append(buffer[begin:at])
            markers.append((buffer[at:middle], buffer[middle:end], other))
        begin = position = end
        reach = _WINDOW * size
    pieces.append(buffer[begin:position])
    return Batch(b"".join(pieces), markers, addresses, position)


def _address(buffer: bytes, packet: int, begin: int, end: int) -> tuple[int, bytes]:
    """Return the thread of a packet, and the address that its first marker says."""
    (thread,) = _NUMBER.unpack_from(buffer, packet + _THREAD_AT)
    return thread, buffer[begin + len(WORKER) : end]


def _sound(batch: Batch, form: Format) -> bool:
    """Tell whether all packets exist, and contentions alone have markers."""
    records, size = batch.records, form.packet.size
    events = records[size - (3 if form.two_markers else 2) :: size]
    contentions = events.translate(None, _without_markers(form))
    seconds = records[size - 1 :: size] if form.two_markers else b""
    return (
        len(contentions) == len(batch.markers)
        and not events.translate(None, bytes(range(len(form.kinds))))
        and not records[7::size].translate(None, _TOPS)
        and len(seconds) - seconds.count(0)
        == sum(1 for _, second, _ in batch.markers if second)
    )


@cache
def _without_markers(form: Format) -> bytes:
    """Return all bytes but the numbers of contentions."""
    return bytes(set(range(256)) - form.contentions)


def _cut_by_events(buffer: bytes, position: int, form: Format) -> Batch:
    """Look at every packet, and stop at the first that cannot be one."""
    run, size, last = _run(form).match, len(buffer), len(buffer) - form.packet.size
    offset = None
    if form.other_offset is not None:
        offset = form.packet.size - form.other_offset
    pieces: list[bytes] = []
    markers: list[tuple[bytes, bytes, int]] = []
    batch = Batch(b"", markers)
    while True:
        match = run(buffer, position)
        assert match is not None  # it matches nothing, too
        at = match.end()
        if match.lastindex is None:  # no contention follows
            pieces.append(match[0])
            batch.damaged = at <= last
            break
        # The lengths are the last bytes of what has matched.
        other = 0
        if form.two_markers:
            middle = at + buffer[at - 2]
            end = middle + buffer[at - 1]
            if offset is not None:
                (other,) = _NUMBER.unpack_from(buffer, at - offset)
        else:
            middle = end = at + buffer[at - 1]
        if end > size:  # a marker is cut
            at = match.start(1)
            pieces.append(buffer[position:at])
            break
        if buffer.startswith(WORKER, at):
            packet = at - form.packet.size
            pieces.append(buffer[position:packet])
            batch.addresses.append(_address(buffer, packet, at, middle))
        else:
            pieces.append(match[0])
            markers.append((buffer[at:middle], buffer[middle:end], other))
        position = end
    batch.records = b"".join(pieces)
    batch.end = at
    return batch


@cache
def _run(form: Format) -> re.Pattern[bytes]:
    """Return what matches packets without markers, and a contention if one follows."""
    lengths = 2 if form.two_markers else 1
    contentions = form.contentions
    plain = bytes(set(range(len(form.kinds))) - contentions)
    # Not possessive, though nothing can make it go back: in CPython before 3.11.5 that
    # ends in the wrong place. The top byte of nanoseconds below a second is at most
    # 0x3b.
    head = rb".{7}[\x00-\x3b].{%d}" % (form.packet.size - 9 - lengths)
    return re.compile(
        rb"(?s)(?:%b[%b]%b)*(%b[%b]%b)?"
        % (
            *(head, re.escape(plain), rb"\x00" * lengths),
            *(head, re.escape(bytes(contentions)), b"." * lengths),
        )
    )
