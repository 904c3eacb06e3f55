"""The end of an answer: after the commit where nothing can go wrong, else before it."""

from __future__ import annotations

import pytest
from tornado.web import Application, RequestHandler

from tests.logs import expect_log
from tests.serving import serving
from txloop import TVar, on_commit, transactional
from txloop.stm.attempt import current
from txloop.web.ending import ends_as_stock

written = TVar("")


class Ending(RequestHandler):
    """Writes to shared state, and answers as it is told."""

    def get(self, how):
        written.set(how)
        getattr(self, how)()

    def plain(self):
        self.write("plain")

    def header(self):
        self.set_header("X-Own", "1")
        self.write({"a": 1})

    def cookie(self):
        self.set_cookie("name", "value")
        self.write("cookie")

    def not_modified(self):
        self.set_status(304)

    def itself(self):
        self.finish("itself")

    def length(self):
        self.set_header("Content-Length", "6")
        self.write("length")

    def effect(self):
        on_commit(note, "effect")
        self.write("effect")

    # What is refused at the very end: the writes are undone, as of any error.

    def body_of_no_content(self):
        self.set_status(204)
        self.write("a body")

    def header_in_two_lines(self):
        self._headers._as_list["X-Two"] = ["one\r\ntwo"]
        self._headers._combined_cache["X-Two"] = "one\r\ntwo"
        self.write("header")


class Other(Ending):
    """Has an end of its own, which belongs to the transaction."""

    def finish(self, chunk=None):
        if chunk is None:
            written.set(f"{written.get()}, then finish")
        return super().finish(chunk)


def note(_):
    """Be an effect."""


def make_application():
    return Application(
        [
            (r"/ending/(\w+)", transactional(Ending)),
            (r"/other/(\w+)", transactional(Other)),
            ("/written", Written),
        ]
    )


class Written(RequestHandler):
    def get(self):
        self.write(written.get())


ORDINARY = (
    *("plain", "header", "cookie", "not_modified", "itself", "length", "effect"),
)


@pytest.mark.parametrize("how", ORDINARY)
def test_what_is_answered_is_what_stock_tornado_answers(how, pair):
    pair.same(lambda server: server.get(f"/ending/{how}"))
    pair.same(lambda server: server.get("/written"))


@pytest.mark.parametrize("how", ["body_of_no_content", "header_in_two_lines"])
def test_a_refused_end_undoes_the_writes(how, kind):
    with serving(kind, make_application) as server:
        server.get("/ending/plain")

        with expect_log("tornado", f"GET /ending/{how}", count=None):
            server.exchange(
                f"GET /ending/{how} HTTP/1.1\r\nHost: a\r\nConnection: close"
                "\r\n\r\n".encode()
            )

        assert b"plain" == server.get("/written").body


def test_an_end_of_its_own_is_a_part_of_the_transaction(kind):
    with serving(kind, make_application) as server:
        assert 200 == server.get("/other/plain").status

        assert b"plain, then finish" == server.get("/written").body


def test_which_classes_end_as_stock_tornado_does():
    assert ends_as_stock(Ending)
    assert not ends_as_stock(Other)


def test_no_attempt_runs_when_the_answer_is_finished(monkeypatch):
    """What finishes it has committed: whoever sees the answer finds it there."""
    found = []

    def flush(self, include_footers=False):
        found.append((current(), written.get()))
        return stock(self, include_footers)

    stock = RequestHandler.flush
    monkeypatch.setattr(RequestHandler, "flush", flush)
    with serving("serial", make_application) as server:
        server.get("/ending/plain")

    assert [(None, "plain")] == found
