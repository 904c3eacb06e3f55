"""Faults as a client sees them: what is answered, and that the server goes on."""

from __future__ import annotations

import asyncio
import http.client
import logging
import os
import sys
import time

import pytest
from tornado.web import Application, RequestHandler

from tests.logs import expect_log
from tests.messages import Request
from tests.scripts import running_script
from tests.serving import serving
from txloop import TVar, TxTimeoutError, atomically, on_commit, transactional

written = TVar("before")
effects: list[str] = []


def note(word):
    effects.append(word)


@transactional
class Hard(RequestHandler):
    def get(self, what):
        written.set(what)
        on_commit(note, what)
        getattr(self, f"do_{what}")()

    def do_exit(self):
        sys.exit(3)

    def do_interrupt(self):
        raise KeyboardInterrupt

    def do_generator_exit(self):
        raise GeneratorExit

    def do_recursion(self):
        self.do_recursion()

    def do_memory(self):
        raise MemoryError("none left")

    def do_cancelled(self):
        raise asyncio.CancelledError

    def do_nothing(self):
        self.finish("nothing")

    def do_leave(self):
        os._exit(9)

    def do_wait(self):
        time.sleep(1000)


@transactional(timeout=0.05)
class Hurried(Hard):
    pass


@transactional(timeout=float("inf"))
class Patient(RequestHandler):
    def get(self):
        time.sleep(2.3)
        self.finish("patient")


@transactional
class BadStart(RequestHandler):
    def initialize(self):
        raise SystemExit("not today")

    def get(self):
        raise AssertionError("there is no handler")


def make_application():
    return Application(
        [
            ("/hurried/(.*)", Hurried),
            ("/patient", Patient),
            ("/bad-start", BadStart),
            ("/(.*)", Hard),
        ]
    )


@pytest.fixture(autouse=True)
def _clean():
    written.set("before")
    effects.clear()


@pytest.fixture(scope="module", params=["serial", "rehearsal", "processes"])
def server(request):
    with serving(request.param, make_application, early=True) as server:
        yield server


HARD = {
    "exit": r"SystemExit: 3",
    "interrupt": "KeyboardInterrupt",
    "generator_exit": "GeneratorExit",
    "recursion": "RecursionError: maximum recursion depth",
    "memory": "MemoryError: none left",
    "cancelled": "CancelledError",
}


@pytest.mark.parametrize("what", HARD)
def test_whatever_a_handler_raises_is_answered_with_500(server, what):
    # WHEN
    with (
        expect_log("tornado.application", "Uncaught exception") as records,
        expect_log("tornado.access", f"^500 GET /{what}"),
    ):
        answer = server.get(f"/{what}")

    # THEN
    assert 500 == answer.status
    assert ("before", []) == (written.get(), effects)
    assert HARD[what] in told(records[0])
    assert f'File "{__file__}"' in told(records[0])
    assert (200, b"nothing") == (server.get("/nothing").status, b"nothing")
    assert ("nothing", ["nothing"]) == (written.get(), effects)


def told(record):
    """Return the traceback of a record, as the log shows it."""
    return logging.Formatter().format(record)


def test_a_constructor_that_exits_ends_the_connection_only(server):
    # WHEN
    with (
        expect_log("tornado.application", "Uncaught exception"),
        expect_log("txloop", "^an effect failed: "),
    ):
        received = server.exchange(b"GET /bad-start HTTP/1.1\r\nHost: a\r\n\r\n")

    # THEN
    assert b"" == received
    assert 200 == server.get("/nothing").status


def test_a_handler_that_kills_three_workers_is_answered_with_500():
    with serving("processes", make_application) as server:
        server.limits.amiss_looks = sys.maxsize  # nobody is buried unreported

        # WHEN
        with (
            expect_log("txloop", r"^worker \d+ died; .*; it exited with 9", 3),
            expect_log("tornado.application", "Uncaught exception") as records,
            expect_log("tornado.access", "^500 GET /leave"),
        ):
            answer = server.get("/leave")

        # THEN
        assert 500 == answer.status
        assert "3 workers died while they ran GET Hard; " in told(records[0])
        assert 3 == told(records[0]).count(": it exited with 9")
        assert 200 == server.get("/nothing").status


