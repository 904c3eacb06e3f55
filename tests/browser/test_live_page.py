"""The live page of the conflict log in a browser, over logs that the tests change."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
import tornado.web
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from conflict_log import formats
from conflict_log.web import ConflictLogHandler, LiveReport
from tests.log.writing import Log
from tests.logs import expect_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.chromium import Browser

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

EVIL = "<script>evil = 1</script><img src=x onerror='evil = 2'>"


def log_of(**counts: int) -> Log:
    """Return a log in which each function lost so many attempts, at a line of its own.

    Of what was said first, one costs least.
    """
    log, now = Log(), 0
    for cost, (name, count) in enumerate(counts.items(), 1):
        for _ in range(count):
            marker = f'File "{name}.py", line {cost}, in {name} [GET /{name}]'
            log.start(now).put(now + cost, 1, formats.WRITE_WRITE, marker)
            log.abort(now + cost)
            now += cost
    return log.start(now).commit(now + 1)


@dataclass
class Program:
    """A server whose log and answers the test decides on."""

    log: Log = field(default_factory=Log)
    status: int = 200
    asked: int = 0
    url: str = ""
    stop: Callable[[], object] = lambda: None

    def recent(self) -> bytes:
        self.asked += 1
        return self.log.data()


async def serve(program: Program, ready: threading.Event) -> None:
    """Serve the page until told to stop."""

    class Page(ConflictLogHandler):
        def prepare(self) -> None:
            if program.status != 200:
                self.set_status(program.status)
                self.finish()

    live = {"live": LiveReport(program.recent, seconds=0.0)}
    server = HTTPServer(tornado.web.Application([("/live", Page, live)]))
    sockets = bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    program.url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}/live"
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    program.stop = lambda: loop.call_soon_threadsafe(stopped.set)
    ready.set()
    await stopped.wait()
    server.stop()
    await server.close_all_connections()


@pytest.fixture
def program():
    """Serve the page in a thread: the test's own talks to the browser."""
    program, ready = Program(log_of(get=3, put=2)), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(serve(program, ready)))
    thread.start()
    assert ready.wait(10)
    yield program
    program.stop()
    thread.join()


@pytest.fixture
def page(program, chromium: Browser):
    """Open the page; it must not complain until the end."""
    chromium.open(program.url)
    chromium.complaints()
    yield chromium
    complaints = chromium.complaints()
    chromium.open("about:blank")
    # What the server refuses is told to the user, and to the console by the browser.
    assert [] == [one for one in complaints if "503" not in one]


ROWS = "[...document.querySelectorAll('#rows tbody b')].map((one) => one.textContent)"


def rows(page: Browser) -> object:
    return page.run(ROWS)


def test_it_updates_by_itself(page, program):
    assert ["put.py:2", "get.py:1"] == rows(page)

    program.log = log_of(get=3, put=2, delete=9)

    page.until(f"{ROWS}.join() === 'delete.py:3,put.py:2,get.py:1'")
    assert "live" == page.text("status")


def test_the_order_that_was_chosen_outlives_an_update(page, program):
    page.run("(document.querySelectorAll('#rows th button')[3].focus(), 1)")
    page.run("(document.activeElement.click(), 1)")
    assert ["get.py:1", "put.py:2"] == rows(page)

    program.log = log_of(get=1, put=2)

    page.until(f"{ROWS}.join() === 'put.py:2,get.py:1'")
    heads = "[...document.querySelectorAll('#rows th')]"
    assert 3 == page.run(f"{heads}.findIndex((one) => one.ariaSort === 'descending')")
    assert "count" == page.run("document.activeElement.textContent")


def test_rows_are_grouped_as_chosen(page):
    page.run(
        "(by.value = 'handler', by.dispatchEvent(new Event('change')), 1)",
    )

    page.until(f"{ROWS}.join() === 'GET /put,GET /get'")


def test_paused_it_stands_still(page, program):
    page.run("(pause.click(), 1)")
    assert "paused" == page.text("status")
    program.log = log_of(delete=9)
    assert ["put.py:2", "get.py:1"] == rows(page)
    assert page.run("timer === null || idle()")

    page.run("(pause.click(), 1)")

    page.until(f"{ROWS}.join() === 'delete.py:1'")


def test_a_server_that_refuses_is_named_and_asked_again(page, program):
    with expect_log("tornado.access", "^503 GET /live", count=None):
        program.status = 503
        page.run("(update(), 1)")
        page.until("state.className === 'fails'")
        assert "no report (the server says 503); trying again" == page.text("status")
        assert ["put.py:2", "get.py:1"] == rows(page)
        assert page.run("timer !== null && every > OFTEN")

        program.status = 200
        page.run("(update(), 1)")
        page.until("state.textContent === 'live' && every === OFTEN")


def test_selected_text_is_left_alone(page, program):
    page.run("(getSelection().selectAllChildren(report), 1)")
    program.log = log_of(delete=9)
    page.run("(update(), 1)")
    page.until("state.textContent === 'waits while text is selected'")
    assert ["put.py:2", "get.py:1"] == rows(page)

    page.run("(getSelection().removeAllRanges(), update(), 1)")
    page.until(f"{ROWS}.join() === 'delete.py:1'")


def test_nothing_in_a_log_runs(page, program):
    log = Log().start(0).put(1, 1, formats.WRITE_WRITE, EVIL, EVIL).abort(2)
    program.log = log.put(3, 1, formats.START).put(
        4, 1, formats.WRITE_WRITE, f'File "{EVIL}", line 7, in f [{EVIL}] {{{EVIL}}}'
    )
    program.log.abort(5)

    page.until("report.textContent.includes('onerror')")

    assert page.run("typeof evil === 'undefined'")
    assert 0 == page.run("document.querySelectorAll('main script, main img').length")


def test_it_asks_its_own_server_for_its_part_only(page, program):
    page.run("(update().then(() => { window.again = true }), 1)")
    page.until("window.again")

    entries = "performance.getEntriesByType('resource').map((one) => one.name)"
    page.until(f"{entries}.length")
    assert {f"{program.url}?part=report&by=line"} == set(page.run(entries))


def test_light_and_dark_and_narrow(page, program):
    seen = []
    for scheme in ("light", "dark"):
        page.emulate(prefers_color_scheme=scheme)
        seen.append(page.run("getComputedStyle(document.body).backgroundColor"))
    page.emulate(prefers_color_scheme="light")
    assert ["rgb(255, 255, 255)", "rgb(21, 24, 28)"] == seen

    page.resize(360, 640)
    assert page.run("document.documentElement.scrollWidth <= window.innerWidth")
    page.resize(0, 0)


def test_before_the_first_event_it_waits_for_it(page, program):
    # A report is shown for a while, the longer the longer it took to make.
    program.log = Log()
    page.until("report.textContent.includes('Nothing has happened yet.')")

    program.log = log_of(get=1)
    page.until(f"{ROWS}.join() === 'get.py:1'")
