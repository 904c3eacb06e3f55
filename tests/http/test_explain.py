"""In debug mode an error's page tells how its transaction came to it."""

from __future__ import annotations

import asyncio
import re

import pytest
from tornado.ioloop import IOLoop
from tornado.web import Application, RequestHandler

import txloop
from tests.flags import Flag
from tests.logs import expect_log
from tests.messages import Request, read_answer
from tests.serving import EXECUTORS, serving
from txloop import TVar, transactional
from txloop.stm.store import committed
from txloop.stmlog import stories

started, go = Flag(), Flag()
counter = TVar(0)


# The flags are meant to be shared, which the scan cannot know.
@transactional(trust=True)
class Overtaken(RequestHandler):
    def get(self):
        seen = counter.get()
        started.set()
        go.wait()
        raise ValueError(f"saw {seen}")


@transactional
class Fails(RequestHandler):
    def get(self):
        raise KeyError("nothing")


@transactional
class Counts(RequestHandler):
    def get(self):
        self.write(str(counter.get()))


class Direct(RequestHandler):
    """Not marked: it writes at once, on the loop thread."""

    def get(self):
        counter.set(counter.get() + 1)


class Explains(RequestHandler):
    def get(self):
        self.write(txloop.explain())


def application(**settings):
    handlers = [("/overtaken", Overtaken), ("/fails", Fails), ("/direct", Direct)]
    handlers += [("/explains", Explains), ("/counts", Counts)]
    return Application(handlers, autoreload=False, **settings)


@pytest.fixture(autouse=True)
def flags():
    started.clear()
    go.clear()


FAILED = r"transaction \d+: 1 attempt\n  1\. (.*): failed after \S+ ms, as of version"


@pytest.mark.slow
@pytest.mark.parametrize("executor", EXECUTORS)
def test_debug_mode_keeps_stories_from_an_error_on(executor):
    """The page of what failed at once is Tornado's."""
    with (
        serving(executor, lambda: application(debug=True)) as server,
        expect_log("tornado", r"^(Uncaught exception|500) GET /fails", 4),
    ):
        pages = [server.get("/fails").body.decode() for _ in range(2)]
        told = server.get("/explains").body.decode()

    found = re.match(f"GET Fails, {FAILED}", told)
    assert found is not None, told
    assert re.fullmatch("on the loop thread|in worker [12]", found[1])
    assert all(page.endswith("KeyError: 'nothing'\n") for page in pages)


@pytest.mark.slow
def test_debug_mode_costs_nothing_before_and_long_after_an_error(monkeypatch):
    """Stories are events, and these take every call the long way."""
    monkeypatch.setattr(stories, "_KEPT_SECONDS", 0.2)

    def listeners():
        dispatcher = IOLoop.current().dispatcher  # type: ignore[attr-defined]
        return len(dispatcher.listeners), len(committed.followers)

    with (
        serving("processes", lambda: application(debug=True)) as server,
        expect_log("tornado", r"^(Uncaught exception|500) GET /fails", 4),
    ):
        server.get("/counts")
        before = server.run(on_loop(listeners))
        server.get("/fails")
        server.get("/fails")
        meanwhile = server.run(on_loop(listeners))
        server.run(lambda: asyncio.sleep(0.5))
        after = server.run(on_loop(listeners))

    assert (before, meanwhile, after) == ((0, 1), (1, 2), (0, 1))


def on_loop(ask):
    async def answer():
        return ask()

    return answer


@pytest.mark.slow
def test_the_page_names_both_lines_of_a_conflict():
    with (
        serving("processes", lambda: application(debug=True)) as server,
        expect_log("tornado", r"^(Uncaught exception|500) GET /(fails|overtaken)", 4),
    ):
        server.get("/fails")  # stories are kept from here on
        answer = server.run(lambda: conflict(server))

    text = answer.body.decode()
    assert str(len(answer.body)) == answer.header("Content-Length")
    assert "2 attempts" in text
    line = r"test_explain\.py:{}"
    assert re.search(
        r"1\. in worker \d: aborted, because .*counter.* had changed; used at .*"
        + line.format(r"\d+ in get")
        + r"; written at .*"
        + line.format(r"\d+ in get"),
        text,
    ), text
    assert re.search(r"2\. .*: failed after", text)
    assert "ValueError: saw 1" in text


async def conflict(server):
    """Have one overtaken by unmarked code; return its answer."""
    loop = asyncio.get_running_loop()
    slow = loop.create_task(ask(server, "/overtaken"))
    await started.reached()
    await ask(server, "/direct")
    go.set()
    return await slow


async def ask(server, path):
    async with server.connection() as (reader, writer):
        writer.write(Request("GET", path, {}, None).encoded())
        return await read_answer(reader, "GET")


@pytest.mark.slow
def test_explain_tells_it_later_and_begins_with_the_first_call():
    with (
        serving("processes", application) as server,
        expect_log("tornado", r"^(Uncaught exception|500) GET /fails", None),
    ):
        before = server.get("/explains").body.decode()
        page = server.get("/fails").body.decode()
        after = server.get("/explains").body.decode()

    assert "no transaction has failed or run twice since stories are kept" in before
    assert "transaction" not in page
    assert re.match(f"GET Fails, {FAILED}", after), after


@pytest.mark.slow
def test_without_debug_mode_the_page_is_tornados():
    with (
        serving("processes", lambda: application(serve_traceback=True)) as server,
        expect_log("tornado", r"^(Uncaught exception|500) GET /fails", 2),
    ):
        page = server.get("/fails").body.decode()

    assert "KeyError" in page
    assert "transaction" not in page.rsplit("KeyError", 1)[1]


def test_a_stock_loop_is_named():
    async def ask_it():
        with pytest.raises(txloop.TxError, match="is a stock one"):
            txloop.explain()

    asyncio.run(ask_it())
