"""Requests that get in each other's way, and the order in which they commit.

The bodies wait for flags in shared memory, which workers inherit: so each conflict is
reached on purpose.
"""

from __future__ import annotations

import asyncio
import logging

import pytest
from tornado.web import Application, RequestHandler

from tests.flags import Flag
from tests.messages import Request
from tests.serving import serving
from txloop import TDict, TVar, on_commit, transactional

started, go = Flag(), Flag()

counter = TVar(0)
visits: TDict[str, int] = TDict()
committed: list[str] = []
log = logging.getLogger("shop")


def note(name):
    """Be an effect that tells the order of commits."""
    committed.append(name)


@transactional
class Increment(RequestHandler):
    def get(self):
        counter.set(counter.get() + 1)
        self.write(str(counter.get()))


# The flags are meant to be shared, which the scan cannot know.
@transactional(trust=True)
class Overtaken(RequestHandler):
    """Reads, lets the test write, and goes on."""

    def get(self):
        seen = counter.get()
        log.warning("saw %d", seen)
        on_commit(note, f"saw {seen}")
        self.set_header("X-Seen", str(seen))
        started.set()
        go.wait()
        counter.set(seen + 1)
        self.write(str(seen))

    def put(self):
        seen = counter.get()
        started.set()
        go.wait()
        if seen == 0:
            raise ValueError("an error that nobody may see")
        self.write(str(seen))

    def patch(self):
        seen = counter.get()
        started.set()
        go.wait()
        self.write(str(seen))

    def on_finish(self):
        note("on_finish")


@transactional(trust=True)
class Visiting(RequestHandler):
    def get(self, name):
        visits[name] = visits.get(name, 0) + 1
        if name == "slow":
            go.wait()
        on_commit(note, name)

    def post(self, name):
        """Let the slow one end only after the fast one has run."""
        on_commit(note, name)
        if name == "slow":
            started.wait()
        else:
            started.set()


def make_application():
    return Application(
        [
            ("/increment", Increment),
            ("/overtaken", Overtaken),
            ("/visiting/(.*)", Visiting),
        ]
    )


@pytest.fixture(autouse=True)
def _clean():
    started.clear()
    go.clear()
    counter.set(0)
    visits.clear()
    committed.clear()


def overtake(server, method):
    """Send a request, write what it has read before it ends, return the answer."""

    async def write():
        await started.reached()
        counter.set(5)
        go.set()

    async def both():
        async with server.connection() as (reader, writer):
            writer.write(Request(method, "/overtaken").encoded())
            await write()
            return await server.read(reader)

    return server.run(both)


def test_concurrent_increments_are_all_counted(kind):
    with serving(kind, make_application) as server:
        answers = server.fetch_together([Request("GET", "/increment")] * 20)

    assert 20 == counter.get()
    assert list(range(1, 21)) == sorted(int(answer.body) for answer in answers)


def test_increments_on_several_connections_are_all_counted(kind):
    async def client(server):
        async with server.connection() as (reader, writer):
            for _ in range(10):
                writer.write(Request("GET", "/increment").encoded())
                await server.read(reader)

    async def clients(server):
        await asyncio.gather(*(client(server) for _ in range(4)))

    with serving(kind, make_application) as server:
        server.run(lambda: clients(server))

    assert 40 == counter.get()


def test_only_the_attempt_that_commits_is_answered_and_logged(caplog):
    with serving("processes", make_application) as server:
        answer = overtake(server, "GET")

        assert 1 == server.stats().aborts
    assert (b"5", "5") == (answer.body, answer.header("X-Seen"))
    assert 6 == counter.get()
    assert ["saw 5"] == [
        one.getMessage() for one in caplog.records if one.name == "shop"
    ]
    assert ["saw 5", "on_finish"] == committed


def test_an_error_raised_on_stale_reads_is_never_shown(caplog):
    with serving("processes", make_application) as server:
        answer = overtake(server, "PUT")

        assert 1 == server.stats().aborts
    assert (200, b"5") == (answer.status, answer.body)
    assert [] == [one for one in caplog.records if one.levelno >= logging.WARNING]


def test_a_request_that_only_read_is_answered_as_of_its_snapshot():
    with serving("processes", make_application) as server:
        answer = overtake(server, "PATCH")

        assert 0 == server.stats().aborts
    assert b"0" == answer.body


def test_requests_commit_as_they_complete():
    async def talk(server):
        async with server.connection() as (slow, writer):
            writer.write(Request("GET", "/visiting/slow").encoded())
            async with server.connection() as (fast, other):
                other.write(Request("GET", "/visiting/fast").encoded())
                await server.read(fast)
            go.set()
            await server.read(slow)

    with serving("processes", make_application) as server:
        server.run(lambda: talk(server))

        assert 0 == server.stats().aborts
    assert ["fast", "slow"] == committed
    assert {"fast": 1, "slow": 1} == dict(visits)


def test_requests_commit_in_the_order_of_arrival_if_asked():
    async def talk(server):
        async with server.connection() as (slow, writer):
            writer.write(Request("POST", "/visiting/slow", body=b"").encoded())
            await server.pause()  # it has arrived
            async with server.connection() as (fast, other):
                other.write(Request("POST", "/visiting/fast", body=b"").encoded())
                await server.read(fast)
                # The answer to the first is on its way already.
                assert ["slow", "fast"] == committed
            await server.read(slow)

    with serving("processes", make_application, order="arrival") as server:
        server.run(lambda: talk(server))

    assert ["slow", "fast"] == committed


@pytest.mark.at_owner("there are no fronts, which would blur the order")
def test_arrival_order_gives_the_result_of_the_serial_server(kind):
    """Increments answer with their place in the order."""
    requests = [Request("GET", "/increment") for _ in range(12)]

    with serving(kind, make_application, order="arrival") as server:
        answers = server.fetch_together(requests)

    assert list(range(1, 13)) == [int(answer.body) for answer in answers]
