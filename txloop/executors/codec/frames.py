"""How calls, deltas and outcomes become bytes, and how frames cut the byte stream.

A frame is four bytes that mark it, its length (8 bytes, big-endian) and that many
bytes: one pickle, protocol 5, or plain data (see `packing`). The only peers are the
loop's process and its own forked children; no pickle is read from anywhere else. What
does not begin with the mark was not written by this module, but perhaps by code that
got hold of the descriptor.
"""

from __future__ import annotations

import copyreg
import io
import pickle
import struct
from typing import TYPE_CHECKING

from txloop.executors.codec.by_value import dumps_by_value
from txloop.stm.held import UNASKED, refuse_unasked, travel_table

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

__all__ = [
    "FRAMING_BYTES",
    "LARGEST_BYTES",
    "UNPICKLABLE",
    "Frames",
    "GarbledError",
    "dumped_within",
    "dumps",
    "frame",
    "loads",
    "numbered",
    "receive_frame",
    "split_number",
]

LARGEST_BYTES = 1 << 32
"""No frame's body is longer: a greater length is a mistake, not worth waiting for."""

FRAMING_BYTES = 64
"""More than what comes in front of a body."""

_MARK = b"\xabtx\x01"
_HEAD = struct.Struct(">4sQ")
_NUMBER = struct.Struct(">qd")
_PROTOCOL = 5

UNPICKLABLE = (Exception,)
"""What pickling raises: whatever an object's own ``__reduce__`` does."""

loads = pickle.loads


def dumps(thing: object) -> bytes:
    """Pickle `thing`; functions and classes that have no importable name, by value."""
    try:
        return _dumps_checked(thing) if travel_table else pickle.dumps(thing, _PROTOCOL)
    except UNPICKLABLE:
        return dumps_by_value(thing, _PROTOCOL)


def _dumps_checked(thing: object) -> bytes:
    """Pickle it, but nothing that belongs to the loop thread, though it may pickle."""
    with io.BytesIO() as file:
        _checked(file).dump(thing)
        return file.getvalue()


def _checked(file: io.BytesIO | _Counted) -> pickle.Pickler:
    asks = UNASKED.isdisjoint(travel_table)
    pickler = (pickle.Pickler if asks else _Asking)(file, _PROTOCOL)
    pickler.dispatch_table = copyreg.dispatch_table | travel_table
    return pickler


def dumped_within(thing: object, most_bytes: int) -> bool:
    """Tell whether a pickle of `thing` has so few bytes; ends as soon as it has not."""
    try:
        _checked(_Counted(most_bytes)).dump(thing)
    except UNPICKLABLE:
        return False
    return True


class _Counted:
    """A file that keeps nothing, and takes so many bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._left = most_bytes

    def write(self, data: bytes) -> int:
        self._left -= len(data)
        if self._left < 0:
            raise ValueError("it is longer")
        return len(data)


class _Asking(pickle.Pickler):
    """Asks about each object; it is slower."""

    persistent_id = refuse_unasked


class GarbledError(Exception):
    """A peer has sent what is no frame, or not the one that was its turn."""


def frame(body: bytes) -> bytes:
    """Return `body` with its mark and length in front."""
    return _HEAD.pack(_MARK, len(body)) + body


def _length(head: bytes | bytearray, start: int = 0) -> int:
    mark, length = _HEAD.unpack_from(head, start)
    if mark != _MARK or length > LARGEST_BYTES:
        raise GarbledError(f"no frame begins with {bytes(head[start : start + 12])!r}")
    return int(length)


def numbered(number: int, body: bytes, lost_seconds: float = 0.0) -> bytes:
    """Return `body` with what is known even if it does not load in front.

    Args:
        number: That of the attempt.
        body: The answer.
        lost_seconds: For how long the attempt could have run and had no core.
    """
    return _NUMBER.pack(number, lost_seconds) + body


def split_number(body: bytes) -> tuple[int, float, bytes]:
    """Undo `numbered`.

    Raises:
        GarbledError: if there is no number.
    """
    if len(body) < _NUMBER.size:
        raise GarbledError(f"no answer begins with {body!r}")
    return *_NUMBER.unpack_from(body), body[_NUMBER.size :]


def receive_frame(connection: socket.socket) -> bytes | None:
    """Wait for a whole frame; None when the peer has closed the connection.

    Raises:
        GarbledError: if something else arrives.
    """
    head = _receive_exactly(connection, _HEAD.size)
    return None if head is None else _receive_exactly(connection, _length(head))


def _receive_exactly(connection: socket.socket, size: int) -> bytes | None:
    buffer = bytearray(size)
    view = memoryview(buffer)
    while view:
        count = connection.recv_into(view)
        if not count:
            return None
        view = view[count:]
    return bytes(buffer)


class Frames:
    """Collects what arrives in pieces and gives out whole frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    @property
    def rest(self) -> bytearray:
        """What has arrived of a frame that is not complete, or is none."""
        return self._buffer

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Add `data` and yield the frames that it completes.

        Raises:
            GarbledError: (on iteration) if what follows is no frame; it is the `rest`.
        """
        buffer = self._buffer
        buffer += data
        start = 0
        try:
            while len(buffer) - start >= _HEAD.size:
                body = start + _HEAD.size
                end = body + _length(buffer, start)
                if len(buffer) < end:
                    break
                yield bytes(buffer[body:end])
                start = end
        finally:
            del buffer[:start]
