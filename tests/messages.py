"""Requests and answers as they go over a connection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

__all__ = ["Answer", "Request", "read_answer", "without_date"]

HOST = "txloop.test"


@dataclass(frozen=True)
class Request:
    """What a client sends."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    version: str = "HTTP/1.1"

    def encoded(self) -> bytes:
        """Return the bytes on the wire."""
        headers = {"Host": HOST, **self.headers}
        if self.body is not None:
            headers.setdefault("Content-Length", str(len(self.body)))
        lines = [f"{self.method} {self.path} {self.version}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return "\r\n".join([*lines, "", ""]).encode("latin1") + (self.body or b"")


@dataclass(frozen=True)
class Answer:
    """What a server answers, the date left out."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """Return the value of a header, or None."""
        return next((value for key, value in self.headers if key == name), None)

    def cookies(self) -> dict[str, str]:
        """Return the values of the cookies that it sets."""
        pairs = [value for key, value in self.headers if key == "Set-Cookie"]
        found = (pair.partition(";")[0].partition("=") for pair in pairs)
        return {name: value.strip('"') for name, _, value in found}


async def read_answer(reader: asyncio.StreamReader, method: str) -> Answer:
    """Read one answer, as far as its own headers say that it goes."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin1").split("\r\n")
    _, status, reason = head[0].split(" ", 2)
    headers = [
        (name, value)
        for name, _, value in (line.partition(": ") for line in head[1:-2])
    ]
    known = {name.lower(): value for name, value in headers}
    if method == "HEAD" or status in ("101", "204", "304"):
        body = b""
    elif known.get("transfer-encoding") == "chunked":
        body = await _read_chunks(reader)
    elif "content-length" in known:
        body = await reader.readexactly(int(known["content-length"]))
    else:
        body = await reader.read()
    kept = tuple(header for header in headers if header[0] != "Date")
    return Answer(int(status), reason, kept, body)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    chunks = []
    while size := int(await reader.readline(), 16):
        chunks.append(await reader.readexactly(size))
        await reader.readline()
    await reader.readline()
    return b"".join(chunks)


def without_date(received: bytes) -> bytes:
    """Return what came over a connection without the lines that tell the time."""
    lines = received.split(b"\r\n")
    return b"\r\n".join(line for line in lines if not line.startswith(b"Date:"))
