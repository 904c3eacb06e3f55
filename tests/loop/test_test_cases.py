"""Programs whose own tests are Tornado's test cases: each test has its own loop."""

from __future__ import annotations

import time
import unittest
from contextlib import contextmanager

import pytest
from tornado.ioloop import IOLoop
from tornado.testing import AsyncHTTPTestCase, AsyncTestCase, gen_test
from tornado.web import Application, RequestHandler

import txloop
from tests.leaks import children, open_files
from txloop.web.delegate import TOLD

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
        there_before = children(), len(open_files())
        run_many(name)
        there_after = children(), len(open_files())

    assert there_before == there_after
    assert visits["n"] == before + (0 if name == "unmarked" else 2 * TESTS)
