"""Clients that shut down their side after the request, as ``nc -N`` does."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import socket
from pathlib import Path

import pytest
from tornado.iostream import IOStream
from tornado.web import Application, RequestHandler

from tests.engine import Gate
from tests.flags import until
from tests.messages import Request, read_answer
from tests.serving import serving
from txloop import TCounter, TVar, inevitable, retry, transactional

LARGE = 3_000_000

count = TCounter()
poured = TVar(0)
closed: list[str] = []


class Plain(RequestHandler):
    def get(self):
        self.write("plain")

    def post(self):
        self.write(self.request.body)


@transactional
class Marked(RequestHandler):
    def get(self):
        count.add()
        self.write("marked")

    def post(self):
        self.write(self.request.body)

    def put(self):
        self.write("x" * LARGE)


@transactional
class Long(RequestHandler):
    """Runs until a gate opens, and may wait then."""

    def get(self):
        folder = Path(self.get_query_argument("folder"))
        Gate(folder / f"started-{self.get_query_argument('n', '')}").open()
        if self.get_query_argument("held", ""):
            Gate(folder / "gate").wait()
        if self.get_query_argument("waits", "") and not poured.value:
            retry()
        count.add()
        self.write("long")


class Asynchronous(RequestHandler):
    async def get(self):
        closed.append("begun")
        await until(lambda: len(closed) > 1)
        closed.append("ended")

    def on_connection_close(self):
        closed.append("closed")


@transactional(trust=True)
class Awaiting(Asynchronous):
    def get(self):
        inevitable()
        return asyncio.ensure_future(super().get())


@transactional(trust=True)
class Unfinished(RequestHandler):
    """Leaves its answer to be finished later, as streams of events do."""

    def get(self, begun):
        self._auto_finish = False
        if begun:
            self.write("data: begun")
            self.flush()
        closed.append("begun")

    def on_connection_close(self):
        closed.append("closed")


def make_application():
    return Application(
        [
            ("/plain", Plain),
            ("/marked", Marked),
            ("/long", Long),
            ("/asynchronous", Asynchronous),
            ("/awaiting", Awaiting),
            ("/unfinished(/begun)?", Unfinished),
        ]
    )


@pytest.fixture
def server(kind):
    closed.clear()
    count.value = poured.value = 0
    with serving(kind, make_application) as server:
        yield server


@contextlib.asynccontextmanager
async def half_closed(server, *requests):
    """Send requests and the end of all that is sent before the server has looked.

    Of one that ends later, but before its handler has begun, stock Tornado loses the
    answer, too.
    """
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"".join(one.encoded() for one in requests))
        client.shutdown(socket.SHUT_WR)
        reader, writer = await asyncio.open_connection(sock=client)
        try:
            yield reader
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
            await server.pause()  # for the server to see the end, too


def answers(server, *requests):
    """Return the bodies of the answers, and what follows the last one."""

    async def talk():
        async with half_closed(server, *requests) as reader:
            found = [await read_answer(reader, one.method) for one in requests]
            return [one.body for one in found], await reader.read()

    return server.run(talk)


REQUESTS = {
    "unmarked": (Request("GET", "/plain"), b"plain"),
    "unmarked, with a body": (Request("POST", "/plain", body=b"sent"), b"sent"),
    "marked": (Request("GET", "/marked"), b"marked"),
    "marked, with a body": (Request("POST", "/marked", body=b"sent"), b"sent"),
    "a large answer": (Request("PUT", "/marked", body=b""), b"x" * LARGE),
}


@pytest.mark.at_owner("it is not marked", "unmarked", "unmarked, with a body")
@pytest.mark.parametrize("name", REQUESTS)
def test_the_answer_comes(name, server):
    request, body = REQUESTS[name]

    for _ in range(5):
        assert ([body], b"") == answers(server, request)


def test_the_answers_to_all_requests_come(server):
    request = Request("GET", "/marked")

    assert ([b"marked"] * 3, b"") == answers(server, *[request] * 3)
    assert 3 == count.value


def test_a_connection_is_used_again_until_then(tmp_path):
    async def talk(server):
        async with server.connection() as (reader, writer):
            for _ in range(3):
                writer.write(Request("GET", "/marked").encoded())
                await read_answer(reader, "GET")
            path = f"/long?folder={tmp_path}&held=1"
            writer.write(Request("GET", path).encoded())
            await until((tmp_path / "started-").exists)
            writer.write_eof()
            await server.pause()
            Gate(tmp_path / "gate").open()
            return (await read_answer(reader, "GET")).body, await reader.read()

    with serving("processes", make_application, workers=1) as server:
        assert (b"long", b"") == server.run(lambda: talk(server))


def test_what_waits_is_dropped_if_its_client_has_left_before(server, tmp_path):
    path = f"/long?folder={tmp_path}&waits=1"

    async def talk():
        async with server.connection() as (reader, writer):
            writer.write(Request("GET", "/marked").encoded())
            await read_answer(reader, "GET")
            writer.write(Request("GET", path).encoded())
            writer.write_eof()  # it may be seen before the handler begins, or after
            await reader.read()
            await until(lambda: not server.loop.dispatcher.pending)

    server.run(talk)


def test_the_answer_of_a_long_run_comes(tmp_path, monkeypatch):
    # GIVEN
    async def talk(server):
        path = f"/long?folder={tmp_path}&held=1"
        async with half_closed(server, Request("GET", path)) as reader:
            await until((tmp_path / "started-").exists)
            reads.clear()
            await server.pause()
            seen = len(reads)
            Gate(tmp_path / "gate").open()
            return seen, (await read_answer(reader, "GET")).body

    reads: list[int] = []
    read = IOStream.read_from_fd

    def count_reads(self, buffer):
        reads.append(1)
        return read(self, buffer)

    monkeypatch.setattr(IOStream, "read_from_fd", count_reads)

    # WHEN
    with serving("processes", make_application, workers=1) as server:
        seen, body = server.run(lambda: talk(server))

    # THEN
    assert b"long" == body
    assert seen <= 2  # the loop does not spin


def test_the_answer_of_what_waits_for_a_worker_comes(tmp_path):
    async def talk(server):
        held, free = (f"/long?folder={tmp_path}&held={h}&n={h}" for h in ("1", ""))
        async with half_closed(server, Request("GET", held)) as first:
            await until((tmp_path / "started-1").exists)
            async with half_closed(server, Request("GET", free)) as second:
                await until(lambda: server.loop.dispatcher.busy == 2)
                await server.pause()
                Gate(tmp_path / "gate").open()
                return [await read_answer(one, "GET") for one in (first, second)]

    count.value = 0
    with serving("processes", make_application, workers=1) as server:
        found = server.run(lambda: talk(server))

    assert [b"long", b"long"] == [one.body for one in found]
    assert 2 == count.value


def test_what_waits_is_dropped(server, tmp_path):
    """Its client may have gone: a handler of stock Tornado that waits learns that."""
    # GIVEN
    path = f"/long?folder={tmp_path}&waits=1"

    async def talk():
        async with half_closed(server, Request("GET", path)) as reader:
            left = await reader.read()
            await until(lambda: not server.loop.dispatcher.pending)
            poured.value = 1
            return left

    # WHEN
    left = server.run(talk)

    # THEN
    assert b"" == left
    assert 0 == count.value


@pytest.mark.at_owner("it is not marked", "/asynchronous")
@pytest.mark.parametrize("path", ["/asynchronous", "/awaiting"])
def test_a_handler_that_waits_learns_of_it_as_in_stock_tornado(path, kind):
    async def talk(server):
        async with server.connection() as (reader, writer):
            writer.write(Request("GET", path).encoded())
            await until(lambda: closed)
            writer.write_eof()
            rest = await reader.read()
            await until(lambda: len(closed) > 2)
            return rest

    for one in ("stock", kind):
        closed.clear()
        with serving(one, make_application) as server:
            assert b"" == server.run(functools.partial(talk, server))
            assert ["begun", "closed", "ended"] == closed


@pytest.mark.parametrize("path", ["/unfinished", "/unfinished/begun"])
def test_a_handler_that_answers_later_learns_of_it_as_in_stock_tornado(path, kind):
    async def talk(server):
        async with server.connection() as (reader, writer):
            writer.write(Request("GET", path).encoded())
            await until(lambda: closed)
            await server.pause()
            writer.write_eof()
            rest = await reader.read()
            await until(lambda: "closed" in closed)
            return b"begun" in rest

    for one in ("stock", kind):
        closed.clear()
        with serving(one, make_application) as server:
            assert path.endswith("begun") == server.run(functools.partial(talk, server))
            assert 1 == closed.count("closed")


def test_nothing_is_left_of_a_connection(server):
    async def talk():
        async with half_closed(server, Request("GET", "/marked")) as reader:
            await reader.read()
        await asyncio.sleep(0)
        return len(server.loop.handlers)

    server.run(talk)
    before = server.run(talk)

    assert before == server.run(talk)
