"""Requests that wait: long polls that hold no worker, and clients that leave."""

from __future__ import annotations

import contextlib
import contextvars
import functools

import pytest
from tornado.web import Application, RequestHandler

from tests.flags import until
from tests.logs import expect_log
from tests.messages import Request
from tests.serving import serving
from txloop import TDict, TList, TVar, on_commit, retry, transactional

messages = TList[str]()
rooms = TDict[str, str]()
poured = TVar(0)
noted: list[object] = []

POSTED = "finished POST"

who = contextvars.ContextVar("who", default="nobody")


def touch(connection):
    """Use what only the real connection has."""
    assert connection.stream is not None


def note(*what):
    """Be an effect."""
    noted.extend(what)


@transactional(trust=True)
class Messages(RequestHandler):
    """Gives a message to one client each; who finds none waits."""

    def prepare(self):
        self.set_header("X-Who", who.get())
        who.set("somebody")

    def get(self):
        on_commit(note, "effect")
        self.write("message: ")
        if not messages:
            retry(self.seconds())
            self.set_status(204)
            self._write_buffer.clear()
            return
        self.write(messages.pop(0))

    def post(self):
        messages.append(self.get_body_argument("text"))

    def put(self):
        self.flush()
        self.get()

    def seconds(self):
        text = self.get_query_argument("seconds", "")
        return float(text) if text else None

    def on_finish(self):
        note(f"finished {self.request.method}")


@transactional
class Form(RequestHandler):
    """Waits, and then shows what it was sent."""

    def post(self):
        self.request.arguments["of mine"] = [b"x"]
        setattr(self.request, "own", "x")  # noqa: B010 # Tornado's has none
        key = self.get_body_argument("key")
        if key not in rooms:
            retry()
        files = {name: len(found) for name, found in self.request.files.items()}
        arguments = {name: len(found) for name, found in self.request.arguments.items()}
        self.write({"files": files, "arguments": arguments})


@transactional
class Touching(RequestHandler):
    """Sends something before it wants to wait."""

    def get(self):
        touch(self.request.connection)
        if not poured.value:
            retry()

    def put(self):
        if not poured.value:
            retry()
        touch(self.request.connection)
        self.write("poured")


@transactional
class Slow(RequestHandler):
    def post(self):
        poured.value += 1


def make_application():
    return Application(
        [
            ("/messages", Messages),
            ("/form", Form),
            ("/touching", Touching),
            ("/slow", Slow),
        ]
    )


@pytest.fixture
def server(kind):
    messages.clear()
    rooms.clear()
    poured.value = 0
    noted.clear()
    with serving(kind, make_application) as server:
        yield server


def post(text):
    head = {"Content-Type": "application/x-www-form-urlencoded"}
    return Request("POST", "/messages", head, f"text={text}".encode())


async def waiting(server, count):
    await until(lambda: server.stats().waiting == count)


def fetch_waiting(server, request, change):
    """Send a request, do something once it waits, and return the answer."""

    async def talk():
        async with server.connection() as (reader, writer):
            writer.write(request.encoded())
            await waiting(server, 1)
            change()
            return await server.read(reader, request.method)

    return server.run(talk)


def test_a_long_poll_is_woken_by_another_request(server):
    # GIVEN
    async def talk():
        async with (
            server.connection() as (reader, writer),
            server.connection() as (other_reader, other_writer),
        ):
            writer.write(Request("GET", "/messages").encoded())
            await waiting(server, 1)
            other_writer.write(post("tea").encoded())
            posted = await server.read(other_reader)
            return posted, await server.read(reader)

    # WHEN
    posted, answer = server.run(talk)

    # THEN
    assert (200, 200, b"message: tea") == (posted.status, answer.status, answer.body)
    assert ["effect", "finished GET"] == [one for one in noted if one != POSTED]


def test_a_long_poll_is_woken_by_unmarked_code(server):
    answer = fetch_waiting(
        server, Request("GET", "/messages"), lambda: messages.append("tea")
    )

    assert (200, b"message: tea") == (answer.status, answer.body)


def test_a_long_poll_ends_at_its_timeout(server):
    answer = server.get("/messages?seconds=0.01")

    assert (204, b"") == (answer.status, answer.body)
    assert ["effect", "finished GET"] == noted


