"""More requests than the workers can take: some are refused, clearly and at once."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from pathlib import Path

import pytest
from tornado.web import Application, RequestHandler

import txloop
from tests.engine import Gate
from tests.logs import expect_log
from tests.messages import Request
from tests.serving import serving

REFUSED = r"queue full: rejected 1 calls \(last: GET Slow\); 2 are waiting"


committed: list[str] = []


def note(number):
    """Be an effect that tells the order of commits."""
    committed.append(number)


@txloop.transactional
class Slow(RequestHandler):
    def get(self):
        folder = Path(self.get_query_argument("folder"))
        Gate(folder / f"started-{self.get_query_argument('n')}").open()
        Gate(folder / "gate").wait()
        txloop.on_commit(note, self.get_query_argument("n"))
        self.write(self.get_query_argument("n"))


class Own(Slow):
    def set_default_headers(self):
        self.set_header("X-Own", "1")

    def write_error(self, status_code, **kwargs):
        self.finish({"status": status_code, "error": str(kwargs["exc_info"][1])})


class Health(RequestHandler):
    def get(self):
        self.write("alive")


def make_application():
    return Application([("/slow", Slow), ("/own", Own), ("/health", Health)])


@pytest.fixture
def server():
    with serving("processes", make_application, max_queue=2) as server:
        yield server


async def send(server, path, folder, number):
    """Send a request; a cancelled one resets its connection."""
    async with server.connection() as (reader, writer):
        at_once = struct.pack("ii", 1, 0)
        its_socket = writer.get_extra_info("socket")
        its_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        request = Request("GET", f"{path}?folder={folder}&n={number}")
        writer.write(request.encoded())
        return await server.read(reader)


async def until(condition):
    while not condition():  # noqa: ASYNC110 # no event tells of it
        await asyncio.sleep(0.001)


def busy(server):
    return server.loop.dispatcher.busy


async def fill(server, folder):
    """Keep both workers busy, and have as many requests wait as may."""
    running = [asyncio.ensure_future(send(server, "/slow", folder, n)) for n in "01"]
    await until(lambda: all((folder / f"started-{n}").exists() for n in "01"))
    waiting = [asyncio.ensure_future(send(server, "/slow", folder, n)) for n in "23"]
    await until(lambda: busy(server) == 4)
    await server.pause()  # submitted, but their round may have yet to be run
    return running + waiting


def test_what_is_too_much_gets_503_and_the_rest_its_answer(server, tmp_path):
    async def talk():
        accepted = await fill(server, tmp_path)
        refused = await send(server, "/slow", tmp_path, 4)
        healthy = await send(server, "/health", tmp_path, 5)
        Gate(tmp_path / "gate").open()
        return await asyncio.gather(*accepted), refused, healthy

    # WHEN
    with expect_log("txloop", REFUSED), expect_log("tornado.access", "^503 GET /slow"):
        accepted, refused, healthy = server.run(talk)

    # THEN
    assert [(200, b"0"), (200, b"1"), (200, b"2"), (200, b"3")] == [
        (answer.status, answer.body) for answer in accepted
    ]
    assert (503, "1") == (refused.status, refused.header("Retry-After"))
    assert not (tmp_path / "started-4").exists()
    assert (200, b"alive") == (healthy.status, healthy.body)
    assert 1 == server.stats().refused == server.stats_of("GET Slow").refused


def test_what_there_is_to_do_is_in_the_figures(server, tmp_path):
    async def talk():
        accepted = await fill(server, tmp_path)
        stats = server.stats()
        Gate(tmp_path / "gate").open()
        await asyncio.gather(*accepted)
        return stats

    full = server.run(talk)

    assert (4, 2) == (full.pending, full.queued)
    assert (0, 0) == (server.stats().pending, server.stats().queued)


def test_a_handler_words_the_refusal_itself(server, tmp_path):
    async def talk():
        accepted = await fill(server, tmp_path)
        refused = await send(server, "/own", tmp_path, 4)
        Gate(tmp_path / "gate").open()
        await asyncio.gather(*accepted)
        return refused

    # WHEN
    with (
        expect_log("txloop", "rejected 1 calls"),
        expect_log("tornado.access", "^503 GET"),
    ):
        refused = server.run(talk)

    # THEN
    assert ("1", "1") == (refused.header("X-Own"), refused.header("Retry-After"))
    assert {
        "status": 503,
        "error": "queue full: GET Own did not run; 2 calls are waiting",
    } == json.loads(refused.body)


def test_the_log_does_not_repeat_it_for_each_request(server, tmp_path):
    async def talk():
        accepted = await fill(server, tmp_path)
        refused = [await send(server, "/slow", tmp_path, n) for n in range(4, 24)]
        Gate(tmp_path / "gate").open()
        await asyncio.gather(*accepted)
        return refused

    # WHEN
    with (
        expect_log("txloop", "^queue full: rejected"),
        expect_log("tornado.access", "^503 GET", 20),
    ):
        refused = server.run(talk)

    # THEN
    assert [503] * 20 == [answer.status for answer in refused]


def wait_for(gate):
    gate.wait()


def test_an_awaiter_gets_an_error_and_callbacks_are_never_refused(server, tmp_path):
    gate = Gate(tmp_path / "gate")

    async def talk():
        accepted = await fill(server, tmp_path)
        server.loop.add_callback(txloop.transactional(wait_for), gate)
        await asyncio.sleep(0)
        with pytest.raises(txloop.TxOverloadError, match="did not run") as caught:
            await txloop.atomically(wait_for, gate)
        gate.open()
        await asyncio.gather(*accepted)
        await until(lambda: not busy(server))
        return caught.value

    # WHEN
    with expect_log("txloop", r"\(last: wait_for\)"):
        error = server.run(talk)

    # THEN
    assert error.retry_after_seconds >= 1
    assert 1 == server.stats_of("wait_for").refused


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (-1, "max_queue must be at least 0, got -1"),
        (1.5, "max_queue must be an integer >= 0, not 1.5"),
        (True, "max_queue must be an integer >= 0, not True"),
        ("many", "max_queue must be an integer >= 0, not 'many'"),
    ],
)
def test_the_option_is_checked(value, complaint):
    with pytest.raises(txloop.TxConfigurationError, match=f"^{complaint}"):
        txloop.TransactionIOLoop(make_current=False, max_queue=value)


def test_a_client_that_leaves_takes_its_waiting_call_along(server, tmp_path):
    async def talk():
        accepted = await fill(server, tmp_path)
        accepted.pop(2).cancel()
        await until(lambda: busy(server) == 3)
        after = asyncio.ensure_future(send(server, "/slow", tmp_path, 4))
        await until(lambda: busy(server) == 4)
        Gate(tmp_path / "gate").open()
        return await asyncio.gather(*accepted, after)

    # WHEN
    answers = server.run(talk)

    # THEN
    assert [b"0", b"1", b"3", b"4"] == [answer.body for answer in answers]
    assert not (tmp_path / "started-2").exists()
    assert (0, 0) == (server.stats().refused, server.loop.dispatcher.pending)


def test_a_flood_of_one_handler_does_not_keep_another_waiting(tmp_path):
    # One worker: of two, one could do all the rest while the other has no core.
    with serving("processes", make_application, workers=1) as server:

        async def talk():
            flood = [asyncio.ensure_future(send(server, "/slow", tmp_path, 0))]
            await until((tmp_path / "started-0").exists)
            flood += [
                asyncio.ensure_future(send(server, "/slow", tmp_path, n))
                for n in range(1, 30)
            ]
            await until(lambda: busy(server) == 30)
            other = asyncio.ensure_future(send(server, "/own", tmp_path, 30))
            await until(lambda: busy(server) == 31)
            Gate(tmp_path / "gate").open()
            await asyncio.gather(*flood, other)

        # WHEN
        committed.clear()
        server.run(talk)

        # THEN
        assert committed.index("30") <= 3
