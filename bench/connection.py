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
    """Sends one request at a time and reports the status once its answer is complete.

    Owned by the loop that made it. Only answers with a Content-Length are understood,
    which is what Tornado sends for a handler that does not flush.
    """

    def __init__(self) -> None:
        self.closed = False
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._expected: int | None = None
        self._report: Callable[[int], None] | None = None

    def send(self, request: bytes, report: Callable[[int], None]) -> None:
        """Send the request; `report` is called once with the status, or `NO_ANSWER`."""
        self._report = report
        if self.closed or self._transport is None:
            self._finish(NO_ANSWER)
        else:
            self._transport.write(request)

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
            body = int(found[1]) if found else 0
            self._expected = end + len(_END_OF_HEAD) + body
        if len(self._received) >= self._expected:
            status = int(self._received[9:12])
            self._received.clear()
            self._expected = None
            self._finish(status)

    def connection_lost(self, _error: Exception | None) -> None:
        """Report a request in flight as not answered; asyncio calls this."""
        self.closed = True
        self._finish(NO_ANSWER)

    def _finish(self, status: int) -> None:
        report, self._report = self._report, None
        if report is not None:
            report(status)


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
