"""The game's events over WebSockets, on every executor."""

from __future__ import annotations

import base64
import json
import socket
from contextlib import asynccontextmanager

import pytest
from tornado.httpclient import HTTPClientError
from tornado.websocket import websocket_connect

import handlers.astar_live
import txloop
from tests.flags import until
from tests.http.game import KEPT_EVENTS, game_server, read, request
from tests.logs import expect_log
from txloop import TxOverloadError

ROWS = ["......", "......", "......"]
HANDSHAKE = (
    b"GET /live?since=0 HTTP/1.1\r\nHost: txloop.test\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %b\r\n\r\n"
) % base64.b64encode(b"0123456789abcdef")


@pytest.fixture
def served(kind):
    """Serve a game of the test's own."""
    with game_server(kind, *ROWS) as server:
        yield server


@asynccontextmanager
async def live(served, query=""):
    """Open a socket; close it at the end, on both sides."""
    socket = await websocket_connect(f"ws://127.0.0.1:{served.server.port}/live{query}")
    try:
        yield socket
    finally:
        socket.close()
        while await socket.read_message() is not None:
            pass
        await served.server.pause()


async def events_of(socket, number):
    """Return so many events, however many messages they come in."""
    events: list[dict[str, object]] = []
    while len(events) < number:
        message = await socket.read_message()
        assert message is not None
        events += json.loads(message)["events"]
    return events


async def note_events(served, first, last, tag="x"):
    """Let events happen, in unmarked code."""
    for number in range(first, last + 1):
        served.game.log.append(("build", number, 0, None, tag))


def refused(served, query):
    """Return the status and the error of a socket that is not opened."""

    async def talk():
        with pytest.raises(HTTPClientError) as raised:
            async with live(served, query):
                pass
        response = raised.value.response
        assert response is not None
        return raised.value.code, json.loads(response.body)["error"]

    with expect_log("tornado.access", "^4.. GET /live"):
        return served.server.run(talk)


def test_two_sockets_see_what_a_third_client_does(served):
    async def talk():
        async with live(served) as one, live(served) as other:
            answers = await play(served)
            return answers, await events_of(one, 3), await events_of(other, 3)

    (at, statuses), *seen = served.server.run(talk)

    assert [201, 200, 200] == statuses
    assert seen[0] == seen[1] == served.events()
    kinds = [(event["version"], event["kind"], event["tag"]) for event in seen[0]]
    assert [(1, "join", "I"), (2, "build", None), (3, "destroy", "x")] == kinds
    assert at == [seen[0][0]["x"], seen[0][0]["y"]]


async def play(served):
    """Join, build and destroy, over a connection of one's own."""
    wanted = [
        request("POST", "/players", {"tag": "I"}),
        request("PUT", "/walls/0/0"),
        request("DELETE", "/walls/0/0?tag=x"),
    ]
    answers = []
    async with served.server.connection() as (reader, writer):
        for each in wanted:
            writer.write(each.encoded())
            answers.append(read(await served.server.read(reader, each.method)))
    return answers[0][1]["at"], [status for status, _ in answers]


@pytest.mark.at_owner("it is a WebSocket")
def test_since_a_version_come_the_events_after_it_and_then_the_new_ones(served):
    async def talk():
        await note_events(served, 1, 3)
        async with live(served, "?since=1") as socket:
            before = await events_of(socket, 2)
            await note_events(served, 4, 4)
            return before + await events_of(socket, 1)

    events = served.server.run(talk)

    assert [2, 3, 4] == [event["version"] for event in events]
    assert [2, 3, 4] == [event["x"] for event in events]


@pytest.mark.at_owner("it is a WebSocket")
@pytest.mark.parametrize(
    ("since", "expected"),
    [
        ("-1", (400, '"since" must be a version: 0, 1, 2 ...')),
        ("", (400, '"since" must be a version: 0, 1, 2 ...')),
        ("99", (400, "only 42 events have happened, not 99")),
        ("1", (410, "events up to 2 are gone; ask for the map")),
    ],
)
def test_a_socket_that_asks_for_what_there_is_not_is_not_opened(
    served, since, expected
):
    async def fill():
        await note_events(served, 1, KEPT_EVENTS + 2)

    served.server.run(fill)

    assert expected == refused(served, f"?since={since}")


@pytest.mark.at_owner("it is a WebSocket")
def test_a_plain_request_is_no_socket(served):
    with expect_log("tornado.access", "^400 GET /live"):
        answer = served.server.get("/live")

    assert 400 == answer.status
    assert b'Can "Upgrade" only to "WebSocket".' == answer.body


def test_figures_come_to_those_who_ask(served):
    served.join()

    async def talk():
        async with live(served, "?stats=1") as socket:
            return json.loads(await socket.read_message())

    message = served.server.run(talk)

    assert ["stats"] == list(message)
    stats = message["stats"]
    assert (1, 0) == (stats["requests"], stats["conflicts"])
    assert stats["commits"] >= 1


@pytest.mark.at_owner("it is a WebSocket")
def test_who_does_not_read_holds_up_nobody_and_is_dropped_when_it_is_too_late(served):
    at_once = KEPT_EVENTS // 2

    async def talk():
        async with live(served) as good, served.server.connection() as (reader, writer):
            writer.write(HANDSHAKE)
            assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
            for handler in sockets(served):
                stream = handler.ws_connection.stream
                stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
            events: list[dict[str, object]] = []
            while len(events) <= min(sent_to(served)) + KEPT_EVENTS:
                newest = len(events)
                await note_events(served, newest + 1, newest + at_once, "x" * 10_000)
                events += await events_of(good, at_once)
            rest = b""  # now it reads again
            while b"are gone; ask for the map" not in rest[-1000:]:
                rest += await reader.read(100_000)
            return events

    events = served.server.run(talk)

    assert list(range(1, len(events) + 1)) == [event["version"] for event in events]


def sent_to(served):
    """Return up to which version each open socket was sent the events."""
    return [handler._version for handler in sockets(served)]


def sockets(served):
    """Return the handlers of the open sockets."""
    for rule in served.server.application.wildcard_router.rules:
        if "live" in rule.target_kwargs:
            return set(rule.target_kwargs["live"]._sockets)
    raise AssertionError("no sockets are served")


@pytest.mark.at_owner("it is a WebSocket")
def test_a_server_that_had_too_much_to_do_goes_on(served, monkeypatch):
    refusals = [TxOverloadError("too much")]
    atomically = txloop.atomically

    def refuse_once(function, *arguments):
        if refusals:
            raise refusals.pop()
        return atomically(function, *arguments)

    async def talk():
        async with live(served) as websocket:
            await until(lambda: not refusals)
            await note_events(served, 1, 1)
            return await events_of(websocket, 1)

    monkeypatch.setattr(txloop, "atomically", refuse_once)
    monkeypatch.setattr(handlers.astar_live, "_AGAIN_SECONDS", 0)

    assert [1] == [event["version"] for event in served.server.run(talk)]


@pytest.mark.at_owner("it is a WebSocket")
def test_nobody_waits_for_events_when_nobody_wants_them(served):
    dispatcher = served.server.loop.dispatcher

    async def talk():
        async with live(served):
            await until(lambda: dispatcher.pending)
        await until(lambda: not dispatcher.pending)

    served.server.run(talk)

    assert set() == sockets(served)
