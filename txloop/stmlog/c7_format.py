"""The bytes of an stm.log: PyPy-STM's C7 format, 16 bytes and then packets.

A packet is packed little-endian: seconds, nanoseconds, thread and other thread as four
32-bit numbers, the event and the lengths of two markers as bytes, then the markers.
Times are those of CLOCK_MONOTONIC, which all processes of a machine share. Source:
stmgc's ``c7/stm/prof.c`` as of 2014-10-05, which PyPy's ``print_stm_log.py`` reads.
"""

from __future__ import annotations

import struct
from typing import Final

__all__ = [
    "ABORT",
    "COMMIT",
    "CONTENTION_INEVITABLE",
    "CONTENTION_WRITE_READ",
    "CONTENTION_WRITE_WRITE",
    "HEADER",
    "LONGEST_MARKER",
    "START",
    "WAIT_CONTENTION",
    "WAIT_DONE",
    "WAIT_FREE_SEGMENT",
    "WAIT_SYNC_PAUSE",
    "marker",
    "tail",
    "timed",
    "worker_marker",
]

HEADER: Final = b"STMGC-C7-PROF01\n"

START: Final = 0
COMMIT: Final = 1
ABORT: Final = 2
CONTENTION_WRITE_WRITE: Final = 3
CONTENTION_WRITE_READ: Final = 4
CONTENTION_INEVITABLE: Final = 5
WAIT_FREE_SEGMENT: Final = 7
WAIT_SYNC_PAUSE: Final = 8
WAIT_CONTENTION: Final = 9
WAIT_DONE: Final = 10

LONGEST_MARKER: Final = 255
"""Its length is one byte."""

_SECOND = 1_000_000_000
_TIME = struct.Struct("<II")
_TAIL = struct.Struct("<IIBBB")
_LARGEST = 0xFFFFFFFF

_PLACE_ROOM = 128 - 32
"""PyPy's buffer for one marker, less what is always in it."""


def tail(
    thread: int, event: int, marker1: bytes = b"", marker2: bytes = b"", other: int = 0
) -> bytes:
    """Return a packet without its time."""
    head = _TAIL.pack(thread, other, event, len(marker1), len(marker2))
    return head + marker1 + marker2 if marker1 or marker2 else head


def timed(nanoseconds: int, tail: bytes) -> bytes:
    """Return a whole packet."""
    seconds, rest = divmod(nanoseconds, _SECOND)
    return _TIME.pack(seconds & _LARGEST, rest) + tail


def marker(
    file: str, line: int, function: str, label: str = "", cell: str = ""
) -> bytes:
    """Return a place as PyPy writes it, and what txloop says besides.

    What is too long is cut as PyPy does: of a function's name the end, shown by ``>``,
    of a file's name the beginning, shown by ``<``.
    """
    name, cut_name = function.encode(errors="replace"), b""
    if len(name) > _PLACE_ROOM // 2:
        name, cut_name = name[: _PLACE_ROOM // 2], b">"
    path, cut_path, room = file.encode(errors="replace"), b"", _PLACE_ROOM - len(name)
    if len(path) > room:
        path, cut_path = path[-room:], b"<"
    place = b'File "%b%b", line %d, in %b%b' % (cut_path, path, line, name, cut_name)
    if label:
        place += _extra(b"[", label, b"]", (LONGEST_MARKER - len(place)) // 2)
    if cell:
        place += _extra(b"{", cell, b"}", LONGEST_MARKER - len(place))
    return place


def worker_marker(address: str) -> bytes:
    """Return what names the worker that a thread of the log is.

    It stands for the place of a contention, before a START: there it costs nothing, so
    PyPy's tool lists it last.
    """
    return b"Worker " + address.encode(errors="replace")[: LONGEST_MARKER - 7]


def _extra(begin: bytes, text: str, end: bytes, room: int) -> bytes:
    """Return a part in brackets that has at most `room` bytes, the space included."""
    body, left = text.encode(errors="replace"), room - 3
    if len(body) > left:
        body = body[: left - 1] + b">"
    return b" " + begin + body + end
