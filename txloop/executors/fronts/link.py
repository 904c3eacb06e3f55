"""A socket between the owner and a front: frames, and descriptors that go with them.

A descriptor travels beside the first byte of its frame (``SCM_RIGHTS``). The kernel
hands descriptors out in the order of their frames, so the next one that has arrived
belongs to the next frame that says that it has one.
"""

from __future__ import annotations

import errno
import os
import socket
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from txloop.executors.codec.frames import Frames, frame
from txloop.executors.codec.packing import pack_plain, unpack_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from txloop.executors.protocol import Reactor

__all__ = ["MISSING", "Link"]

_CHUNK_BYTES = 1 << 16

_PAUSE_SECONDS = 0.01
_NO_ROOM = (errno.ETOOMANYREFS, errno.ENOBUFS, errno.ENOMEM)
"""A later attempt may succeed, when the other end has taken what is on its way."""

MISSING = -1
"""In the place of a descriptor for which there was no room here."""


class Link:
    """One end; used by one thread, which must not block at it.

    Attributes:
        unsent_bytes: How much waits for the other end to read.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.unsent_bytes = 0
        self._connection = connection
        self._frames = Frames()
        self._descriptors: deque[int] = deque()
        self._unsent: deque[tuple[bytes, int | None]] = deque()
        self._reactor: Reactor | None = None
        self._waits = False
        self._ends = False  # what is sent does not arrive any more

    def fileno(self) -> int:
        """Return the descriptor of the socket; -1 when it is closed."""
        return self._connection.fileno()

    def attach(self, reactor: Reactor, on_readable: Callable[[], object]) -> None:
        """Have `on_readable` called when there is something to receive."""
        self._reactor = reactor
        reactor.add_reader(self.fileno(), on_readable)

    def close(self) -> None:
        """Close it, and what has not been sent or taken."""
        if self._reactor is not None:
            self._reactor.remove_reader(self.fileno())
            self._reactor.remove_writer(self.fileno())
            self._reactor = None
        self._connection.close()
        left = [descriptor for _, descriptor in self._unsent]
        self._unsent.clear()
        for descriptor in (*left, *self._descriptors):
            _close(descriptor)
        self._descriptors.clear()

    @property
    def words(self) -> bytearray:
        """What has arrived of a frame that is not complete, or is none."""
        return self._frames.rest

    def send(self, parts: tuple[Any, ...], descriptor: int | None = None) -> None:
        """Send plain data, now or as soon as there is room.

        Args:
            parts: What `unpack_plain` gives at the other end.
            descriptor: One that goes along; it is closed here.
        """
        body = frame(pack_plain((descriptor is not None, *parts)))
        self._unsent.append((body, descriptor))
        self.unsent_bytes += len(body)
        if not self._waits and not self._ends:
            self._write()

    def _write(self) -> None:
        try:
            while self._unsent:
                body, descriptor = self._unsent[0]
                part = body[:_CHUNK_BYTES]
                if descriptor is None:
                    count = self._connection.send(part)
                else:
                    count = socket.send_fds(self._connection, [part], [descriptor])
                    _close(descriptor)
                self.unsent_bytes -= count
                if count < len(body):
                    self._unsent[0] = body[count:], None
                else:
                    self._unsent.popleft()
        except BlockingIOError:
            self._wait(True)
            return
        except OSError as error:
            if error.errno in _NO_ROOM and self._reactor is not None:
                self._waits = True
                self._reactor.call_later(_PAUSE_SECONDS, self._write)
                return
            self._ends = True  # the other end is gone: reading will say so
        self._wait(False)

    def take_unsent(self) -> list[int]:
        """Return the descriptors that did not get off: the caller's now."""
        found = [one for _, one in self._unsent if one is not None]
        self._unsent.clear()
        return found

    def take_unread(self) -> list[int]:
        """Return the descriptors that have arrived, with frames that are not read.

        They are the caller's now. Where the first frame begins is unknown: whoever was
        to read it may have died in the midst of one.
        """
        found: list[int] = []
        with suppress(OSError):
            while True:
                data, descriptors, flags, _ = self._receive()
                if not data:
                    break
                found += _all_of(descriptors, flags)
        return found

    def _wait(self, waits: bool) -> None:
        if waits == self._waits or self._reactor is None:
            return
        self._waits = waits
        if waits:
            self._reactor.add_writer(self.fileno(), self._write)
        else:
            self._reactor.remove_writer(self.fileno())

    def receive(self) -> Iterator[tuple[tuple[Any, ...], int | None]]:
        """Yield what has arrived, and the descriptor that came along, if one did.

        Raises:
            EOFError: (on iteration) if the other end is closed, and nothing is left.
            OSError: the same, seen otherwise.
            GarbledError: if something else has arrived.
        """
        some = False
        while True:
            try:
                data, descriptors, flags, _ = self._receive()
            except BlockingIOError:
                return
            except OSError:
                data = b""
                if not some:
                    raise
            if not data:
                if some:  # the end is told of when what came before is taken
                    return
                raise EOFError
            self._descriptors.extend(_all_of(descriptors, flags))
            for body in self._frames.feed(data):
                brings_one, *parts = unpack_plain(body)
                descriptor = self._descriptors.popleft() if brings_one else None
                some = True
                yield tuple(parts), None if descriptor == MISSING else descriptor
            if len(data) < _CHUNK_BYTES and not descriptors:
                return  # that was all: what comes now makes the socket readable again

    def _receive(self) -> tuple[bytes, list[int], int, object]:
        return socket.recv_fds(self._connection, _CHUNK_BYTES, 1)


def _all_of(descriptors: list[int], flags: int) -> list[int]:
    """Return the descriptors that came with a part, also one that had no room."""
    return descriptors or ([MISSING] if flags & socket.MSG_CTRUNC else [])


def _close(descriptor: int | None) -> None:
    if descriptor is not None and descriptor != MISSING:
        with suppress(OSError):
            os.close(descriptor)
