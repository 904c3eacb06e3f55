"""Which handlers and verbs are transactions: the mark, in all its places."""

from __future__ import annotations

import os

import pytest
from tornado.web import (
    Application,
    ErrorHandler,
    RedirectHandler,
    RequestHandler,
    StaticFileHandler,
    authenticated,
)
from tornado.websocket import WebSocketHandler

from tests.serving import FORKED, serving
from txloop import TVar, transactional
from txloop.engine.marks import Mark
from txloop.stm.attempt import current
from txloop.web import eligible
from txloop.web.eligible import mark_matching, plan_for, why_not

written = TVar(0)


def place(handler):
    """Write whether a transaction runs, and whether here."""
    where = "here" if os.getpid() == handler.application.settings["pid"] else "away"
    handler.write(f"{'transaction' if current() else 'plain'} {where}")


@transactional
class Marked(RequestHandler):
    def get(self):
        place(self)

    post = get

    async def put(self):
        place(self)


class Generating(RequestHandler):
    def put(self):
        yield


class Inheriting(Marked):
    def get(self):
        place(self)


class OneVerb(RequestHandler):
    @transactional
    def get(self):
        place(self)

    def post(self):
        place(self)


class InheritingVerb(OneVerb):
    pass


class Overriding(OneVerb):
    def get(self):
        place(self)


class Unmarked(RequestHandler):
    def get(self):
        place(self)


class MarkOutside(RequestHandler):
    def get_current_user(self):
        return "me"

    @transactional
    @authenticated
    def get(self):
        place(self)

    @authenticated
    @transactional
    def post(self):
        place(self)


class Keeping(RequestHandler):
    @transactional(on_error="commit")
    def get(self):
        written.set(written.get() + 1)
        self.send_error(500)

    @transactional
    def post(self):
        pass


class Intercepted(Marked):
    """What decides about requests may be put around all that a handler does."""

    def _execute(self, transforms, *args, **kwargs):
        if self.request.headers.get("Authorization"):
            return super()._execute(transforms, *args, **kwargs)
        self._transforms = transforms
        self.set_status(203)
        return self.finish("not you")


class Refusing(Marked):
    """An object, too, may have an `_execute` of its own."""

    def initialize(self):
        if not self.request.headers.get("Authorization"):
            vars(self)["_execute"] = self.refuse

    def refuse(self, transforms, *args, **kwargs):
        self._transforms = transforms
        written.set(written.get() + 1)
        return self.finish("not you")


@transactional
class Socket(WebSocketHandler):
    def on_message(self, message):
        pass


TRANSACTIONS = {
    ("GET", "/marked"): True,
    ("POST", "/marked"): True,
    ("GET", "/inheriting"): True,
    ("POST", "/inheriting"): True,
    ("GET", "/one-verb"): True,
    ("POST", "/one-verb"): False,
    ("GET", "/inheriting-verb"): True,
    ("POST", "/inheriting-verb"): False,
    ("GET", "/overriding"): False,
    ("GET", "/unmarked"): False,
    ("GET", "/mark-outside"): True,
    ("POST", "/mark-outside"): True,
}


def make_application():
    return Application(
        [
            ("/marked", Marked),
            ("/inheriting", Inheriting),
            ("/one-verb", OneVerb),
            ("/inheriting-verb", InheritingVerb),
            ("/overriding", Overriding),
            ("/unmarked", Unmarked),
            ("/intercepted", Intercepted),
            ("/refusing", Refusing),
            ("/mark-outside", MarkOutside),
        ],
        pid=os.getpid(),
    )


@pytest.mark.at_owner("it is not marked", False)
@pytest.mark.parametrize(
    ("verb", "path", "marked"),
    [(*case, marked) for case, marked in TRANSACTIONS.items()],
)
def test_where_a_verb_runs(verb, path, marked, pair):
    expected = b"plain here"
    if marked:
        away = pair.server.kind in FORKED
        expected = b"transaction away" if away else b"transaction here"

    assert expected == pair.server.fetch(verb, path).body
    assert b"plain here" == pair.stock.fetch(verb, path).body


