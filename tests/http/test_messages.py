"""Messages of marked WebSockets: transactions in order, answered at the commit."""

from __future__ import annotations

import os
import threading
from contextlib import nullcontext

import pytest
from tornado.web import Application
from tornado.websocket import (
    WebSocketClosedError,
    WebSocketHandler,
    websocket_connect,
)

from tests.flags import until
from tests.logs import expect_log
from tests.serving import FORKED, THREADED, serving
from txloop import TList, TSet, TVar, on_commit, retry, transactional
from txloop.stm.attempt import current

pytestmark = pytest.mark.at_owner("it is a WebSocket")

sockets: TSet[WebSocketHandler] = TSet()
total: TVar[int] = TVar(0)
lines: TList[str] = TList()
gate: TVar[bool] = TVar(False)
listed: list[WebSocketHandler] = []
done: list[str] = []
attempts: list[bool] = []


def note_done(text: str) -> None:
    done.append(text)


class Base(WebSocketHandler):
    def initialize(self, limit: int = 0) -> None:
        self.limit = limit

    def open(self) -> None:
        self.name = self.get_argument("name", "")
        self.plain = ["mutable"]
        sockets.add(self)

    def on_close(self) -> None:
        sockets.discard(self)


@transactional
class Chat(Base):
    def on_message(self, text):
        lines.append(text)
        for socket in sockets:
            if socket is not self:
                socket.write_message(f"{self.name}: {text}")
        on_commit(note_done, text)
        self.write_message(f"{len(lines)} {os.getpid() == owner}")


@transactional
class Count(Base):
    """Every message reads and writes the same cell."""

    def on_message(self, text):
        total.value += 1
        self.write_message(f"{total.value} {self.limit} {self.settings['setting']}")
        on_commit(note_done, text)


@transactional
class Fail(Base):
    def on_message(self, text):
        lines.append(text)
        self.write_message("not sent")
        raise ValueError(text)


class Marked(Base):
    @transactional(on_error="commit")
    def on_message(self, text):
        lines.append(text)
        self.write_message("sent")
        raise ValueError(text)


@transactional
class Wait(Base):
    def on_message(self, text):
        if text == "wait" and not gate.value:
            retry()
        self.write_message(text)


@transactional
class Own(Base):
    """Changes an attribute of its own, and uses one that can change."""

    def on_message(self, text):
        self.name += text
        self.plain.append(text)
        lines.append(text)
        if text == "fail":
            raise ValueError(text)
        self.write_message(f"{self.name} {len(self.plain)}")


class Plain(Base):
    def on_message(self, text):
        attempts.append(current() is not None)
        self.write_message(text)


class Renamed(Base):
    """Has an attribute that the loop thread changes."""

    @transactional
    def on_message(self, text):
        self.write_message(f"{getattr(self, 'name', 'nobody')} {text}")

    def on_pong(self, data: bytes) -> None:
        if data:
            self.name = data.decode()
        else:
            del self.name


@transactional
class Locked(Base):
    """Uses an attribute that does not travel."""

    def open(self) -> None:
        super().open()
        self.lock = threading.Lock()

    def on_message(self, text):
        with self.lock:
            self.write_message(text)


@transactional
class Listed(WebSocketHandler):
    """Is kept in a plain list, also when its client has left."""

    def initialize(self, limit: int = 0) -> None:
        pass

    def open(self) -> None:
        listed.append(self)

    def on_message(self, text):
        try:
            for one in listed:
                one.write_message(text)
        except WebSocketClosedError:
            self.write_message("one has left")


owner = os.getpid()

KINDS_OF = (Chat, Count, Fail, Marked, Wait, Own, Plain, Renamed, Locked, Listed)


def make_application() -> Application:
    routes = [(f"/{kind.__name__}", kind, {"limit": 7}) for kind in KINDS_OF]
    return Application(routes, setting="set")


@pytest.fixture(scope="module")
def server(kind):
    with serving(kind, make_application, early=True) as started:
        yield started


@pytest.fixture(autouse=True)
def fresh():
    total.value = 0
    gate.value = False
    lines.clear()
    done.clear()


async def connect(server, kind, name=""):
    url = f"ws://127.0.0.1:{server.port}/{kind.__name__}?name={name}"
    return await websocket_connect(url)


async def close(server, *clients):
    for client in clients:
        client.close()
        while await client.read_message() is not None:
            pass
    await until(lambda: not sockets)
    await server.pause()


def say_x(server, kind):
    """Return the answer to one message on a connection of its own."""

    async def talk():
        client = await connect(server, kind)
        client.write_message("x")
        heard = await client.read_message()
        await close(server, client)
        return heard

    return server.run(talk)


def test_messages_of_a_connection_keep_their_order(server):
    # WHEN
    async def talk():
        one, two = await connect(server, Chat, "one"), await connect(server, Chat)
        for number in range(20):
            one.write_message(f"{number}")
        heard = [await two.read_message() for _ in range(20)]
        told = [await one.read_message() for _ in range(20)]
        await close(server, one, two)
        return heard, told

    heard, told = server.run(talk)

    # THEN
    assert [f"one: {number}" for number in range(20)] == heard
    here = server.kind not in FORKED
    assert [f"{number} {here}" for number in range(1, 21)] == told
    assert [f"{number}" for number in range(20)] == list(lines) == done
    assert server.sent_away()


