"""Where the packets go on after bytes that are none."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from conflict_log.formats import CONTENTIONS

if TYPE_CHECKING:
    from conflict_log.formats import Format

__all__ = ["ENOUGH", "find_packet"]

# So many packets in a row do not make sense by chance.
ENOUGH: Final = 4
_SECOND: Final = 1_000_000_000
_HOUR: Final = 3600


def find_packet(
    buffer: bytes, begin: int, form: Format, seconds: int, at_end: bool
) -> int | None:
    """Return where the next packets that make sense begin, or None.

    Args:
        buffer: Bytes of the log.
        begin: Where to look from.
        form: How the log is written.
        seconds: The time of the last good packet; the next is within an hour of it.
        at_end: Whether the log ends with the buffer: then fewer packets will do.
    """
    for match in _pattern(form).finditer(buffer, begin):
        position = match.start()
        verdict = _run_of_packets(buffer, position, form, seconds)
        if verdict is None:
            return position if at_end else None
        if verdict:
            return position
    return None


def _plausible(
    buffer: bytes, position: int, form: Format, seconds: int | None
) -> int | None:
    """Return where the packet at a position ends, None if it cannot be one."""
    at, nanos, _, event, lengths = form.packet.unpack_from(buffer, position)
    if event >= len(form.kinds) or nanos >= _SECOND:
        return None
    if lengths and form.kinds[event] not in CONTENTIONS:
        return None
    if seconds is not None and not seconds - 2 <= at <= seconds + _HOUR:
        return None
    markers: int = (lengths & 255) + (lengths >> 8)
    return position + form.packet.size + markers


def _run_of_packets(
    buffer: bytes, position: int, form: Format, seconds: int
) -> bool | None:
    """Tell whether enough packets follow one another; None: the buffer is too short."""
    last = len(buffer) - form.packet.size
    for _ in range(ENOUGH):
        if position > last:
            return None
        end = _plausible(buffer, position, form, seconds)
        if end is None:
            return False
        position = end
    return True


@cache
def _pattern(form: Format) -> re.Pattern[bytes]:
    """Return what finds places that may be packets, far faster than a loop."""
    top = bytes([len(form.kinds) - 1])
    before_event = form.packet.size - 8 - (3 if form.two_markers else 2)
    source = rb"(?s)(?=.{7}[\x00-\x3b].{%d}[\x00-%s])"
    return re.compile(source % (before_event, re.escape(top)))
