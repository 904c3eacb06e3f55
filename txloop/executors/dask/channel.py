"""Messages, and the bytes of sockets, over one of Dask's connections.

Both ends are alike: the one in the program's process has the loop thread's sockets, the
one in the Dask worker those of the workers that were forked there. So each of these
sockets seems to lead to the other one.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from distributed.protocol import to_serialize

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from distributed.comm import Comm

__all__ = ["Channel"]

_CHUNK_BYTES = 1 << 18
_LARGE_BYTES = 1 << 16  # from here on Dask serialises and compresses as it does
_MOST_BYTES = 1 << 24  # that wait to be sent; beyond it sockets are not read


class Channel:
    """One connection between a program and a Dask worker; of one asyncio loop.

    A message is a tuple of what msgpack knows; those of ``"bytes"`` and ``"end"`` are
    the channel's own.
    """

    def __init__(
        self,
        comm: Comm,
        take: Callable[..., object],
        before_end: Callable[[], object] = lambda: None,
    ) -> None:
        """Carry messages over a connection.

        Args:
            comm: It is read and written by nothing else from now on.
            take: Called with each message.
            before_end: Called before the other end is told that a socket has ended.
        """
        self._comm = comm
        self._take = take
        self._before_end = before_end
        self._loop = asyncio.get_running_loop()
        self._pipes: dict[int, _Pipe] = {}
        self._waiting: list[tuple[Any, ...]] = []
        self._waiting_bytes = 0
        self._bell = asyncio.Event()
        self._broken = False

    @property
    def full(self) -> bool:
        """Whether enough waits to be sent."""
        return self._waiting_bytes > _MOST_BYTES

    def send(self, *message: Any) -> None:
        """Send a message, after all earlier ones."""
        self._waiting.append(message)
        self._bell.set()

    def join(self, number: int, end: socket.socket) -> None:
        """Connect a socket with that of the same number at the other end."""
        if self._broken:
            end.close()
            return
        self._pipes[number] = _Pipe(self, self._loop, number, end)

    def leave(self, number: int) -> None:
        """Close the socket of that number, when all is written."""
        pipe = self._pipes.pop(number, None)
        if pipe is not None:
            pipe.close_soon()

    def read(self, number: int, data: bytes) -> None:
        """Send on what a socket has sent; no data is its end."""
        if data:
            self._waiting_bytes += len(data)
            large = len(data) >= _LARGE_BYTES
            self.send("bytes", number, to_serialize(data) if large else data)
            return
        self._before_end()
        self._pipes.pop(number).close()
        self.send("end", number)

    async def run(self, on_break: Callable[[], object] = lambda: None) -> None:
        """Carry until the connection breaks, or `close` is called.

        Args:
            on_break: Called then, before the sockets are closed.
        """
        writing = asyncio.ensure_future(self._write())
        try:
            while True:
                for message in await self._comm.read():
                    self._receive(*message)
        except OSError:  # CommClosedError is one
            pass
        finally:
            writing.cancel()
            self._broken = True
            on_break()
            for pipe in self._pipes.values():
                pipe.close()
            self._pipes.clear()
            self._comm.abort()

    def close(self) -> None:
        """Break the connection."""
        self._comm.abort()

    async def _write(self) -> None:
        with suppress(OSError):
            while True:
                await self._bell.wait()
                self._bell.clear()
                batch, self._waiting = self._waiting, []
                self._waiting_bytes = 0
                await self._comm.write(batch)
                for pipe in self._pipes.values():
                    pipe.resume()

    def _receive(self, kind: str, number: Any = 0, *rest: Any) -> None:
        if kind == "bytes":
            pipe = self._pipes.get(number)
            if pipe is not None:
                pipe.write(*rest)
        elif kind == "end":
            self.leave(number)
        else:
            self._take(kind, number, *rest)


class _Pipe:
    """One socket, whose other end is elsewhere in this process or its children."""

    def __init__(
        self,
        channel: Channel,
        loop: asyncio.AbstractEventLoop,
        number: int,
        end: socket.socket,
    ) -> None:
        end.setblocking(False)
        self._channel = channel
        self._loop = loop
        self._number = number
        self._end = end
        self._output = bytearray()
        self._paused = self._waits = self._leaving = False
        loop.add_reader(end.fileno(), self._readable)

    def _readable(self) -> None:
        if self._channel.full:
            self._paused = True
            self._loop.remove_reader(self._end.fileno())
            return
        try:
            data = self._end.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._channel.read(self._number, data)

    def resume(self) -> None:
        """Read on, if that was paused."""
        if self._paused:
            self._paused = False
            self._loop.add_reader(self._end.fileno(), self._readable)

    def write(self, data: bytes) -> None:
        """Write it, or as much as there is room for, and the rest later."""
        self._output += data
        self._flush()

    def _flush(self) -> None:
        output = self._output
        try:
            while output:
                del output[: self._end.send(output)]
        except BlockingIOError:
            if not self._waits:
                self._waits = True
                self._loop.add_writer(self._end.fileno(), self._flush)
            return
        except OSError:
            output.clear()  # it has ended: reading says so
        if self._waits:
            self._waits = False
            self._loop.remove_writer(self._end.fileno())
        if self._leaving:
            self.close()

    def close_soon(self) -> None:
        """Close it when all is written."""
        self._leaving = True
        self._flush()

    def close(self) -> None:
        """Close it. Closing again does nothing."""
        if self._end.fileno() >= 0:
            self._loop.remove_reader(self._end.fileno())
            self._loop.remove_writer(self._end.fileno())
            self._end.close()