def test_a_coroutine_is_one_elsewhere_only(pair):
    found = pair.server.fetch("PUT", "/marked").body

    copied = pair.server.kind in FORKED
    assert (b"transaction away" if copied else b"plain here") == found


@pytest.mark.at_owner("its _execute() is no coroutine")
@pytest.mark.parametrize("headers", [{}, {"Authorization": "me"}])
def test_what_is_around_a_handler_may_answer_at_once(headers, pair):
    stock = pair.stock.fetch("GET", "/intercepted", headers=headers)

    found = pair.server.fetch("GET", "/intercepted", headers=headers)

    assert stock.body == found.body


def test_an_object_may_answer_before_its_verb_runs(pair):
    stock = pair.stock.get("/refusing")

    found = [pair.server.get("/refusing").body for _ in range(2)]

    assert [stock.body] * 2 == found


@pytest.fixture
def _own_matchers(monkeypatch):
    monkeypatch.setattr(eligible, "_matchers", [])
    yield
    eligible._plans.clear()


@pytest.mark.usefixtures("_own_matchers")
def test_handlers_marked_by_a_pattern(kind):
    def matcher(handler_class):
        return Mark() if handler_class.__name__.startswith("Unm") else None

    mark_matching(matcher)
    with serving(kind, make_application) as server:
        unmarked = server.get("/unmarked").body
        other = server.get("/overriding").body

    assert unmarked.startswith(b"transaction")
    assert b"plain here" == other


@pytest.mark.usefixtures("_own_matchers")
def test_a_pattern_counts_for_handlers_that_were_asked_before():
    assert plan_for(Unmarked, "GET") is None

    mark_matching(lambda _: Mark())

    assert plan_for(Unmarked, "GET") is not None


@pytest.mark.usefixtures("_own_matchers")
def test_the_programs_own_mark_goes_before_a_pattern():
    mark_matching(lambda _: Mark(on_error="rollback"))

    plan = plan_for(Keeping, "GET")

    assert plan is not None
    assert "commit" == plan.mark.on_error


@pytest.mark.usefixtures("_own_matchers")
def test_tornados_own_handlers_stay_as_they_are():
    mark_matching(lambda _: Mark())

    for handler_class in (StaticFileHandler, RedirectHandler, ErrorHandler):
        assert plan_for(handler_class, "GET") is None


@pytest.mark.parametrize(
    ("handler_class", "method", "reason"),
    [
        (Marked, "GET", None),
        (Marked, "PUT", None),
        (Generating, "PUT", "put() is a generator"),
        (Marked, "DELETE", "there is no such verb"),
        (Socket, "GET", "it is a WebSocket"),
        (
            Intercepted,
            "GET",
            "its _execute() is not the coroutine that Tornado's is",
        ),
        (StaticFileHandler, "GET", "it is Tornado's own"),
    ],
)
def test_why_a_verb_is_no_transaction(handler_class, method, reason):
    assert reason == why_not(handler_class, method)


@pytest.mark.usefixtures("_own_matchers")
def test_to_plan_for_a_verb_calls_no_descriptor_of_the_program():
    asked = []

    class Counting:
        def __get__(self, *asked_for):
            asked.append(asked_for)
            return self

    class Described(RequestHandler):
        get = Counting()

    mark_matching(lambda _: Mark())

    assert plan_for(Described, "GET") is not None
    assert [] == asked


def test_a_method_that_is_no_verb_is_no_transaction():
    assert plan_for(Marked, "PREPARE") is None
    assert plan_for(Marked, "BREW") is None


def test_a_plan_names_what_it_is_for():
    plan = plan_for(InheritingVerb, "GET")

    assert plan is not None
    assert ("GET InheritingVerb", False) == (plan.label, plan.watched)