def test_a_handler_that_takes_too_long_is_answered_with_503():
    with serving("processes", make_application) as server:
        # A late worker gets as long as it needs to say where it was.
        server.limits.lingering_looks = sys.maxsize

        # WHEN
        with (
            expect_log(
                "txloop", r"^GET Hurried exceeded its 0.05 s timeout; .* at:\n"
            ) as records,
            expect_log("tornado.access", "^503 GET /hurried/wait"),
        ):
            answer = server.get("/hurried/wait")
            while not records:  # told once the worker is gone
                server.run(server.pause)
            assert 200 == server.get("/nothing").status

        # THEN
        assert 503 == answer.status
        assert ("nothing", ["nothing"]) == (written.get(), effects)


def test_a_timeout_for_all_has_exceptions():
    with serving("processes", make_application, timeout=2) as server:
        requests = [Request("GET", path) for path in ("/wait", "/patient")]

        # WHEN
        with (
            expect_log("txloop", r"^GET Hard exceeded its 2 s timeout") as records,
            expect_log("tornado.access", "^503 GET /wait"),
        ):
            answers = server.fetch_together(requests)
            while not records:
                server.run(server.pause)
            answers.append(server.get("/nothing"))

        # THEN
        assert [503, 200, 200] == [answer.status for answer in answers]


def never_end():
    while True:
        time.sleep(0.001)


@transactional(timeout=0.05)
def never_end_in_haste():
    never_end()


@pytest.mark.parametrize(
    ("function", "of_loop"), [(never_end, 0.05), (never_end_in_haste, None)]
)
def test_who_awaits_what_takes_too_long_gets_an_error(function, of_loop):
    # GIVEN
    pattern = r"^never_end.* exceeded its 0\.05 s timeout; .* at:\n  File"
    with (
        serving("processes", make_application, timeout=of_loop) as server,
        expect_log("txloop", pattern) as records,
    ):
        # A late worker gets as long as it needs to say where it was.
        server.limits.lingering_looks = sys.maxsize

        async def wait():
            try:
                await atomically(function)
            finally:
                while not records:
                    await server.pause()

        # WHEN
        with pytest.raises(TxTimeoutError) as raised:
            server.run(wait)

    # THEN
    expected = f"{function.__name__} exceeded its 0.05 s timeout; it was ended"
    assert expected == str(raised.value)


SCRIPT = """
import logging, os, sys
import tornado.ioloop, tornado.web, txloop
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

@txloop.transactional
class Handler(tornado.web.RequestHandler):
    def get(self, what):
        if what == "fail":
            raise ValueError(what)
        if what == "leave":
            os._exit(1)
        logging.warning("of the body")
        txloop.on_commit(fail)
        self.write(what)

def fail():
    raise ValueError("in an effect")

txloop.install("processes", 2)
sockets = bind_sockets(0, "127.0.0.1")
HTTPServer(tornado.web.Application([("/(.*)", Handler)])).add_sockets(sockets)
print("port", sockets[0].getsockname()[1], flush=True)
{spoil}
tornado.ioloop.IOLoop.current().start()
"""

LOGS = {
    "full": """logging.basicConfig(filename="/dev/full")
os.dup2(os.open("/dev/full", os.O_WRONLY), 2)""",
    "full stderr": """logging.basicConfig()
os.dup2(os.open("/dev/full", os.O_WRONLY), 2)""",
    "stderr is None": """sys.stderr = None
logging.basicConfig()""",
    "closed object": """logging.basicConfig()
sys.stderr.close()""",
}


@pytest.mark.slow
@pytest.mark.parametrize("log", LOGS)
def test_a_server_goes_on_though_its_log_has_nowhere_to_go(tmp_path, log):
    # GIVEN
    script = SCRIPT.replace("{spoil}", LOGS[log])
    with running_script(tmp_path, script) as program:
        # WHEN
        paths = ["leave", "one", "fail", "two", "three"]
        answers = [fetch_status(program.port, path) for path in paths]

        # THEN
        assert [500, 200, 500, 200, 200] == answers


def fetch_status(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=40)
    try:
        connection.request("GET", f"/{path}")
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()
