"""Coroutines, callbacks and the end of a program, where transactions wait."""

from __future__ import annotations

import asyncio
import http.client
import signal

import pytest
from tornado.ioloop import IOLoop

from tests.flags import until
from tests.scripts import running_script
from tests.serving import loop_of
from txloop import Channel, TVar, TxClosedError, atomically, retry, transactional
from txloop.loop.ioloop import TransactionIOLoop
from txloop.stm.store import committed


@pytest.fixture(params=["serial", "rehearsal", "processes", "stock"])
def kind(request):
    """Here the stock loop counts as one that runs transactions."""
    return request.param


@pytest.fixture
def loop(kind):
    followers = list(committed.followers)
    loop = loop_of(kind)
    yield loop
    loop.close()
    assert followers == committed.followers


def dispatcher_of(loop):
    if isinstance(loop, TransactionIOLoop):
        return loop.dispatcher
    return loop._txloop_calls.dispatcher


async def waiting(loop, count):
    await until(lambda: dispatcher_of(loop).stats().waiting == count)


def test_a_coroutine_waits_for_another_one(loop):
    # GIVEN
    channel = Channel[str]()

    async def main():
        taking = asyncio.ensure_future(atomically(channel.get))
        await asyncio.sleep(0)
        await atomically(channel.put, "thing")
        return await taking

    # THEN
    assert "thing" == loop.run_sync(main)


def test_the_loop_goes_on_meanwhile(loop):
    # GIVEN
    channel = Channel[str]()

    async def main():
        taking = atomically(channel.get)
        await waiting(loop, 1)
        IOLoop.current().add_callback(channel.put, "by a callback")
        return await taking

    # THEN
    assert "by a callback" == loop.run_sync(main)


def test_a_timeout_is_an_error_of_the_awaiter(loop):
    # GIVEN
    channel = Channel[str]()

    async def main():
        with pytest.raises(TimeoutError, match=r"the channel is empty after 0.01 s"):
            await atomically(channel.get, timeout=0.01)

    # THEN
    loop.run_sync(main)


def test_one_that_is_cancelled_while_it_waits_takes_nothing(loop):
    # GIVEN
    channel = Channel[str]()

    async def main():
        cancelled = atomically(channel.get)
        await waiting(loop, 1)
        cancelled.cancel()
        await until(lambda: not dispatcher_of(loop).pending)
        taking = atomically(channel.get)
        await atomically(channel.put, "thing")
        return await taking

    # THEN
    assert "thing" == loop.run_sync(main)
    assert 0 == len(channel)


@pytest.mark.parametrize("kind", ["serial", "rehearsal", "processes"], indirect=True)
def test_closing_the_loop_tells_those_who_wait(loop):
    # GIVEN
    channel = Channel[str]()

    async def main():
        taking = atomically(channel.get)
        await waiting(loop, 1)
        loop.dispatcher.close()
        with pytest.raises(TxClosedError, match=r"before Channel.get could commit"):
            await taking

    # THEN
    loop.run_sync(main)


def test_a_stock_loop_that_was_closed_does_not_matter():
    # GIVEN
    channel = Channel[str]()
    loop = loop_of("stock")

    async def main():
        taking = atomically(channel.get)
        await waiting(loop, 1)
        return taking

    taking = loop.run_sync(main)
    loop.close()

    # WHEN
    channel.put("thing")

    # THEN
    assert not taking.done()
    assert "thing" == channel.get()
    assert [] == [one for one in committed.followers if "Watches" in repr(one)]


@transactional
def pour(cup):
    if not cup.value:
        retry()
    cup.value -= 1


@pytest.mark.parametrize("kind", ["serial", "processes"], indirect=True)
def test_a_marked_callback_waits(loop):
    # GIVEN
    cup = TVar(0)

    async def main():
        loop.add_callback(pour, cup)
        await waiting(loop, 1)
        cup.value = 2
        await until(lambda: cup.value == 1)

    # THEN
    loop.run_sync(main)


PROGRAM = """\
import txloop
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

news = txloop.Channel()

@txloop.transactional
class Poll(RequestHandler):
    def get(self):
        seconds = self.get_query_argument("seconds", None)
        try:
            self.write(news.get(float(seconds) if seconds else None))
        except TimeoutError:
            self.write("nothing")

async def main():
    sockets = bind_sockets(0, "127.0.0.1")
    HTTPServer(Application([("/", Poll)])).add_sockets(sockets)
    print("port", sockets[0].getsockname()[1], flush=True)

def tell():
    if txloop.stats().waiting:
        print("waiting", flush=True)
    else:
        IOLoop.current().call_later(0.005, tell)

txloop.install("processes", 2, signals=True, drain_seconds=1000)
IOLoop.current().add_callback(main)
IOLoop.current().add_callback(tell)
IOLoop.current().start()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "status", "body"), [("?seconds=1000", 200, "nothing"), ("", 503, "")]
)
def test_nobody_waits_longer_than_it_must_when_the_program_ends(
    tmp_path, query, status, body
):
    with running_script(tmp_path, PROGRAM) as program:
        client = http.client.HTTPConnection("127.0.0.1", program.port, timeout=40)
        client.request("GET", f"/{query}")
        assert program.process.stdout is not None
        assert "waiting\n" == program.process.stdout.readline()

        # WHEN
        program.signal(signal.SIGTERM)
        answer = client.getresponse()
        text = answer.read().decode()
        ended = program.wait()
        client.close()

    # THEN
    assert (status, 0) == (answer.status, ended.exit_code)
    assert text.startswith(body)
