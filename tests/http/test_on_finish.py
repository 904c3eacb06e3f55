"""What runs after the response, at commit: `on_finish`, and what it can see."""

from __future__ import annotations

import contextvars
import os
import threading
from typing import Any

import pytest
from tornado.web import Application, HTTPError, RequestHandler

from tests.logs import expect_log
from tests.messages import Request
from tests.serving import FORKED, pair_of, serving
from txloop import TVar, transactional
from txloop.stm.attempt import current

finished: list[tuple[Any, ...]] = []
commits = TVar(0)

user: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="nobody")
zone: contextvars.ContextVar[str] = contextvars.ContextVar("zone")


@transactional
class Noted(RequestHandler):
    """Leaves attributes behind for `on_finish`."""

    def prepare(self):
        self.left = [self.request.method]

    def get(self, *args):
        self.left.append(self.get_argument("n", ""))
        self.worker = os.getpid()
        self.set_header("X-Length", "1")
        self.set_cookie("c", "1")
        self.write("body")
        if self.get_argument("finish", ""):
            self.finish()
            self.left.append("after finish()")

    def post(self):
        self.left.append(self.get_body_argument("n"))
        raise HTTPError(409)

    def on_finish(self):
        finished.append(
            (
                self.left,
                self.get_status(),
                self.request.path,
                self.path_args,
                self.get_arguments("n"),
                self._headers.get_list("X-Length"),
                self._finished,
                self._headers_written,
                self.request.request_time() >= 0,
            )
        )


@transactional
class Placed(RequestHandler):
    def get(self):
        self.worker = os.getpid()

    def on_finish(self):
        place = (os.getpid(), threading.get_ident(), current())
        commits.set(commits.get() + 1)
        finished.append((self.worker, place))


@transactional
class Failing(RequestHandler):
    def get(self):
        self.write("sent before")

    def on_finish(self):
        raise ValueError("in on_finish()")


@transactional
class Unpicklable(RequestHandler):
    def get(self):
        self.lock = threading.Lock()
        self.write("body")

    def on_finish(self):
        finished.append((self.lock.locked(),))


@transactional
class Contextual(RequestHandler):
    """Sets context variables, and says which ones it sees."""

    def prepare(self):
        self.start = (user.get(), zone.get("none"))
        if name := self.get_argument("user", ""):
            user.set(name)

    def get(self):
        if name := self.get_argument("zone", ""):
            zone.set(name)
        self.write(f"{user.get()} {zone.get('none')}")

    def on_finish(self):
        finished.append((self.start, (user.get(), zone.get("none"))))


@transactional(trust=True)
class Given(RequestHandler):
    """Gives itself what is to run after the response."""

    def get(self, how):
        self.on_finish = self.note  # type: ignore[method-assign] # of this one
        if how == "flushed":
            self.flush()
        self.write("body")
        if how == "itself":
            self.finish()

    def note(self):
        finished.append((current(), self.get_status()))


@transactional
class Seeing(RequestHandler):
    """Has nothing that looks at it after the response."""

    def get(self):
        self.write(f"{user.get()} {zone.get('none')}")
        user.set("left behind")


def make_application():
    return Application(
        [
            ("/noted", Noted),
            ("/noted/(.*)", Noted),
            ("/placed", Placed),
            ("/failing", Failing),
            ("/given/(.*)", Given),
            ("/unpicklable", Unpicklable),
            ("/contextual", Contextual),
            ("/seeing", Seeing),
        ]
    )


@pytest.fixture(autouse=True)
def _clean():
    finished.clear()
    commits.set(0)


@pytest.mark.at_owner("it has an on_finish of its own")
@pytest.mark.parametrize(
    "request_",
    [
        Request("GET", "/noted?n=1&n=2"),
        Request("GET", "/noted/%20x"),
        Request(
            "POST",
            "/noted",
            {"Content-Type": "application/x-www-form-urlencoded"},
            b"n=3",
        ),
    ],
    ids=["arguments", "path", "error"],
)
def test_on_finish_sees_what_it_sees_in_stock_tornado(request_, pair):
    def talk(server):
        finished.clear()
        return server.fetch_together([request_]), list(finished)

    [answer], seen = (
        pair.same(talk) if "finish=" not in request_.path else _finish(pair)
    )

    assert 1 == len(seen)
    assert answer.status == seen[0][1]
    assert pair.server.sent_away()


def _finish(pair):
    """The body goes on after `finish()`, and `on_finish` waits for its end."""
    answer = pair.server.get("/noted?finish=1")
    assert ["GET", "", "after finish()"] == finished[0][0]
    return [answer], list(finished)


