"""Connections: when they are closed, and what is set on them."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
import time
import weakref
from typing import Any

import pytest
from tornado.web import Application, RequestHandler

from tests.flags import until
from tests.messages import Request
from tests.serving import KINDS, serving
from txloop import transactional

LIMIT_SECONDS = 0.2
LONG_SECONDS = 3 * LIMIT_SECONDS

LINE = Request("GET", "/line")
MARKED = Request("GET", "/marked")

streams: list[weakref.ref[Any]] = []


def stream_of(handler) -> Any:
    return handler.request.connection.stream


def nodelay_of(stream) -> bool:
    return bool(stream.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))


class Marked(RequestHandler):
    @transactional
    def get(self):
        self.write("marked")


class Slow(RequestHandler):
    async def get(self):
        await asyncio.sleep(LONG_SECONDS)
        self.write("slow")


class Line(RequestHandler):
    """Leaves HTTP, and answers lines."""

    async def get(self):
        before = nodelay_of(stream_of(self))
        stream = self.detach()
        after = nodelay_of(stream)
        await stream.write(f"{before:d}{after:d}\r\n\r\n".encode())
        line = await stream.read_until_regex(b"\n")
        await stream.write(line)
        stream.close()


class Notes(RequestHandler):
    """Tells whether connections that have ended are still known."""

    def get(self):
        streams.append(weakref.ref(stream_of(self)))


def make_application():
    return Application(
        [("/marked", Marked), ("/slow", Slow), ("/line", Line), ("/notes", Notes)]
    )


@pytest.fixture(params=["stock", *KINDS])
def server(request):
    """Serve where connections may wait for a short time only."""
    with serving(request.param, make_application) as server:

        async def listen():
            server.port = server.listen(idle_connection_timeout=LIMIT_SECONDS)

        server.run(listen)
        yield server


@pytest.mark.parametrize(
    "sent", [b"", b"GET /marked HT", MARKED.encoded()], ids=["new", "half", "answered"]
)
def test_a_connection_that_waits_too_long_is_closed(server, sent):
    async def wait():
        began = time.monotonic()  # before the server can know of the connection
        async with server.connection() as (reader, writer):
            writer.write(sent)
            if sent == MARKED.encoded():
                assert b"marked" == (await server.read(reader)).body
            left = b""
            with contextlib.suppress(ConnectionResetError):
                left = await reader.read()
            return time.monotonic() - began, left

    seconds, left = server.run(wait)

    assert left == b""
    assert seconds >= LIMIT_SECONDS


def test_a_connection_that_is_in_use_is_not_closed(server):
    async def use():
        async with server.connection() as (reader, writer):
            answers = []
            for path in ("/slow", "/marked", "/slow"):
                writer.write(Request("GET", path).encoded())
                answers.append((await server.read(reader)).body)
            return answers

    assert server.run(use) == [b"slow", b"marked", b"slow"]


def test_a_connection_that_has_left_http_may_wait(server):
    async def wait():
        async with server.connection() as (reader, writer):
            writer.write(MARKED.encoded())
            await server.read(reader)
            writer.write(LINE.encoded())
            flags = await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(LONG_SECONDS)
            writer.write(b"a line\n")
            return flags, await reader.read()

    flags, line = server.run(wait)

    assert line == b"a line\n"
    # Nagle's algorithm is as Tornado has it when a handler has the stream.
    assert flags == (b"00" if server.kind == "stock" else b"10") + b"\r\n\r\n"


def test_a_connection_that_has_ended_is_forgotten(server):
    streams.clear()

    async def end():
        async with server.connection() as (reader, writer):
            writer.write(Request("GET", "/notes").encoded())
            await server.read(reader)
        await until(lambda: gc.collect() >= 0 and streams[0]() is None)

    server.run(end)
