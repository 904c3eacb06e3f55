"""Verbs without a mark under `auto=True`: what is proved to share nothing, and no more.

Each answer says whether a transaction gave it: the proof has no other effect.
"""

from __future__ import annotations

import os

import pytest
from tornado.routing import Router
from tornado.web import Application, RequestHandler

from tests.logs import expect_log
from tests.serving import serving
from txloop import TVar, transactional
from txloop.stm.attempt import current
from txloop.web import marking
from txloop.web.watched import findings_in_reach

written = TVar(0)
rows: list[int] = []
actions = {"add": lambda: rows.append(1), "none": lambda: None}


class Base(RequestHandler):
    def initialize(self, extra=None):
        self.extra = extra
        self.parts = []

    def place(self):
        self.parts.append("transaction" if current() else "plain")
        self.write(" ".join(self.parts))


class Proved(Base):
    def get(self):
        self.place()

    async def post(self):
        self.place()


async def awaited(handler):
    handler.place()


async def shares(handler):
    rows.append(1)
    handler.place()


class Awaiting(Base):
    async def post(self):
        await awaited(self)


class AwaitingLost(Base):
    """What it awaits is not shareable."""

    async def post(self):
        await shares(self)


class Inheriting(Proved):
    pass


class Shares(Base):
    def get(self):
        self.place()
        self.write(f" {len(rows)}")

    def post(self):
        rows.append(1)
        self.place()


class Overriding(Proved):
    def place(self):
        rows.append(1)
        super().place()


class Lost(Base):
    """Nothing is found in it, but not all of it is known."""

    def get(self):
        self.place()
        getattr(self, self.get_argument("what", "do_nothing"))()

    def post(self):
        self.place()
        self.application.settings["actions"][self.get_argument("what", "none")]()

    def do_nothing(self):
        pass


class Marked(Base):
    @transactional(trust=True)
    def get(self):
        self.place()
        getattr(self, "do_nothing")()  # noqa: B009 # what a proof could follow

    def do_nothing(self):
        pass


class Raises(Base):
    def get(self):
        self.write(str(written.get()))

    @transactional
    def post(self):
        written.set(written.get() + 1)
        raise ValueError("its write is undone")

    def put(self):
        written.set(written.get() + 1)
        raise ValueError("its write stays")


class Given(Base):
    def get(self):
        self.place()
        if self.extra is not None:
            self.extra.append(1)
            self.write(f" {len(self.extra)}")


class GivenAnew(Given):
    pass


class Routes(Router):
    """Makes the arguments of a handler for each request."""

    def __init__(self, application):
        self.application = application

    def find_handler(self, request, **kwargs):
        return self.application.get_handler_delegate(
            request, GivenAnew, target_kwargs={"extra": rows}
        )


def make_application():
    return Application(
        [
            ("/proved", Proved),
            ("/awaiting", Awaiting),
            ("/awaiting-lost", AwaitingLost),
            ("/inheriting", Inheriting),
            ("/shares", Shares),
            ("/overriding", Overriding),
            ("/lost", Lost),
            ("/marked", Marked),
            ("/given", Given),
            ("/raises", Raises),
        ],
        actions=actions,
        pid=os.getpid(),
    )


def make_routed():
    application = make_application()
    application.add_handlers(".*", [("/anew", Routes(application))])
    return application


@pytest.fixture(scope="module")
def server(kind):
    with serving(kind, make_application, early=True, auto=True) as served:
        yield served


@pytest.mark.at_owner("nothing is proved", b"plain")
@pytest.mark.parametrize(
    ("verb", "path", "where"),
    [
        ("GET", "/proved", b"transaction"),
        ("GET", "/inheriting", b"transaction"),
        ("GET", "/shares", b"plain"),
        ("POST", "/shares", b"plain"),
        ("GET", "/overriding", b"plain"),
        ("GET", "/lost", b"plain"),
        ("POST", "/lost", b"plain"),
        ("GET", "/marked", b"transaction"),
        ("GET", "/given", b"transaction"),
    ],
)
def test_what_is_proved_is_a_transaction(server, verb, path, where):
    assert where == server.fetch(verb, path).body.split()[0]


def test_a_coroutine_that_is_proved_is_one_elsewhere(server):
    copied = server.loop.dispatcher.executor.forks
    where = b"transaction" if copied else b"plain"

    assert where == server.fetch("POST", "/proved").body
    assert where == server.fetch("POST", "/awaiting").body
    assert b"plain" == server.fetch("POST", "/awaiting-lost").body


def test_without_auto_nothing_is(kind):
    with serving(kind, make_application, auto=False) as server:
        assert b"plain" == server.get("/proved").body
        assert b"transaction" == server.get("/marked").body


def test_a_verb_is_proved_once_for_all_its_requests(kind, monkeypatch):
    class Often(Proved):
        pass

    asked = []

    def note(handler_class, verb):
        asked.append((handler_class, verb))
        return findings_in_reach(handler_class, verb)

    monkeypatch.setattr(marking, "findings_in_reach", note)

    with serving(kind, lambda: Application([("/often", Often)]), auto=True) as server:
        answers = [server.get("/often").body for _ in range(3)]

    assert [b"transaction"] * 3 == answers
    assert 1 == asked.count((Often, "GET"))


def test_writes_before_an_exception_stay_as_in_stock(server):
    before = int(server.get("/raises").body)

    with (
        expect_log("tornado.application", "^Uncaught exception", count=2),
        expect_log("tornado.access", "^500", count=2),
    ):
        assert 500 == server.fetch("PUT", "/raises").status
        assert 500 == server.fetch("POST", "/raises").status

    assert before + 1 == int(server.get("/raises").body)


def test_routes_that_are_added_are_proved_anew(kind):
    class Later(Given):  # not of another test's application, which may be there yet
        pass

    def application():
        return Application([("/later", Later)])

    shared: list[int] = []
    with serving(kind, application, auto=True) as server:
        assert b"transaction" == server.get("/later").body

        server.application.add_handlers(".*", [("/new", Later, {"extra": shared})])

        assert b"plain 1" == server.get("/new").body
        assert b"plain 2" == server.get("/new").body


@pytest.mark.at_owner("the program has a router of its own")
def test_arguments_that_a_router_makes_are_no_proof(kind):
    before = len(rows)

    with serving(kind, make_routed, auto=True) as server:
        answers = [server.get("/anew").body for _ in range(2)]

    assert [b"plain %d" % (before + n) for n in (1, 2)] == answers