@pytest.mark.at_owner("it has an on_finish of its own")
def test_on_finish_runs_on_the_loop_thread_outside_the_transaction(pair):
    pair.server.get("/placed")

    [(worker, place)] = finished
    assert (os.getpid(), threading.get_ident(), None) == place
    assert (worker != os.getpid()) == (pair.server.kind in FORKED)
    assert 1 == commits.get()


@pytest.mark.at_owner("it has an on_finish of its own")
def test_on_finish_runs_once_for_each_of_many(pair):
    answers = pair.server.fetch_together([Request("GET", "/placed")] * 20)

    assert [200] * 20 == [answer.status for answer in answers]
    assert (20, 20) == (len(finished), commits.get())


@pytest.mark.parametrize("how", ["open", "itself", "flushed"])
def test_what_a_verb_gives_its_handler_runs_once_and_at_commit(how, kind):
    with serving(kind, make_application) as server:
        assert b"body" == server.get(f"/given/{how}").body

    assert [(None, 200)] == finished


def test_an_error_in_on_finish_is_logged_as_in_stock_tornado(pair):
    answer = pair.same(lambda server: server.get("/failing"))

    assert b"sent before" == answer.body


@pytest.mark.at_owner("it has an on_finish of its own")
def test_attributes_that_do_not_pickle_keep_the_handler_on_the_loop(kind):
    """It works as ever, and one warning says what it costs."""
    with serving(kind, make_application) as server:
        with expect_log(
            "txloop",
            "GET Unpicklable runs on the loop thread: its result does not pickle",
            count=1 if kind in FORKED else 0,
        ):
            answers = [server.get("/unpicklable") for _ in range(3)]

        assert [b"body"] * 3 == [answer.body for answer in answers]
        assert [(False,)] * 3 == finished


# Context variables


@pytest.mark.at_owner("it has an on_finish of its own")
def test_on_finish_sees_the_context_of_its_request(pair):
    def talk(server):
        finished.clear()
        answer = server.get("/contextual?user=me&zone=east")
        return answer.body, list(finished)

    body, seen = pair.same(talk)

    assert b"me east" == body
    assert [(("nobody", "none"), ("me", "east"))] == seen


def test_nothing_of_a_context_leaks_to_the_next_request(pair):
    requests = [
        Request("GET", path)
        for path in (
            "/contextual?user=me&zone=east",
            "/contextual",
            "/seeing",
            "/seeing",
        )
    ]

    def talk(server):
        in_turn = server.fetch_in_turn(requests)
        return [answer.body for answer in in_turn]

    bodies = pair.same(talk)

    assert [b"me east", b"nobody none", b"nobody none", b"nobody none"] == bodies
    assert ("nobody", None) == (user.get(), zone.get(None))


def test_a_context_set_before_the_server_starts_is_seen(kind):
    def talk(server):
        return server.get("/seeing").body, server.get("/contextual?zone=east").body

    token = zone.set("north")
    try:
        with pair_of(kind, make_application) as pair:
            bodies = pair.same(talk)
            assert pair.server.sent_away()
    finally:
        zone.reset(token)

    assert (b"nobody north", b"nobody east") == bodies


@pytest.mark.at_owner("fronts were started in another context")
def test_a_context_set_on_the_loop_is_seen(kind):
    """A value that is newer than the workers travels with the request."""

    async def set_and_listen(server):
        user.set("from the loop")
        return server.listen()

    def talk(server):
        server.port = server.run(lambda: set_and_listen(server))
        return server.get("/seeing").body

    with pair_of(kind, make_application, early=True) as pair:
        assert b"from the loop none" == pair.same(talk)


@pytest.mark.at_owner("fronts were started in another context")
def test_a_variable_without_a_name_keeps_the_handler_on_the_loop(kind):
    """One that was set when there were workers already."""
    hidden: contextvars.ContextVar[object] = contextvars.ContextVar("hidden")

    async def set_and_listen(server):
        hidden.set(1)
        return server.listen()

    def talk(server):
        server.port = server.run(lambda: set_and_listen(server))
        return [server.get("/seeing").body for _ in range(3)]

    with (
        expect_log(
            "txloop",
            "GET Seeing runs on the loop thread: it does not pickle .*'hidden'",
            count=1 if kind in FORKED else 0,
        ),
        pair_of(kind, make_application, early=True) as pair,
    ):
        pair.same(talk)
