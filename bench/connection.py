"""One keep-alive HTTP connection, reduced to what a load needs."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, cast

from bench.errors import LoadError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NO_ANSWER = 0
"""The status of a request whose connection was lost."""

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_END_OF_HEAD = b"\r\n\r\n"


class Connection(asyncio.Protocol):
    """Sends one request at a time and reports the answer once it is complete.

    Owned by the loop that made it. Only answers with a Content-Length are understood,
    which is what Tornado sends for a handler that does not flush.
    """

    def __init__(self) -> None:
        self.closed = False
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._begin = 0
        self._expected: int | None = None
        self._report: Callable[[int, bytes], None] | None = None

    def send(self, request: bytes, report: Callable[[int, bytes], None]) -> None:
        """Send the request; `report` is called once with the status and the body.

        Where no answer comes, the status is `NO_ANSWER`.
        """
        self._report = report
        if self.closed or self._transport is None:
            self._finish(NO_ANSWER, b"")
        else:
            self._transport.write(request)

    def ask(self, request: bytes) -> asyncio.Future[tuple[int, bytes]]:
        """Send the request and return what will be reported."""
        answer = asyncio.get_running_loop().create_future()

        def report(status: int, body: bytes) -> None:
            if not answer.done():
                answer.set_result((status, body))

        self.send(request, report)
        return answer

    def close(self) -> None:
        """Close; a request in flight is not reported any more."""
        self._report = None
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; asyncio calls this."""
        # asyncio's own promise for stream protocols, which its types do not state.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Collect the answer and report it when it is complete; asyncio calls this."""
        self._received += data
        if self._expected is None:
            end = self._received.find(_END_OF_HEAD)
            if end < 0:
                return
            found = _LENGTH.search(self._received, 0, end)
            self._begin = end + len(_END_OF_HEAD)
            self._expected = self._begin + (int(found[1]) if found else 0)
        if len(self._received) >= self._expected:
            status = int(self._received[9:12])
            body = bytes(self._received[self._begin : self._expected])
            self._received.clear()
            self._expected = None
            self._finish(status, body)

    def connection_lost(self, _error: Exception | None) -> None:
        """Report a request in flight as not answered; asyncio calls this."""
        self.closed = True
        self._finish(NO_ANSWER, b"")

    def _finish(self, status: int, body: bytes) -> None:
        report, self._report = self._report, None
        if report is not None:
            report(status, body)


async def connect(host: str, port: int, count: int) -> Sequence[Connection]:
    """Return so many open connections.

    Raises:
        LoadError: the server does not accept them.
    """
    loop = asyncio.get_running_loop()
    connections = []
    try:
        for _ in range(count):
            _, connection = await loop.create_connection(Connection, host, port)
            connections.append(connection)
    except OSError as error:
        for connection in connections:
            connection.close()
        raise LoadError(f"{host}:{port} refuses connections: {error}") from None
    return connections
