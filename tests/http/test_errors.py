"""Errors of handlers in a transaction: the answer, the log, and what is undone."""

from __future__ import annotations

import pytest
from tornado.web import (
    Application,
    Finish,
    HTTPError,
    MissingArgumentError,
    RequestHandler,
)

from tests.logs import expect_log
from tests.messages import Request
from tests.serving import logged, pair_of, serving
from txloop import TVar, on_commit, transactional

written = TVar("")
effects: list[str] = []


def note(effect):
    """Be an effect: it runs on the loop thread, at commit."""
    effects.append(effect)


class Raising(RequestHandler):
    """Writes to shared state, asks for an effect, and then fails as it is told."""

    def get(self, how):
        written.set(how)
        on_commit(note, how)
        getattr(self, how)()

    def exception(self):
        raise ZeroDivisionError("an exception")

    def http_error(self):
        raise HTTPError(418, "for the log: %s", "tea")

    def http_error_with_reason(self):
        raise HTTPError(499, reason="Own reason")

    def http_error_unknown(self):
        raise HTTPError(599)

    def http_error_without_content(self):
        raise HTTPError(304)

    def missing_argument(self):
        self.get_argument("absent")

    def send_error_itself(self):
        self.set_header("X-Cleared", "1")
        self.write("not sent")
        self.send_error(403, reason="Because")

    def finish_error(self):
        self.write("as it is")
        raise Finish

    def finish_error_with_body(self):
        self.set_status(202)
        raise Finish({"body": 1})

    def after_flush(self):
        self.write("early")
        self.flush()
        raise ZeroDivisionError("after flush()")

    def after_finish(self):
        self.finish("complete")
        raise ZeroDivisionError("after finish()")

    def finished_twice(self):
        self.finish("complete")
        self.finish("again")

    def header_set_by_force(self):
        self._headers["X-Bad"] = "one\r\ntwo"

    def nothing(self):
        self.finish("fine")


@transactional
class RollingBack(Raising):
    pass


@transactional(on_error="commit")
class Committing(Raising):
    pass


@transactional
class OwnPage(RequestHandler):
    def get(self):
        raise HTTPError(404, reason="Lost")

    def post(self):
        raise ValueError("seen by write_error")

    def put(self):
        raise MissingArgumentError("name")

    def write_error(self, status_code, **kwargs):
        error = kwargs["exc_info"][1]
        self.finish({"status": status_code, "error": str(error), "why": self._reason})


@transactional
class BadPage(RequestHandler):
    def get(self):
        raise ValueError("first")

    def write_error(self, status_code, **kwargs):
        raise ValueError("second")


@transactional
class OwnLog(RequestHandler):
    def get(self):
        raise ValueError("not for the log")

    def post(self):
        raise HTTPError(400, "logged in its own way")

    def log_exception(self, kind, value, trace):
        if isinstance(value, HTTPError):
            super().log_exception(kind, value, trace)


@transactional
class OwnHandling(RequestHandler):
    def get(self):
        raise ValueError("handled in its own way")

    def _handle_request_exception(self, error):
        self.finish(f"{error}")


@transactional
class Counting(RequestHandler):
    """Keeps count of errors."""

    def get(self):
        written.set("undone")
        raise ValueError("counted")

    def write_error(self, status_code, **kwargs):
        written.set(f"{written.get()}, counted")
        self.finish("counted")


@transactional
class BadPrepare(RequestHandler):
    def prepare(self):
        written.set("prepare")
        raise ZeroDivisionError("in prepare()")

    def get(self):
        raise AssertionError("prepare has failed")


@transactional
class BadStart(RequestHandler):
    def initialize(self):
        raise ZeroDivisionError("in initialize()")

    def get(self):
        raise AssertionError("there is no handler")


@transactional
class BadDefaults(RequestHandler):
    def set_default_headers(self):
        raise ZeroDivisionError("in set_default_headers()")

    def get(self):
        raise AssertionError("there is no handler")


def make_application(**settings):
    return Application(
        [
            ("/rolling-back/(.*)", RollingBack),
            ("/committing/(.*)", Committing),
            ("/own-page", OwnPage),
            ("/bad-page", BadPage),
            ("/own-log", OwnLog),
            ("/own-handling", OwnHandling),
            ("/counting", Counting),
            ("/bad-prepare", BadPrepare),
            ("/bad-start", BadStart),
            ("/bad-defaults", BadDefaults),
        ],
        **settings,
    )


@pytest.fixture(autouse=True)
def _clean():
    written.set("before")
    effects.clear()


