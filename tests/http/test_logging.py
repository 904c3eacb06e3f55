"""Log records of a request: filters and handlers see what they see in stock Tornado."""

from __future__ import annotations

import contextlib
import contextvars
import logging
import threading

import pytest
from tornado.web import Application, RequestHandler

from tests.logs import expect_log
from tests.serving import FORKED, pair_of, serving
from txloop import on_commit, transactional

log = logging.getLogger("tests.http.logging")

request_id = contextvars.ContextVar("request_id", default="none")


class Scope:
    """Holds a variable that no module's global names."""

    nameless = contextvars.ContextVar("nameless", default="none")


class Unpicklable:
    def __init__(self):
        self.number = 0
        self.lock = threading.Lock()

    def __str__(self):
        return f"number {self.number}"


class OwnError(Exception):
    """Does not pickle: it is not made of its arguments."""

    def __init__(self, reason, code):
        super().__init__(reason)
        self.code = code


noted: list[object] = []


def note_variables(*what):
    noted.append((*what, request_id.get(), Scope.nameless.get()))


@transactional(trust=True)
class Logging(RequestHandler):
    def prepare(self):
        request_id.set(self.get_query_argument("id", "none"))
        if self.get_query_argument("nameless", ""):
            Scope.nameless.set("set")

    def get(self, how):
        getattr(self, how)()
        self.write(how)

    def changed(self):
        items: list[int] = []
        log.info("list %s", items)
        items.append(1)
        told = {"a": 1}
        log.info("dict %(a)s", told)
        told["a"] = 2
        thing = Unpicklable()
        log.info("object %s", thing)
        log.info(thing)
        thing.number = 5
        extra = {"more": [1]}
        log.info("extra", extra=extra)
        extra["more"].append(2)

    def plain(self):
        log.info("%s of %d, %.1f", "one", 2, 0.5)
        log.info("no arguments: 100%")
        log.info("brackets %r", ("a", None))

    def raising(self):
        try:
            raise KeyError("k")
        except KeyError:
            log.exception("caught", extra={"code": 7})
            log.info("again", exc_info=True)
        log.info("no exception", exc_info=True)
        log.info("of my own", exc_info=OwnError("why", 5))

    def stack(self):
        log.warning("with a stack", stack_info=True)

    def variables(self):
        log.info("before")
        request_id.set("changed")
        log.info("after")
        on_commit(note_variables, "effect")
        request_id.set("last")

    def wrong(self):
        log.info("%d", "no number")


class Listener(logging.Handler):
    """Notes what it sees of each record, and counts how often it filters."""

    def __init__(self):
        super().__init__()
        self.seen = []
        self.filtered = 0
        self.threads = set()

    def filter(self, record):
        self.filtered += 1
        record.handler_id = request_id.get()
        return True

    def emit(self, record):
        kind, error, _ = record.exc_info or (None, None, None)
        self.threads.add(threading.get_ident())
        self.seen.append(
            (
                record.getMessage(),
                record.logger_id,
                record.handler_id,
                record.funcName,
                record.exc_info is None,
                kind,
                error and (error.args, vars(error)),
                (record.stack_info or "").splitlines()[-2:],
                repr(getattr(record, "more", None)),
                getattr(record, "code", None),
                hasattr(record, "_txloop_variables"),
            )
        )

    def filter_of_logger(self, record):
        record.logger_id = request_id.get()
        return True


@pytest.fixture
def listener():
    found = Listener()
    log.addHandler(found)
    log.addFilter(found.filter_of_logger)
    log.setLevel(logging.INFO)
    yield found
    log.setLevel(logging.NOTSET)
    log.removeFilter(found.filter_of_logger)
    log.removeHandler(found)


def make_application():
    return Application([("/(.*)", Logging)])


HOW = ["changed", "plain", "raising", "stack", "variables"]


@pytest.mark.parametrize("how", HOW)
def test_a_handler_sees_what_it_sees_in_stock_tornado(how, kind, listener):
    def talk(server):
        listener.seen.clear()
        for number in range(3):
            server.get(f"/{how}?id={number}")
        return list(listener.seen)

    with pair_of(kind, make_application) as pair:
        pair.same(talk)

        assert pair.server.sent_away()
    assert {threading.get_ident()} == listener.threads


def test_a_filter_is_asked_once_for_each_record(kind, listener):
    with serving(kind, make_application) as server:
        server.get("/plain")

    assert 3 == listener.filtered == len(listener.seen)


def test_the_text_of_an_exception_leads_to_its_line(kind, listener):
    texts = []
    listener.emit = lambda record: texts.append(logging.Formatter().format(record))
    with serving(kind, make_application) as server:
        server.get("/raising")

    assert "in raising\n" in texts[0]
    assert 'raise KeyError("k")' in texts[0]
    assert texts[0].endswith("KeyError: 'k'")


def test_an_effect_finds_the_variables_as_the_transaction_left_them(kind):
    noted.clear()
    with serving(kind, make_application) as server:
        server.get("/variables?id=1")

        assert server.sent_away()
    assert [("effect", "last", "none")] == noted


def test_variables_without_a_name_are_found_on_the_loop_thread(kind, listener):
    noted.clear()
    away = kind in FORKED
    told = expect_log("txloop", "'nameless' is no module global")
    with serving(kind, make_application) as server:
        with told if away else contextlib.nullcontext():
            server.get("/variables?nameless=1&id=2")
        there = [one[:3] for one in listener.seen]

    assert [("effect", "last", "set")] == noted
    assert [("before", "2", "2"), ("after", "changed", "changed")] == there


def test_what_does_not_fit_fails_where_it_is_handled(kind, monkeypatch):
    class Failing(logging.Handler):
        def emit(self, record):
            try:
                record.getMessage()
            except TypeError:
                failures.append(record.msg)

    failures: list[str] = []
    handler = Failing()
    log.addHandler(handler)
    monkeypatch.setattr(log, "level", logging.INFO)
    monkeypatch.setattr(log, "propagate", False)
    try:
        with serving(kind, make_application) as server:
            assert 200 == server.get("/wrong").status
    finally:
        log.removeHandler(handler)

    assert ["%d"] == failures
