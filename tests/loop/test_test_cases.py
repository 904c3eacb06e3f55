"""Programs whose own tests are Tornado's test cases: each test has its own loop."""

from __future__ import annotations

import asyncio
import socket
import time
import unittest
from contextlib import closing, contextmanager

import pytest
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.testing import (
    AsyncHTTPTestCase,
    AsyncTestCase,
    bind_unused_port,
    gen_test,
)
from tornado.web import Application, RequestHandler

import txloop
from tests.flags import Flag
from tests.leaks import open_files
from tests.logs import expect_log
from tests.processes import children_of
from tests.serving import loop_of
from txloop.web.delegate import TOLD

WAIT_SECONDS = 30  # what never comes fails the test
TESTS = 12  # a fork takes long where the tests before have filled memory

visits = txloop.TDict(n=0)


@txloop.transactional
class Visit(RequestHandler):
    def get(self):
        time.sleep(0.001)  # long enough to be sent away
        visits["n"] += 1
        self.write(dict(visits))


class Unmarked(RequestHandler):
    def get(self):
        self.write("plain")


class OfRequests(AsyncHTTPTestCase):
    def get_app(self):
        vars(self.io_loop)[TOLD] = True  # that marks change nothing on a stock loop
        return Application([("/", Visit), ("/plain", Unmarked)])

    def test_marked(self):
        assert self.fetch("/").code == 200

    def test_unmarked(self):
        assert self.fetch("/plain").body == b"plain"


class OfTransactions(AsyncTestCase):
    @gen_test
    async def test_atomically(self):
        before = visits["n"]
        assert await txloop.atomically(visit) == before + 1


def visit():
    time.sleep(0.001)
    visits["n"] += 1
    return visits["n"]


CASES = {
    "marked": (OfRequests, "test_marked"),
    "unmarked": (OfRequests, "test_unmarked"),
    "atomically": (OfTransactions, "test_atomically"),
}


@contextmanager
def installed(executor):
    """Install the loop as a test module does at its import."""
    txloop.install(executor, 2)
    try:
        yield
    finally:
        IOLoop.configure(None)


def run_many(name):
    """Run one test of a test case many times."""
    kind, method = CASES[name]
    suite = unittest.TestSuite(kind(method) for _ in range(TESTS))
    result = unittest.TestResult()
    suite.run(result)
    assert [] == result.errors + result.failures
    assert TESTS == result.testsRun


@pytest.mark.slow
@pytest.mark.timeout(90)
@pytest.mark.filterwarnings("ignore:make_current:DeprecationWarning")
@pytest.mark.parametrize("executor", ["serial", "processes"])
@pytest.mark.parametrize("name", CASES)
def test_many_test_cases_leave_nothing(name, executor):
    before = visits["n"]
    with installed(executor):
        run_many(name)  # what is made once
        there_before = children_of("self"), len(open_files())
        run_many(name)
        there_after = children_of("self"), len(open_files())

    assert there_before == there_after
    assert visits["n"] == before + (0 if name == "unmarked" else 2 * TESTS)


started, go = Flag(), Flag()  # nobody goes on


@txloop.transactional
class HoldUp(RequestHandler):
    def get(self):
        started.set()
        go.wait()


@pytest.mark.parametrize("leaves", [True, False], ids=["client gone", "client waits"])
def test_a_request_that_is_pending_at_the_end_is_answered(leaves, caplog):
    """The loop is no longer the current one then, as where an AsyncTestCase ends."""

    async def ask():
        server = HTTPServer(Application([("/", HoldUp)]))
        server.add_socket(listening)
        client.sendall(b"GET / HTTP/1.0\r\n\r\n")
        await started.reached()
        if leaves:
            client.close()
            await server.close_all_connections()

    started.clear()
    listening, port = bind_unused_port()
    with closing(listening), closing(socket.socket()) as client:
        client.settimeout(WAIT_SECONDS)
        client.connect(("127.0.0.1", port))
        loop = loop_of("processes")
        loop.run_sync(ask)
        asyncio.set_event_loop(None)
        with expect_log("tornado.access", "^503 GET /"):
            loop.close(all_fds=True)
        answer = b"" if leaves else client.recv(1000)

    assert answer.startswith(b"" if leaves else b"HTTP/1.1 503 ")
    assert [] == [one for one in caplog.records if one.name == "tornado.application"]
