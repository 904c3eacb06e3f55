"""The loads of our own client, against servers made of a few lines of asyncio."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest

from bench.client import ClosedLoad, OpenLoad
from bench.connection import NO_ANSWER, connect
from bench.errors import LoadError

REQUEST = b"GET /%d HTTP/1.1\r\n\r\n"
HOLD_SECONDS = 0.3


def answer(body=b"ok", status=b"200 OK"):
    return b"HTTP/1.1 %s\r\ncontent-length: %d\r\n\r\n%s" % (status, len(body), body)


@asynccontextmanager
async def serving(respond, count=1):
    """Yield connections to a server that calls `respond(path, writer)` per request."""
    handling: set[asyncio.Task[None]] = set()

    async def handle(reader, writer):
        handling.add(asyncio.current_task())  # type: ignore[arg-type]  # there is one
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                await respond(request.split()[1].decode(), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    connections = await connect("127.0.0.1", server.sockets[0].getsockname()[1], count)
    try:
        yield connections
    finally:
        for connection in connections:
            connection.close()
        server.close()
        await server.wait_closed()
        await asyncio.gather(*handling)


def run_open(
    respond, *, rate, seconds, count=1, requests=(REQUEST % 0,), refusable=False
):
    async def run():
        async with serving(respond, count) as connections:
            load = OpenLoad(connections, list(requests), refusable)
            return await load.run(rate, seconds)

    return asyncio.run(run())


@pytest.mark.slow
def test_open_load_charges_a_stall_to_every_request_that_was_due_meanwhile():
    """One answer is held back; a closed loop would see one slow request, not thirty."""
    rate = 100
    seen: list[str] = []

    async def stall_once(path, writer):
        if not seen:
            seen.append(path)
            await asyncio.sleep(HOLD_SECONDS)
        writer.write(answer())

    result = run_open(stall_once, rate=rate, seconds=0.4)

    assert (40, 0) == (result.completed, result.failed)
    # On one connection the answers come in order; a slow machine only adds to them.
    due_during_stall = range(int(HOLD_SECONDS * rate))
    early = [
        index
        for index in due_during_stall
        if result.latencies_seconds[index] < HOLD_SECONDS - index / rate
    ]
    assert early == []


def test_open_load_asks_for_the_paths_in_turn():
    seen: list[str] = []

    async def note(path, writer):
        seen.append(path)
        writer.write(answer())

    run_open(
        note, rate=1000, seconds=0.005, requests=[REQUEST % 1, REQUEST % 2, REQUEST % 3]
    )

    assert ["/1", "/2", "/3", "/1", "/2"] == seen


def test_open_load_uses_all_connections():
    writers = set()

    async def note(_path, writer):
        writers.add(writer)
        writer.write(answer())

    run_open(note, rate=1000, seconds=0.01, count=5)

    assert len(writers) == 5


def test_an_answer_may_come_in_pieces():
    async def dribble(_path, writer):
        for byte in answer(b"x" * 9):
            writer.write(bytes([byte]))
            await asyncio.sleep(0)

    result = run_open(dribble, rate=1000, seconds=0.003)

    assert (3, 0) == (result.completed, result.failed)


def test_open_load_counts_other_answers_as_failures():
    async def fail_odd(path, writer):
        writer.write(answer(status=b"500 No" if path == "/1" else b"200 OK"))

    result = run_open(
        fail_odd, rate=1000, seconds=0.006, requests=[REQUEST % 0, REQUEST % 1]
    )

    assert (3, 3) == (result.completed, result.failed)


def test_open_load_counts_what_is_never_answered(monkeypatch):
    monkeypatch.setattr("bench.client._GRACE_SECONDS", 0.05)

    async def hang_up(_path, writer):
        writer.close()

    result = run_open(hang_up, rate=1000, seconds=0.005)

    assert (0, 5) == (result.completed, result.failed)


def test_open_load_counts_503_as_a_failure_unless_it_may_be_refused():
    async def refuse_odd(path, writer):
        odd = path == "/1"
        writer.write(answer(status=b"503 Busy" if odd else b"200 OK"))

    requests = [REQUEST % 0, REQUEST % 1]
    strict = run_open(refuse_odd, rate=1000, seconds=0.006, requests=requests)
    lenient = run_open(
        refuse_odd, rate=1000, seconds=0.006, requests=requests, refusable=True
    )

    assert (3, 3, 0) == (strict.completed, strict.failed, strict.refused)
    assert (3, 0, 3) == (lenient.completed, lenient.failed, lenient.refused)
    assert len(lenient.latencies_seconds) == 3


def test_open_load_tells_which_answers_came_before_it_had_sent_all():
    """The server answers the first request at once, the others when it has them all."""
    held = []

    async def hold(path, writer):
        if path == "/0":
            writer.write(answer())
        else:
            held.append(writer)
        if len(held) == 3:
            for each in held:
                each.write(answer())

    requests = [REQUEST % number for number in range(4)]
    result = run_open(hold, rate=5, seconds=0.8, count=4, requests=requests)

    assert (4, 1) == (result.completed, result.in_time)


@pytest.mark.parametrize(("users", "count"), [(3, 7), (3, 3), (3, 1)])
def test_counted_load_sends_so_many_and_waits_for_all(users, count):
    seen: list[str] = []

    async def note(path, writer):
        seen.append(path)
        await asyncio.sleep(0)
        writer.write(answer())

    async def run():
        async with serving(note, users) as connections:
            return await ClosedLoad(connections, [REQUEST % 0]).run_counted(count)

    result = asyncio.run(run())

    assert count == len(seen) == result.completed


def test_a_counted_load_whose_connections_are_all_lost_ends():
    async def hang_up(_path, writer):
        writer.close()

    async def run():
        async with serving(hang_up, 2) as connections:
            return await ClosedLoad(connections, [REQUEST % 0]).run_counted(9)

    result = asyncio.run(run())

    assert (0, 2) == (result.completed, result.failed)


def test_closed_load_opens_lost_connections_again_where_it_may():
    """The first request of each connection is lost; so each is used once."""

    async def hang_up(_path, writer):
        writer.close()

    async def run():
        async with serving(hang_up) as (connection,):
            _, port = connection._transport.get_extra_info("peername")

            async def reopen():
                (opened,) = await connect("127.0.0.1", port, 1)
                return opened

            load = ClosedLoad([connection], [REQUEST % 0], reopen)
            return await load.run_counted(5)

    result = asyncio.run(run())

    assert (0, 5) == (result.completed, result.failed)


def test_closed_load_keeps_one_request_per_connection():
    waiting = []
    most = []

    async def release_in_threes(_path, writer):
        waiting.append(writer)
        most.append(len(waiting))
        if len(waiting) == 3:
            for each in waiting:
                each.write(answer())
            waiting.clear()

    async def run():
        async with serving(release_in_threes, 3) as connections:
            return await ClosedLoad(connections, [REQUEST % 0]).run(0.5)

    result = asyncio.run(run())

    # A slow machine may get through one batch only; none at all would be a hang.
    assert max(most) == 3
    assert result.failed == 0
    assert result.completed >= 3


def test_closed_load_counts_a_lost_connection_once():
    async def hang_up(_path, writer):
        writer.close()

    async def run():
        async with serving(hang_up) as connections:
            return await ClosedLoad(connections, [REQUEST % 0]).run_counted(9)

    result = asyncio.run(run())

    assert (0, 1) == (result.completed, result.failed)


def test_a_closed_connection_answers_at_once_that_it_cannot():
    statuses: list[int] = []

    async def run():
        async with serving(lambda *_: None) as (connection,):
            connection.close()
            await asyncio.sleep(0)
            connection.send(REQUEST % 0, lambda status, _body: statuses.append(status))

    asyncio.run(run())

    assert [NO_ANSWER] == statuses


def test_a_refused_connection_is_a_load_error(free_port):
    with pytest.raises(LoadError, match="refuses connections"):
        asyncio.run(connect("127.0.0.1", free_port, 2))
