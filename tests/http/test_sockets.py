"""WebSockets written to by transactions: once, in order, when the commit is there."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections import defaultdict

import pytest
from tornado.web import Application, RequestHandler
from tornado.websocket import (
    WebSocketClosedError,
    WebSocketHandler,
    websocket_connect,
)

from tests.flags import until
from tests.logs import expect_log
from tests.messages import Request
from tests.serving import FORKED, serving
from txloop import TDict, TList, TSet, or_else, retry, transactional

members: TSet[WebSocketHandler] = TSet()
named: TDict[str, WebSocketHandler] = TDict()
pairs: TList[tuple[int, WebSocketHandler]] = TList()
lines: TList[str] = TList()
closed: list[int | None] = []


class Feed(WebSocketHandler):
    """Is kept in containers while it is open."""

    def open(self) -> None:
        self.name = self.get_argument("name", "")
        members.add(self)
        named[self.name] = self
        pairs.append((len(pairs), self))

    def on_close(self) -> None:
        members.discard(self)
        named.pop(self.name, None)
        closed.append(self.close_code)


class Verb(RequestHandler):
    def set_default_headers(self) -> None:
        self.set_header("Pid", os.getpid())

    def text(self) -> str:
        return self.request.body.decode()


@transactional
class Say(Verb):
    def post(self) -> None:
        lines.append(self.text())
        for socket in members:
            socket.write_message(f"{len(lines)} {self.text()}")


@transactional
class Prune(Verb):
    """Forgets those that have left."""

    def post(self) -> None:
        for socket in list(members):
            try:
                socket.ping(b"still there?")
            except WebSocketClosedError:
                members.remove(socket)
            else:
                socket.write_message(self.text())


@transactional
class Tell(Verb):
    """Sends in each way, and what is not text."""

    def post(self, name: str) -> None:
        socket = named[name]
        done = [socket.write_message({"a": [1]}), socket.write_message("ü")]
        socket.write_message(b"\x00", binary=True)
        for _, one in pairs:
            if one == socket:
                one.write_message("it")
        socket.ping(b"still there?")
        self.write(f"{[one.done() for one in done]} {socket in members}")


@transactional
class Fail(Verb):
    def post(self) -> None:
        for socket in members:
            socket.write_message("never")
        raise ValueError("after it has been sent")


@transactional(on_error="commit")
class FailAnyway(Verb):
    def post(self) -> None:
        for socket in members:
            socket.write_message("still")
        raise ValueError("after it has been sent")


@transactional
class Close(Verb):
    def post(self, name: str) -> None:
        named[name].write_message("goodbye")
        named[name].close(4000, "enough")
        named[name].write_message("too late")


@transactional
class Either(Verb):
    def post(self) -> None:
        def first() -> None:
            named["a"].write_message("not this")
            retry()

        named["a"].write_message("before")
        or_else(first, lambda: named["a"].write_message("that"))
        named["a"].write_message("after")


@transactional
class Rename(Verb):
    """Stores what it has from a container under another name."""

    def post(self, name: str) -> None:
        named[self.text()] = named.pop(name)
        members.discard(named[self.text()])


@transactional
class Look(Verb):
    """Asks for what belongs to the loop thread."""

    def post(self, name: str) -> None:
        self.write(named[name].name)  # type: ignore[attr-defined] # a Feed
        named[name].write_message(f"looked at by {os.getpid()}")


@transactional
class Ping(Verb):
    def post(self) -> None:
        named["a"].ping(self.text())
        named["a"].write_message("next")


@transactional
class Wrong(Verb):
    def post(self) -> None:
        named["a"].write_message(17)  # type: ignore[arg-type] # that is the point


def make_application() -> Application:
    verbs = (Say, Prune, Fail, Wrong, FailAnyway, Either, Ping)
    plain = [(f"/{verb.__name__}", verb) for verb in verbs]
    with_name = [(rf"/{v.__name__}/(\w+)", v) for v in (Tell, Close, Rename, Look)]
    return Application([("/feed", Feed), *plain, *with_name])


@pytest.fixture(scope="module")
def server(kind):
    with serving(kind, make_application, early=True) as started:
        yield started


@contextlib.asynccontextmanager
async def feeds(server, *names):
    """Connect, and wait until the server knows it."""
    lines.clear()
    closed.clear()
    sockets = [
        await websocket_connect(f"ws://127.0.0.1:{server.port}/feed?name={name}")
        for name in names
    ]
    await until(lambda: len(members) == len(names))
    heard.clear()
    try:
        yield sockets
    finally:
        for socket in sockets:
            socket.close()
            if None not in heard[socket]:
                await read(socket, sys.maxsize)
        await until(lambda: not members and len(closed) == len(names))
        named.clear()
        pairs.clear()
        await server.pause()


async def post(server, path, body="x"):
    async with server.connection() as (reader, writer):
        writer.write(Request("POST", path, {}, body.encode()).encoded())
        return await server.read(reader)


heard: defaultdict[object, list[object]] = defaultdict(list)


async def read(socket, number):
    """Return the next messages; None, which is the last, if it is closed."""
    found: list[object] = []
    while len(found) < number and None not in found:
        found.append(await socket.read_message())
    heard[socket] += found
    return found


def test_each_gets_each_message_once_in_the_order_of_commits(server):
    # GIVEN
    texts = [f"line {number}" for number in range(20)]

    # WHEN
    async def talk():
        async with feeds(server, "a", "b", "c") as sockets:
            await asyncio.gather(*(post(server, "/Say", text) for text in texts))
            return [await read(one, len(texts)) for one in sockets]

    seen = server.run(talk)

    # THEN
    assert sorted(texts) == sorted(lines)
    assert [[f"{n} {line}" for n, line in enumerate(lines, 1)]] * 3 == seen
    assert server.sent_away()


def test_a_socket_takes_what_it_takes_in_stock(server):
    # WHEN
    async def talk():
        async with feeds(server, "a") as [socket]:
            answer = await post(server, "/Tell/a")
            return answer.body, await read(socket, 4)

    # THEN
    body, seen = server.run(talk)
    assert b"[True, True] True" == body
    assert ['{"a": [1]}', "ü", b"\x00", "it"] == seen


def test_what_is_undone_sends_nothing(server):
    # WHEN
    async def talk():
        async with feeds(server, "a") as [socket]:
            await post(server, "/Fail")
            await post(server, "/FailAnyway")
            await post(server, "/Either")
            return await read(socket, 4)

    with expect_log("tornado", "^Uncaught exception|^500 POST", count=4):
        seen = server.run(talk)

    # THEN
    assert ["still", "before", "that", "after"] == seen


def test_close_waits_for_its_turn(server):
    # WHEN
    async def talk():
        async with feeds(server, "a") as [socket]:
            await post(server, "/Close/a")
            first = await read(socket, 2)
            return first, socket.close_code, socket.close_reason

    # THEN
    assert (["goodbye", None], 4000, "enough") == server.run(talk)


def test_one_can_be_stored_and_removed_anywhere(server):
    # WHEN
    async def talk():
        async with feeds(server, "a") as [socket]:
            await post(server, "/Rename/a", "b")
            await post(server, "/Tell/b")
            first = await read(socket, 1)
            found = list(named), len(members), type(named["b"]).__name__
            members.update(named.values())
            return first, found

    # THEN
    assert (['{"a": [1]}'], (["b"], 0, "Feed")) == server.run(talk)
    assert server.sent_away()


def test_what_it_does_not_take_fails_as_in_stock(server):
    # WHEN
    async def talk():
        async with feeds(server, "a") as [socket]:
            status = (await post(server, "/Wrong")).status
            await post(server, "/Say", "next")
            return status, await read(socket, 1)

    with expect_log("tornado", "^Uncaught exception|^500 POST", count=2):
        seen = server.run(talk)

    # THEN
    assert (500, ["1 next"]) == seen


def test_what_fails_at_the_commit_is_logged_and_the_rest_is_sent(server):
    # WHEN
    async def talk():
        async with feeds(server, "a") as [socket]:
            status = (await post(server, "/Ping", "too long" * 20)).status
            return status, await read(socket, 1)

    with expect_log("txloop", "^ping of Feed failed"):
        seen = server.run(talk)

    # THEN
    assert (200, ["next"]) == seen


def test_one_that_has_left_raises_as_in_stock(server):
    # WHEN
    async def talk():
        async with feeds(server, "a", "b") as [gone, socket]:
            kept = named["a"]
            gone.close()
            await until(lambda: len(members) == 1)
            members.add(kept)
            answers = [await post(server, path, path) for path in paths]
            statuses = [answer.status for answer in answers]
            return statuses, await read(socket, 2), len(members), len(lines)

    paths = ["/Say", "/Prune", "/Say"]
    with (
        expect_log("tornado.application", "Uncaught exception POST /Say"),
        expect_log("tornado.access", "500 POST /Say"),
    ):
        found = server.run(talk)

    # THEN
    assert ([500, 200, 200], ["/Prune", "1 /Say"], 1, 1) == found
    if server.kind not in ("serial", "rehearsal"):
        one = server.stats_of("POST Prune")
        assert one.attempts > one.inline > 0, "an attempt elsewhere came to nothing"


def test_whoever_asks_for_more_runs_on_the_loop_thread(server):
    # WHEN
    async def talk():
        async with feeds(server, "a") as [socket]:
            answer = await post(server, "/Look/a")
            return answer.body, await read(socket, 1)

    body, seen = server.run(talk)

    # THEN
    assert (b"a", [f"looked at by {os.getpid()}"]) == (body, seen)
    if server.kind in FORKED:
        assert "uses name of Feed, a WebSocket" in server.at_home()["POST Look"]