def test_in_conflict_nothing_is_sent_twice(server):
    # WHEN
    async def talk():
        clients = [await connect(server, Count) for _ in range(4)]
        for number in range(15):
            for client in clients:
                client.write_message(f"{number}")
        heard = [await client.read_message() for _ in range(15) for client in clients]
        await close(server, *clients)
        return heard

    heard = server.run(talk)

    # THEN
    assert [f"{n} 7 set" for n in range(1, 61)] == sorted(heard, key=_number)
    assert 60 == total.value
    assert 60 == len(done)


def _number(text):
    return int(text.split()[0])


@pytest.mark.parametrize(("handler", "left"), [(Fail, []), (Marked, ["x"])])
def test_an_error_closes_the_connection(server, handler, left):
    # WHEN
    async def talk():
        client = await connect(server, handler)
        await client.write_message("x")
        heard = []
        while (message := await client.read_message()) is not None:
            heard.append(message)
        client.close()
        await until(lambda: not sockets)
        await server.pause()
        return heard

    error = f"^Uncaught exception GET /{handler.__name__}"
    with expect_log("tornado.application", error):
        heard = server.run(talk)

    # THEN
    assert left == list(lines)
    assert ["sent"] * len(left) == heard or heard == []


def test_one_that_waits_goes_on_when_something_changes(server):
    # WHEN
    async def talk():
        client = await connect(server, Wait)
        client.write_message("wait")
        client.write_message("next")
        client.ping(b"the loop thread has read what came before")
        await until(lambda: server.stats().waiting)
        gate.value = True
        heard = [await client.read_message() for _ in range(2)]
        await close(server, client)
        return heard

    # THEN
    assert ["wait", "next"] == server.run(talk)


def test_one_that_waits_ends_with_its_connection(server):
    # WHEN
    async def talk():
        client = await connect(server, Wait)
        client.write_message("wait")
        await until(lambda: server.stats().waiting)
        client.protocol.stream.close()
        await until(lambda: not (server.stats().waiting or sockets))
        client.close()
        await server.pause()
        return server.stats().waiting

    # THEN
    assert 0 == server.run(talk)


def test_one_that_has_left_and_is_in_a_plain_list_raises_as_in_stock(server):
    # WHEN
    async def talk():
        listed.clear()
        clients = [await connect(server, Listed) for _ in range(3)]
        for client in clients[:2]:  # both have sent something
            client.write_message("hello")
            for each in clients:
                await each.read_message()
        for client in clients[1:]:
            client.close()
        await until(lambda: all(one.ws_connection is None for one in listed[1:]))
        clients[0].write_message("who is there?")
        heard = [await clients[0].read_message() for _ in range(2)]
        await close(server, clients[0])
        return heard

    # THEN
    apart = server.kind in FORKED + THREADED
    with expect_log("txloop", "runs on the loop thread") if apart else nullcontext():
        assert ["who is there?", "one has left"] == server.run(talk)


def test_whoever_changes_itself_runs_on_the_loop_thread(server):
    # WHEN
    async def talk():
        client = await connect(server, Own, "a")
        for text in ("b", "c", "d", "fail"):
            client.write_message(text)
        heard = [await client.read_message() for _ in range(4)]
        client.close()
        await until(lambda: not sockets)
        await server.pause()
        return heard

    # THEN
    with expect_log("tornado.application", "^Uncaught exception GET /Own"):
        assert ["ab 2", "abc 3", "abcd 4", None] == server.run(talk)
    assert ["b", "c", "d"] == list(lines)
    if server.kind in FORKED:
        assert "changes name of Own" in server.at_home()["on_message Own"]


def test_an_attribute_that_the_loop_thread_sets_is_seen(server):
    # WHEN
    async def talk():
        client = await connect(server, Renamed, "before")
        heard = []
        for name in ("first", "second", ""):
            client.write_message("?")
            heard.append(await client.read_message())
            client.protocol._write_frame(True, 0xA, name.encode())
            client.write_message("?")
            heard.append(await client.read_message())
        await close(server, client)
        return heard

    # THEN
    expected = ["before", "first", "first", "second", "second", "nobody"]
    assert [f"{name} ?" for name in expected] == server.run(talk)
    assert server.sent_away() or server.at_home()


def test_whoever_uses_what_does_not_travel_runs_on_the_loop_thread(server):
    assert "x" == say_x(server, Locked)
    if server.kind in FORKED:
        assert "uses lock of Locked" in server.at_home()["on_message Locked"]


def test_on_a_stock_loop_nothing_is_one():
    with serving("stock", make_application) as server:
        assert "1 7 set" == say_x(server, Count)


def test_without_a_mark_nothing_is_one(server):
    assert "x" == say_x(server, Plain)
    assert [False] == attempts[-1:]
