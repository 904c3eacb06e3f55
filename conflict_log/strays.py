"""Packets whose time cannot be right: one damaged byte must not cost hours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conflict_log.formats import CONTENTIONS

if TYPE_CHECKING:
    from conflict_log.formats import Format
    from conflict_log.framing import Batch

__all__ = ["drop_strays"]

_SECOND: Final = 1_000_000_000

# C7 reads the clock before it locks: threads differ, but not by more than this.
_SLACK: Final = _SECOND
# After such a silence, a second packet has to agree with the first.
_SILENCE: Final = 10 * _SECOND


def drop_strays(batch: Batch, form: Format, last: int) -> int:
    """Take the packets out of a batch whose time cannot be right; return how many.

    Args:
        batch: The batch; changed in place.
        form: How the log is written.
        last: The time of the packet before the batch, 0 if there is none.
    """
    if not batch.records or _steady(batch.records, form.packet.size, last):
        return 0
    return _drop(batch, form, last)


def _steady(records: bytes, size: int, last: int) -> bool:
    """Tell whether the seconds only grow, and not by much, without a loop."""
    end = len(records) - size
    first = int.from_bytes(records[:4], "little")
    final = int.from_bytes(records[end : end + 4], "little")
    before = last // _SECOND if last else first
    if not before <= first <= final <= before + _SILENCE // _SECOND:
        return False
    for column in (records[index::size] for index in (1, 2, 3)):
        if column != column[:1] * len(column):
            return False
    low, done = records[::size], 0
    for second in range(first & 255, (final & 255) + 1):
        count = low.count(second)
        if low[done : done + count] != bytes([second]) * count:
            return False
        done += count
    return True  # the last second is one of these, so nothing is left


def _drop(batch: Batch, form: Format, last: int) -> int:
    """Look at every packet's time, and its neighbour's where it is far off."""
    size, records = form.packet.size, batch.records
    fields = [
        (seconds * _SECOND + nanos, form.kinds[event])
        for seconds, nanos, _, event, _ in form.packet.iter_unpack(records)
    ]
    times = [time for time, _ in fields]
    kept: list[bytes] = []
    markers: list[tuple[bytes, bytes, int]] = []
    supply = iter(batch.markers)
    if not last:
        last = times[0] if _agrees(times, 0) or len(times) == 1 else times[1]
    for index, (time, kind) in enumerate(fields):
        marker = next(supply) if kind in CONTENTIONS else None
        if not last - _SLACK <= time <= last + _SILENCE and not _agrees(times, index):
            continue
        last = time
        kept.append(records[index * size : (index + 1) * size])
        if marker is not None:
            markers.append(marker)
    batch.records, batch.markers = b"".join(kept), markers
    return len(fields) - len(kept)


def _agrees(times: list[int], index: int) -> bool:
    """Tell whether the next packet has about the same time."""
    if index + 1 >= len(times):
        return False
    return -_SLACK <= times[index + 1] - times[index] <= _SILENCE
