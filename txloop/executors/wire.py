"""How calls, deltas and outcomes become bytes, and how frames cut the byte stream.

A frame is its length (8 bytes, big-endian) and that many bytes: one pickle, protocol 5.
The only peers are the loop's process and its own forked children; no pickle is read
from anywhere else.
"""

from __future__ import annotations

import pickle
import struct
from typing import TYPE_CHECKING

import cloudpickle  # type: ignore[import-untyped] # it ships no types

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

__all__ = [
    "UNPICKLABLE",
    "Frames",
    "dumps",
    "frame",
    "loads",
    "numbered",
    "receive_frame",
    "split_number",
]

_LENGTH = struct.Struct(">Q")
_NUMBER = struct.Struct(">q")
_PROTOCOL = 5

UNPICKLABLE = (Exception,)
"""What pickling raises: whatever an object's own ``__reduce__`` does."""

loads = pickle.loads


def dumps(thing: object) -> bytes:
    """Pickle `thing`; functions and classes that have no importable name, by value."""
    try:
        return pickle.dumps(thing, _PROTOCOL)
    except UNPICKLABLE:
        return bytes(cloudpickle.dumps(thing, _PROTOCOL))


def frame(body: bytes) -> bytes:
    """Return `body` with its length in front."""
    return _LENGTH.pack(len(body)) + body


def numbered(number: int, body: bytes) -> bytes:
    """Return `body` with a number in front: known even if the body does not load."""
    return _NUMBER.pack(number) + body


def split_number(body: bytes) -> tuple[int, bytes]:
    """Undo `numbered`."""
    return _NUMBER.unpack_from(body)[0], body[_NUMBER.size :]


def receive_frame(connection: socket.socket) -> bytes | None:
    """Wait for a whole frame; None when the peer has closed the connection."""
    head = _receive_exactly(connection, _LENGTH.size)
    if head is None:
        return None
    return _receive_exactly(connection, _LENGTH.unpack(head)[0])


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

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take `data` and yield the frames that it completes."""
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= _LENGTH.size:
            end = start + _LENGTH.size + _LENGTH.unpack_from(buffer, start)[0]
            if len(buffer) < end:
                break
            yield bytes(buffer[start + _LENGTH.size : end])
            start = end
        del buffer[:start]
