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
from txloop import Channel, TDict, TList, TVar, on_commit, or_else, retry, transactional

messages = TList[str]()
rooms = TDict[str, str]()
poured = TVar(0)
jobs: Channel[str] = Channel(1)
noted: list[object] = []

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


class Noted(Messages):
    """Looks at itself after the response; no front runs that."""

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


def take_message():
    poured.value += 1
    return messages.pop(0) if messages else retry()


def take_key():
    return rooms.pop("key") if "key" in rooms else retry()


@transactional
class Either(RequestHandler):
    def get(self):
        found = or_else(take_message, take_key)
        self.write(f"{found} {poured.value}")


@transactional
class Jobs(RequestHandler):
    def get(self):
        self.write(jobs.get())

    def post(self):
        jobs.put(self.get_query_argument("job"))


def make_application():
    return Application(
        [
            ("/messages", Messages),
            ("/noted", Noted),
            ("/form", Form),
            ("/touching", Touching),
            ("/slow", Slow),
            ("/either", Either),
            ("/jobs", Jobs),
        ]
    )


@pytest.fixture
def server(kind):
    messages.clear()
    rooms.clear()
    poured.value = 0
    while jobs:
        jobs.get()
    noted.clear()
    with serving(kind, make_application) as server:
        yield server


def post(text, path="/messages"):
    head = {"Content-Type": "application/x-www-form-urlencoded"}
    return Request("POST", path, head, f"text={text}".encode())


def with_and_without_on_finish(test):
    """Run a test of long polls with either class; no front runs the one that notes."""
    test = pytest.mark.at_owner("it has an on_finish of its own", "/noted")(test)
    return pytest.mark.parametrize("path", ["/messages", "/noted"])(test)


def finished(path, *methods):
    """Return what was noted after responses."""
    return [f"finished {one}" for one in methods if path == "/noted"]


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


@with_and_without_on_finish
def test_a_long_poll_is_woken_by_another_request(server, path):
    # GIVEN
    async def talk():
        async with (
            server.connection() as (reader, writer),
            server.connection() as (other_reader, other_writer),
        ):
            writer.write(Request("GET", path).encoded())
            await waiting(server, 1)
            other_writer.write(post("tea", path).encoded())
            posted = await server.read(other_reader)
            return posted, await server.read(reader)

    # WHEN
    posted, answer = server.run(talk)

    # THEN
    assert (200, 200, b"message: tea") == (posted.status, answer.status, answer.body)
    assert {"effect", *finished(path, "GET", "POST")} == set(noted)


def test_a_long_poll_is_woken_by_unmarked_code(server):
    answer = fetch_waiting(
        server, Request("GET", "/messages"), lambda: messages.append("tea")
    )

    assert (200, b"message: tea") == (answer.status, answer.body)


@with_and_without_on_finish
def test_a_long_poll_ends_at_its_timeout(server, path):
    answer = server.get(f"{path}?seconds=0.01")

    assert (204, b"") == (answer.status, answer.body)
    assert ["effect", *finished(path, "GET")] == noted


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


WAKES = {
    "the first alternative": (lambda: messages.append("tea"), b"tea 1"),
    "the second alternative": (lambda: rooms.update(key="open"), b"open 0"),
}


@pytest.mark.parametrize("name", WAKES)
def test_either_alternative_is_waited_for_and_the_other_leaves_nothing(server, name):
    change, expected = WAKES[name]

    answer = fetch_waiting(server, Request("GET", "/either"), change)

    assert expected == answer.body


def test_an_alternative_that_is_there_is_taken_at_once(server):
    rooms["key"] = "open"

    answer = server.get("/either")

    assert (b"open 0", 0, 0) == (answer.body, poured.value, len(rooms))


def test_a_channel_passes_things_from_request_to_request(server):
    """One waits for a thing, one for room."""

    # GIVEN
    async def talk():
        async with contextlib.AsyncExitStack() as stack:
            connections = [
                await stack.enter_async_context(server.connection()) for _ in range(2)
            ]
            (reader, writer), (other_reader, other_writer) = connections
            found = []
            for number in range(3):
                writer.write(Request("GET", "/jobs").encoded())
                await waiting(server, 1)
                other_writer.write(put(number).encoded())
                found += [await server.read(reader), await server.read(other_reader)]
            jobs.put("old")
            other_writer.write(put("new").encoded())
            await waiting(server, 1)
            for _ in range(2):
                writer.write(Request("GET", "/jobs").encoded())
                found.append(await server.read(reader))
            return [*found, await server.read(other_reader)]

    def put(job):
        return Request("POST", f"/jobs?job={job}", {}, b"")

    # WHEN
    answers = server.run(talk)

    # THEN
    expected = [b"0", b"", b"1", b"", b"2", b"", b"old", b"new", b""]
    assert expected == [answer.body for answer in answers]


# Clients that leave


def leave_while_waiting(server, request):
    async def talk():
        async with server.connection() as (_, writer):
            writer.write(request.encoded())
            await waiting(server, 1)
        await waiting(server, 0)

    server.run(talk)


@with_and_without_on_finish
def test_a_client_that_leaves_takes_nothing(server, path):
    # GIVEN
    leave_while_waiting(server, Request("GET", path))

    # WHEN
    server.fetch_together([post("tea", path)])
    answer = server.get(path)

    # THEN
    assert b"message: tea" == answer.body
    expected = [*finished(path, "POST"), "effect", *finished(path, "GET")]
    assert expected == noted


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
