"""What cannot run in a worker runs on the loop, as in stock Tornado, and is known."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest
from tornado import gen
from tornado.httpserver import _HTTPRequestContext
from tornado.ioloop import IOLoop
from tornado.web import Application, RequestHandler, stream_request_body
from tornado.websocket import WebSocketHandler

from tests.flags import Flag, until
from tests.messages import Request
from tests.serving import pair_of, serving
from txloop import TVar, inevitable, transactional

written = TVar("")
events: list[str] = []

started, go = Flag(), Flag()


@transactional
class Coroutines(RequestHandler):
    async def get(self):
        written.set("async")
        await asyncio.sleep(0)
        self.write(f"{os.getpid()}")

    @gen.coroutine
    def post(self):
        written.set("gen")
        yield gen.moment
        self.write(f"{os.getpid()}")

    async def put(self):
        raise ValueError("in a coroutine")


@transactional
class AsyncPrepare(RequestHandler):
    async def prepare(self):
        await asyncio.sleep(0)
        self.prepared = "prepared"

    def get(self):
        self.write(self.prepared)


@stream_request_body
@transactional
class Streamed(RequestHandler):
    def initialize(self):
        self.size = 0

    def data_received(self, chunk):
        self.size += len(chunk)

    def post(self):
        self.write(f"{self.size}")


@transactional
class Echo(WebSocketHandler):
    def on_message(self, message):
        self.write_message(message + " back")


@transactional
class Detached(RequestHandler):
    def get(self):
        stream = self.detach()
        stream.write(b"HTTP/1.1 200 By hand\r\nContent-Length: 3\r\n\r\nraw")
        stream.close()


# The scan would see that callbacks change `events`.
@transactional(trust=True)
class OnLoop(RequestHandler):
    """Each verb uses the running loop in another way."""

    def get(self):
        IOLoop.current().add_callback(events.append, "callback")
        self.write("get")

    def post(self):
        return self.later()

    async def later(self):
        await asyncio.sleep(0)
        self.write("post")

    def put(self):
        future: asyncio.Future[None] = asyncio.Future()
        future.set_result(None)
        return future

    def delete(self):
        asyncio.get_running_loop().call_soon(events.append, "call_soon")

    def patch(self):
        IOLoop.current().call_later(0, events.append, "call_later")

    def options(self):
        asyncio.get_event_loop().create_task(self.task())

    async def task(self):
        events.append("task")


@transactional
class Connection(RequestHandler):
    """Each verb uses the real connection in another way."""

    def get(self):
        assert self.request.connection is not None
        self.write(self.request.connection.stream.socket.family.name)  # type: ignore[attr-defined]

    def post(self):
        assert self.request.connection is not None
        self.request.connection.no_keep_alive = True  # type: ignore[attr-defined]
        self.write(str(self.request.connection.params is not None))  # type: ignore[attr-defined]

    def put(self):
        assert self.request.server_connection is not None
        self.write(str("stream" in vars(self.request.server_connection)))

    def delete(self):
        server = self.request.server_connection
        self.write(str(len({server, server})))

    def patch(self):
        context = self.request.connection.context  # type: ignore[union-attr] # there is one
        self.write(type(context.trusted_downstream).__name__)


@transactional
class OnConnection(RequestHandler):
    """Counts the requests of each connection, on its context and its server's object.

    What Tornado has put there is read as anywhere.
    """

    def get(self):
        context = self.request.connection.context  # type: ignore[union-attr] # there is one
        context.hits = getattr(context, "hits", 0) + 1
        self.write(str(context.hits))

    def post(self):
        attributes = vars(self.request.server_connection)
        attributes["hits"] = attributes.get("hits", 0) + 1
        self.write(str(attributes["hits"]))

    def put(self):
        context = self.request.connection.context  # type: ignore[union-attr] # there is one
        about = context.remote_ip, context.protocol, context.address[0], str(context)
        self.write(" ".join([*about, str(isinstance(context, _HTTPRequestContext))]))


@transactional
class Later(RequestHandler):
    """Leaves its answer to somebody else."""

    def get(self):
        self._auto_finish = False
        IOLoop.current().add_callback(self.finish, "later")


@transactional
class Inevitable(RequestHandler):
    def get(self):
        written.set("before")
        inevitable()
        self.write(f"{os.getpid()} {written.get()}")


@transactional
class Waiting(RequestHandler):
    """Waits for a write of its own, as the handlers of a stock server may."""

    def get(self):
        self.write("waited")
        self.flush().add_done_callback(lambda future: future.result())
        self.write("!")


@transactional
class Noting(RequestHandler):
    """Notes what is set on it, by whoever does that."""

    names: list[str]

    def __setattr__(self, name, value):
        vars(self).setdefault("names", []).append(name)
        super().__setattr__(name, value)

    def get(self):
        self.write(" ".join(self.names))


@transactional(trust=True)
class Slow(RequestHandler):
    def get(self):
        started.set()
        go.wait()
        written.set("slow")
        self.write("x" * 1_000_000)

    def on_finish(self):
        events.append("finished")

    def on_connection_close(self):
        events.append("closed")


@transactional
class WithThread(RequestHandler):
    def get(self):
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
        self.write("threads are fine")


def make_application():
    return Application(
        [
            ("/coroutines", Coroutines),
            ("/async-prepare", AsyncPrepare),
            ("/streamed", Streamed),
            ("/echo", Echo),
            ("/detached", Detached),
            ("/on-loop", OnLoop),
            ("/connection", Connection),
            ("/on-connection", OnConnection),
            ("/later", Later),
            ("/inevitable", Inevitable),
            ("/waiting", Waiting),
            ("/noting", Noting),
            ("/slow", Slow),
            ("/with-thread", WithThread),
        ]
    )


@pytest.fixture(autouse=True)
def _clean():
    written.set("")
    events.clear()
    started.clear()
    go.clear()


ON_THE_LOOP = {
    "async def": Request("GET", "/coroutines"),
    "gen.coroutine": Request("POST", "/coroutines", body=b""),
    "async prepare": Request("GET", "/async-prepare"),
    "streamed body": Request("POST", "/streamed", body=b"x" * 200_000),
}


@pytest.mark.at_owner("no streamed body moves", "streamed body")
@pytest.mark.parametrize("name", ON_THE_LOOP)
def test_a_verb_that_never_is_a_transaction(name, pair):
    def talk(server):
        written.set("")
        return server.fetch_together([ON_THE_LOOP[name]]), written.get()

    before = pair.server.stats().commits
    pair.same(talk)

    assert before == pair.server.stats().commits


def test_a_coroutine_that_fails(pair):
    pair.same(lambda server: server.fetch("PUT", "/coroutines", body=b""))


_ITS_SERVER = "it uses the connection's server_connection"

USES_THE_LOOP = {
    "add_callback": ("/on-loop", "GET", "it uses the running event loop"),
    "returns a coroutine": ("/on-loop", "POST", "it waits for something"),
    "returns a future": ("/on-loop", "PUT", "it uses the running event loop"),
    "call_soon": ("/on-loop", "DELETE", "it uses the running event loop"),
    "call_later": ("/on-loop", "PATCH", "it uses the running event loop"),
    "create_task": ("/on-loop", "OPTIONS", "it uses the running event loop"),
    "detach": ("/detached", "GET", "it uses the connection's detach"),
    "stream": ("/connection", "GET", "it uses the connection's stream"),
    "params": ("/connection", "POST", "it uses the connection's params"),
    "server_connection": ("/connection", "PUT", _ITS_SERVER),
    "server_connection's hash": ("/connection", "DELETE", _ITS_SERVER),
    "context": ("/connection", "PATCH", "it uses the connection's context"),
    "answers later": ("/later", "GET", "it uses the running event loop"),
    "inevitable": ("/inevitable", "GET", "it asks to be inevitable"),
}


@pytest.mark.parametrize("name", USES_THE_LOOP)
def test_a_verb_that_uses_the_loop_goes_there(name, kind):
    """The first request finds out; the others go there directly."""
    path, method, reason = USES_THE_LOOP[name]

    def talk(server):
        answers = []
        for _ in range(3):
            [answer] = server.fetch_together([Request(method, path, body=b"")])
            server.run(server.pause)
            answers.append(answer)
        return answers, list(events)

    with pair_of(kind, make_application) as pair:
        answers, _ = pair.same(talk, before=events.clear)

        assert [200] * 3 == [answer.status for answer in answers]
        [label] = pair.server.labels()
        expected = "" if kind == "serial" else reason
        assert expected == label.on_loop_because
        assert (3, 0 if kind == "serial" else 1) == (
            label.commits,
            label.attempts - label.commits,
        )


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_a_verb_keeps_on_its_connection_is_there_at_the_next_request(kind, method):
    requests = [Request(method, "/on-connection", body=b"")] * 3

    def talk(server):
        return [[a.body for a in server.fetch_in_turn(requests)] for _ in range(2)]

    with pair_of(kind, make_application) as pair:
        counts = pair.same(talk)

    assert [[b"1", b"2", b"3"]] * 2 == counts


def test_who_the_client_is_can_be_read_anywhere(kind):
    request = Request("PUT", "/on-connection", body=b"")

    with pair_of(kind, make_application) as pair:
        [answer] = pair.same(lambda server: server.fetch_together([request]))

        assert b"127.0.0.1 http 127.0.0.1 127.0.0.1 True" == answer.body
        assert kind == "serial" or pair.server.sent_away()


def test_what_a_verb_did_before_it_used_the_loop_happens_once(kind):
    with serving(kind, make_application) as server:
        for _ in range(3):
            server.get("/on-loop")
        server.run(server.pause)

    assert ["callback"] * 3 == events


@pytest.mark.at_owner("it is a WebSocket")
def test_a_web_socket(pair):
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    }

    def talk(server):
        async def say():
            async with server.connection() as (reader, writer):
                writer.write(Request("GET", "/echo", upgrade).encoded())
                answer = await server.read(reader)
                writer.write(b"\x81\x82\0\0\0\0hi")
                said = await reader.readexactly(9)
                writer.write(b"\x88\x80\0\0\0\0")
                closing = await reader.read()
            return answer, said, closing

        return server.run(say)

    answer, said, _ = pair.same(talk)

    assert (101, b"\x81\x07hi back") == (answer.status, said)


@pytest.mark.parametrize("path", ["/waiting", "/with-thread", "/noting"])
def test_what_is_no_obstacle(path, pair):
    pair.same(lambda server: server.get(path))

    labels = pair.server.at_home()
    assert {} == {name: why for name, why in labels.items() if path[1:] in name.lower()}


def test_a_client_who_leaves_does_not_undo_the_commit():
    async def leave(server):
        async with server.connection() as (_, writer):
            writer.write(Request("GET", "/slow").encoded())
            await started.reached()
        go.set()
        await until(lambda: server.stats().commits)

    with serving("processes", make_application) as server:
        server.run(lambda: leave(server))
        # WHEN it is asked again, the server is well
        [answer] = server.fetch_together([Request("GET", "/with-thread")])

    assert 200 == answer.status
    assert "slow" == written.get()
    assert ["finished"] == events