CASES = {
    "exception": (500, Request("GET", "/rolling-back/exception")),
    "HTTPError": (418, Request("GET", "/rolling-back/http_error")),
    "reason": (499, Request("GET", "/rolling-back/http_error_with_reason")),
    "unknown status": (599, Request("GET", "/rolling-back/http_error_unknown")),
    "304": (304, Request("GET", "/rolling-back/http_error_without_content")),
    "missing argument": (400, Request("GET", "/rolling-back/missing_argument")),
    "send_error": (403, Request("GET", "/rolling-back/send_error_itself")),
    "Finish": (200, Request("GET", "/rolling-back/finish_error")),
    "Finish, body": (202, Request("GET", "/rolling-back/finish_error_with_body")),
    "after flush": (200, Request("GET", "/committing/after_flush")),
    "write_error": (404, Request("GET", "/own-page")),
    "write_error, exception": (500, Request("POST", "/own-page", body=b"")),
    "write_error, argument": (400, Request("PUT", "/own-page", body=b"")),
    "write_error, verb": (405, Request("PATCH", "/own-page", body=b"")),
    "write_error fails": (500, Request("GET", "/bad-page")),
    "log_exception": (500, Request("GET", "/own-log")),
    "log_exception, HTTPError": (400, Request("POST", "/own-log", body=b"")),
    "_handle_request_exception": (200, Request("GET", "/own-handling")),
    "prepare fails": (500, Request("GET", "/bad-prepare")),
}


@pytest.mark.at_owner("there is no such verb", "write_error, verb")
@pytest.mark.parametrize("name", CASES)
def test_an_answer_is_that_of_stock_tornado(name, pair):
    status, request = CASES[name]

    [answer] = pair.same(lambda server: server.fetch_together([request]))

    assert status == answer.status
    assert pair.server.sent_away()


@pytest.mark.parametrize("path", ["/bad-start", "/bad-defaults"])
def test_a_handler_that_cannot_be_made_ends_the_connection(path, pair):
    request = Request("GET", path).encoded()

    received = pair.same(lambda server: server.exchange(request))

    assert b"" == received


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ("exception", 500),
        ("http_error", 418),
        ("missing_argument", 400),
        ("after_flush", 500),
        ("after_finish", 500),
        ("finished_twice", 500),
        ("header_set_by_force", 500),
    ],
)
def test_an_error_undoes_all_and_is_answered_as_one(how, status, pair):
    """Even where the handler had sent an answer: nothing of it is true any more."""
    with expect_log("tornado", f"GET /rolling-back/{how}", count=None):
        answer = pair.server.get(f"/rolling-back/{how}")

    assert status == answer.status
    assert ("before", []) == (written.get(), effects)


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ("send_error_itself", 403),
        ("finish_error", 200),
        ("finish_error_with_body", 202),
        ("nothing", 200),
    ],
)
def test_what_is_no_error_commits(how, status, pair):
    answer, _ = logged(pair.server, lambda server: server.get(f"/rolling-back/{how}"))

    assert status == answer.status
    assert (how, [how]) == (written.get(), effects)


@pytest.mark.parametrize(
    "how", ["exception", "http_error", "after_flush", "after_finish", "finished_twice"]
)
def test_on_error_commit_keeps_all_as_stock_tornado_does(how, pair):
    def talk(server):
        written.set("before")
        effects.clear()
        answer = server.get(f"/committing/{how}")
        return answer, written.get(), list(effects)

    # What is sent before the error is logged at the commit, so after the error.
    _, *kept = pair.same(talk, log_in_order=False)

    assert [how, [how]] == kept


def test_what_write_error_writes_is_kept(pair):
    with expect_log("tornado", "GET /counting", count=2):
        answer = pair.server.get("/counting")

    assert (500, b"counted") == (answer.status, answer.body)
    assert "before, counted" == written.get()


def test_an_error_in_prepare_undoes_all(pair):
    with expect_log("tornado", "GET /bad-prepare", count=2):
        pair.server.get("/bad-prepare")

    assert "before" == written.get()


def test_serve_traceback_shows_the_line_of_the_handler(kind):
    with (
        expect_log("tornado", "GET /rolling-back/exception", count=2),
        serving(kind, lambda: make_application(serve_traceback=True)) as server,
    ):
        answer = server.get("/rolling-back/exception")

    assert 500 == answer.status
    assert ("Content-Type", "text/plain") in answer.headers
    assert 'raise ZeroDivisionError("an exception")' in answer.body.decode()


def test_the_default_handler_class_answers_404(kind):
    settings = {"default_handler_class": OwnPage}

    with pair_of(kind, lambda: make_application(**settings)) as pair:
        answer = pair.same(lambda server: server.get("/nowhere"))

    assert (404, "Lost") == (answer.status, answer.reason)
