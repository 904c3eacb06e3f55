"""Requests in threads: what they share with the loop thread, and what they do not.

Where there is no GIL, all tests of requests run there, too: `tests.serving.THREADS`.
"""

from __future__ import annotations

import contextvars
import json
import threading
from pathlib import Path

import pytest
from tornado.web import Application, RequestHandler

from tests.engine import Gate
from tests.logs import expect_log
from tests.messages import Request
from tests.race.lateness import go_on
from tests.serving import serving
from txloop import TDict, inevitable, transactional

state = TDict(n=0)
finished: list[tuple[object, ...]] = []


def make_application():
    return Application(
        [("/finish", Finishing), ("/wait/(.*)", Waiting), ("/spoil/(?P<x>.*)", Spoil)]
    )


@transactional
class Finishing(RequestHandler):
    """Sets a variable that is no module's, and looks at it after the response."""

    hidden: contextvars.ContextVar[str] = contextvars.ContextVar("hidden")

    def get(self):
        self.hidden.set("seen")
        self.lock = threading.Lock()
        self.finish({"thread": threading.get_native_id()})

    def on_finish(self):
        finished.append(
            (self.hidden.get(), self.lock.locked(), threading.get_native_id())
        )


@transactional
class Waiting(RequestHandler):
    def get(self, folder):
        Gate(Path(folder) / "gate").wait()
        state["n"] += 1
        self.finish("waited")


@transactional
class Spoil(RequestHandler):
    """Changes its request, and then has to run again on the loop thread."""

    def get(self, x):
        before = list(self.request.arguments)
        self.request.arguments["spoilt"] = [b"x"]
        inevitable()
        self.finish({"x": x, "before": before})


@pytest.fixture
def server():
    with serving("threads", make_application) as server:
        yield server


def test_the_handler_that_ran_sees_the_end_of_its_request(server):
    # GIVEN
    finished.clear()

    # WHEN
    answer = server.get("/finish")

    # THEN
    here = threading.get_native_id()
    assert [("seen", False, here)] == finished
    assert json.loads(answer.body)["thread"] != here


def test_a_run_that_is_thrown_away_leaves_no_trace_in_the_request(server):
    answer = server.get("/spoil/5?a=1")

    assert b'{"x": "5", "before": ["a"]}' == answer.body


def test_a_request_that_takes_too_long_gets_503(tmp_path):
    # GIVEN
    gate = Gate(tmp_path / "gate")
    with serving("threads", make_application, timeout=0.5) as server:
        server.limits.look_seconds = 0.01
        too_long = "^GET Waiting exceeded its 0.5 s timeout; a thread cannot be ended"

        request = Request("GET", f"/wait/{tmp_path}", {}, None)

        # WHEN
        with (
            expect_log("txloop", too_long, 2),
            expect_log("tornado.access", "^503 GET /wait/", 2),
        ):
            answers = server.fetch_together([request] * 2)
        state["n"] = 5
        go_on(server.loop.dispatcher, gate)  # type: ignore[attr-defined]

        # THEN
        assert [503, 503] == [answer.status for answer in answers]
        assert b"waited" == server.get(f"/wait/{tmp_path}").body
        assert 6 == state["n"]