def test_nothing_was_sent_of_an_attempt_that_retried(server):
    """Not even what it had flushed."""
    answer = fetch_waiting(
        server, Request("PUT", "/messages"), lambda: messages.append("tea")
    )

    assert b"message: tea" == answer.body


def test_many_are_served_in_the_order_in_which_they_came(server):
    # GIVEN
    count = 10

    async def talk():
        async with contextlib.AsyncExitStack() as stack:
            connections = [
                await stack.enter_async_context(server.connection())
                for _ in range(count)
            ]
            for number, (_, writer) in enumerate(connections, 1):
                writer.write(Request("GET", "/messages").encoded())
                await waiting(server, number)
            answers = []
            for number in range(count):
                messages.append(str(number))
                answers.append(await server.read(connections[number][0]))
            return answers

    # WHEN
    answers = server.run(talk)

    # THEN
    expected = [f"message: {number}".encode() for number in range(count)]
    assert expected == [answer.body for answer in answers]


def test_the_context_is_a_new_one_each_time(server):
    answer = fetch_waiting(
        server, Request("GET", "/messages"), lambda: messages.append("tea")
    )

    assert "nobody" == answer.header("X-Who")


BODIES = {
    "application/x-www-form-urlencoded": b"key=open",
    "multipart/form-data; boundary=b": b"--b\r\n"
    b'Content-Disposition: form-data; name="key"\r\n\r\nopen\r\n'
    b"--b\r\n"
    b'Content-Disposition: form-data; name="file"; filename="f"\r\n\r\n1\r\n'
    b"--b--\r\n",
}


@pytest.mark.parametrize("kind_of_body", BODIES)
def test_the_request_is_as_it_was_sent(server, kind_of_body):
    # GIVEN
    head = {"Content-Type": kind_of_body}
    request = Request("POST", "/form?key=query&other=1", head, BODIES[kind_of_body])

    # WHEN
    answer = fetch_waiting(server, request, functools.partial(rooms.update, open="x"))

    # THEN
    files = b'{"file": 1}' if "multipart" in kind_of_body else b"{}"
    expected = b'"arguments": {"key": 2, "other": 1, "of mine": 1}}'
    assert b'{"files": ' + files + b", " + expected == answer.body


# Clients that leave


def leave_while_waiting(server, request):
    async def talk():
        async with server.connection() as (_, writer):
            writer.write(request.encoded())
            await waiting(server, 1)
        await waiting(server, 0)

    server.run(talk)


def test_a_client_that_leaves_takes_nothing(server):
    # GIVEN
    leave_while_waiting(server, Request("GET", "/messages"))

    # WHEN
    server.fetch_together([post("tea")])
    answer = server.get("/messages")

    # THEN
    assert b"message: tea" == answer.body
    assert [POSTED, "effect", "finished GET"] == noted


def test_a_client_that_leaves_makes_way_for_the_next(server):
    # GIVEN
    async def talk():
        async with server.connection() as (reader, writer):
            async with server.connection() as (_, leaving):
                leaving.write(Request("GET", "/messages").encoded())
                await waiting(server, 1)
                writer.write(Request("GET", "/messages").encoded())
                await waiting(server, 2)
            await waiting(server, 1)
            messages.append("tea")
            return await server.read(reader)

    # WHEN
    answer = server.run(talk)

    # THEN
    assert b"message: tea" == answer.body


def test_a_request_that_does_not_wait_commits_though_its_client_leaves(server):
    """As in stock Tornado: whoever fires and forgets may rely on that."""
    # GIVEN
    request = Request("POST", "/slow", {}, b"")
    server.fetch_together([request])  # a worker is ready

    async def talk():
        async with server.connection() as (_, writer):
            writer.write(request.encoded())
            await writer.drain()
        await until(lambda: poured.value > 1)

    # WHEN
    server.run(talk)

    # THEN
    assert 2 == poured.value


# On the loop thread


def test_after_a_part_was_sent_a_request_cannot_wait(server):
    with (
        expect_log("tornado.application", "Uncaught exception GET /touching"),
        expect_log("tornado.access", "500 GET /touching"),
    ):
        answer = server.get("/touching")

    assert 500 == answer.status


def test_what_waits_may_touch_the_connection_afterwards(server):
    answer = fetch_waiting(
        server, Request("PUT", "/touching"), lambda: setattr(poured, "value", 1)
    )

    assert b"poured" == answer.body
