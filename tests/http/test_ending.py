"""The end of an answer: after the commit where nothing can go wrong, else before it."""

from __future__ import annotations

import pytest
from tornado.template import DictLoader
from tornado.web import Application, Finish, HTTPError, RequestHandler

from tests.logs import expect_log
from tests.serving import pair_of, serving
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

    # What goes on after it has finished.

    def itself_with_json(self):
        self.finish({"a": 1})

    def itself_twice(self):
        self.finish("once")
        try:
            self.finish("twice")
        except RuntimeError as error:
            written.set(str(error))

    def written_after(self):
        self.write("before")
        self.finish()
        try:
            self.write("after")
        except RuntimeError as error:
            written.set(str(error))

    def changed_after(self):
        self.set_header("X-Own", "before")
        self.finish("body")
        self.set_header("X-Own", "after")
        self.add_header("X-More", "after")
        self.set_cookie("name", "after")
        self.set_status(500)
        self.clear()

    def flushed_after(self):
        self.finish("body")
        self.flush()

    def flushed_before(self):
        self.write("one, ")
        self.flush()
        self.finish("two")

    def told_after(self):
        self.finish("body")
        written.set(f"{self.get_status()} {self._finished} {self._headers_written}")

    def asked_after(self):
        future = self.finish("body")
        written.set(str(future.done()))

    def redirected(self):
        self.redirect("/written")

    def rendered(self):
        self.render("page.html", name="<name>")

    def error(self):
        raise HTTPError(403, "no")

    def broken(self):
        raise ValueError("broken")

    def error_page(self):
        self.send_error(404)

    def raised_with_body(self):
        self.set_status(402)
        raise Finish("pay")

    def effect_itself(self):
        on_commit(note, "effect")
        self.finish("effect")

    def cookie_itself(self):
        self.set_cookie("name", "value")
        self.finish("cookie")

    def no_content_itself(self):
        self.set_status(204)
        self.finish()

    def body_of_not_modified(self):
        self.set_status(304)
        self.write("body")

    def refused_itself(self):
        self.set_status(204)
        try:
            self.finish("body")
        except RuntimeError as error:
            written.set(str(error))
            self._write_buffer = []
            self.finish()

    def error_after(self):
        self.finish("body")
        raise ValueError("after the end")

    def is_told_to_finish(self):
        self.write(f"{bool(self._auto_finish)}")

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


class Committing(Ending):
    """What it has written stays, whatever it raises."""


def note(_):
    """Be an effect."""


def make_application(**settings):
    return Application(
        [
            (r"/ending/(\w+)", transactional(Ending)),
            (r"/other/(\w+)", transactional(Other)),
            (r"/committing/(\w+)", transactional(on_error="commit")(Committing)),
            ("/written", Written),
        ],
        template_loader=DictLoader({"page.html": "<p>{{ name }}</p>"}),
        **settings,
    )


class Written(RequestHandler):
    def get(self):
        self.write(written.get())


ORDINARY = (
    *("plain", "header", "cookie", "not_modified", "itself", "length", "effect"),
    *("itself_with_json", "itself_twice", "written_after", "changed_after"),
    *("flushed_after", "flushed_before", "told_after", "asked_after", "redirected"),
    *("rendered", "error", "error_page", "raised_with_body", "effect_itself"),
    *("cookie_itself", "no_content_itself", "refused_itself", "is_told_to_finish"),
)


@pytest.mark.parametrize("how", ORDINARY)
def test_what_is_answered_is_what_stock_tornado_answers(how, pair):
    pair.same(lambda server: server.get(f"/ending/{how}"))
    pair.same(lambda server: server.get("/written"))


@pytest.mark.parametrize("how", ["itself", "rendered"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_what_the_client_has_is_not_sent_again(how, method, pair):
    tag = pair.stock.get(f"/ending/{how}").header("Etag")
    headers = {"If-None-Match": tag}
    pair.same(lambda server: server.get(f"/ending/{how}", headers=headers))


def test_an_error_after_the_end_changes_no_answer(kind):
    with (
        serving(kind, make_application) as server,
        expect_log("tornado", "GET /committing/error_after", count=None),
    ):
        answer = server.get("/committing/error_after")

        assert (200, b"body") == (answer.status, answer.body)
        assert b"error_after" == server.get("/written").body


def test_an_error_after_the_end_undoes_the_writes(kind):
    """And what was undone is not answered as done."""
    with serving(kind, make_application) as server:
        server.get("/ending/plain")

        with expect_log("tornado", "GET /ending/error_after", count=None):
            assert 500 == server.get("/ending/error_after").status

        assert b"plain" == server.get("/written").body


@pytest.mark.parametrize(
    "how", ["body_of_no_content", "body_of_not_modified", "header_in_two_lines"]
)
def test_a_refused_end_undoes_the_writes(how, kind):
    with serving(kind, make_application) as server:
        server.get("/ending/plain")

        with expect_log("tornado", f"GET /ending/{how}", count=None):
            server.exchange(
                f"GET /ending/{how} HTTP/1.1\r\nHost: a\r\nConnection: close"
                "\r\n\r\n".encode()
            )

        assert b"plain" == server.get("/written").body


@pytest.mark.parametrize("mark", ["ending", "committing"])
@pytest.mark.parametrize("how", ["body_of_no_content", "broken"])
def test_a_traceback_that_a_client_sees_is_that_of_stock_tornado(how, mark, kind):
    with pair_of(kind, lambda: make_application(serve_traceback=True)) as pair:
        pair.same(lambda server: server.get(f"/{mark}/{how}"))


def test_an_end_of_its_own_is_a_part_of_the_transaction(kind):
    with serving(kind, make_application) as server:
        assert 200 == server.get("/other/plain").status

        assert b"plain, then finish" == server.get("/written").body


def test_which_classes_end_as_stock_tornado_does():
    assert ends_as_stock(Ending)
    assert not ends_as_stock(Other)


def test_the_page_of_an_error_is_recorded(monkeypatch):
    """In debug mode the story of its transaction is added to that."""
    found = []

    def flush(self, include_footers=False):
        found.append(current() is not None)
        return stock(self, include_footers)

    stock = RequestHandler.flush
    monkeypatch.setattr(RequestHandler, "flush", flush)
    with (
        serving("serial", make_application) as server,
        expect_log("tornado", "GET /ending/broken", count=None),
    ):
        assert 500 == server.get("/ending/broken").status

    assert [True] == found


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
