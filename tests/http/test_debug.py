"""Debug mode: tracebacks in answers, and templates that are read again when changed."""

from __future__ import annotations

import logging
import os

import pytest
from tornado import template
from tornado.template import DictLoader
from tornado.web import Application, HTTPError, RequestHandler

from tests.logs import expect_log
from tests.messages import Request
from tests.serving import pair_of, serving
from txloop import TDict, TList, transactional

PAGES = {
    "fine.html": "{% extends base.html %}{% block body %}{{ number }}{% end %}",
    "base.html": "first {% block body %}{% end %}",
    "failing.html": "{{ 1 / 0 }}",
    "wrong.html": "{% if %}",
}


class Raising(RequestHandler):
    """Raises in all the ways that show different frames."""

    def prepare(self):
        if self.request.path.endswith("/prepare"):
            raise HTTPError(403, "in prepare")

    def get(self, how):
        getattr(self, how)()

    def post(self, how):
        self.get(how)

    def plain(self):
        raise KeyError("here")

    def answered(self):
        raise HTTPError(200)

    def deep(self):
        self.deeper(3)

    def deeper(self, depth):
        if depth:
            self.deeper(depth - 1)
        raise ValueError(depth)

    def chained(self):
        try:
            self.refused()
        except TypeError as error:
            raise ValueError("because") from error

    def in_context(self):
        try:
            self.write("x")
            self.deep()
        except ValueError:
            self.refused()

    def refused(self):
        self.write(["no"])  # type: ignore[arg-type] # refused

    def own_cause(self):
        error = ValueError("itself")
        raise error from error

    def finished_twice(self):
        self.flush()
        self.finish()
        self.finish()

    def failing(self):
        self.render("failing.html")

    def wrong(self):
        self.render("wrong.html")

    def missing(self):
        self.render("missing.html")

    def argument(self):
        self.get_argument("no such")


@transactional
class RollingBack(Raising):
    pass


@transactional(on_error="commit")
class Committing(Raising):
    pass


@transactional(trust=True)
class Rendering(RequestHandler):
    def get(self):
        before = compiled[0]
        page = self.render_string("fine.html", number=self.get_argument("n")).decode()
        self.write(f"{page}, {os.getpid()} compiled {compiled[0] - before}")


HOW = [name for name, value in vars(Raising).items() if callable(value)]
HOW = sorted({*HOW} - {"get", "post", "deeper", "refused", "chained", "in_context"})

compiled = [0]


@pytest.fixture
def folder(tmp_path):
    for name, text in PAGES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


PLACES = [(path, how) for path in ("/rolling-back", "/committing") for how in HOW]
# What was answered before is undone, and that is another answer.
PLACES.remove(("/rolling-back", "finished_twice"))


@pytest.mark.parametrize(("path", "how"), PLACES)
def test_a_traceback_shows_what_it_shows_in_stock_tornado(path, how, kind, folder):
    def make_application():
        routes = [("/rolling-back/(.*)", RollingBack), ("/committing/(.*)", Committing)]
        return Application(
            routes, debug=True, autoreload=False, template_path=str(folder)
        )

    with pair_of(kind, make_application) as pair:
        requests = [
            Request(verb, f"{path}/{how}", body=b"" if verb == "POST" else None)
            for verb in ("GET", "POST")
        ]
        pair.same(lambda server: server.fetch_in_turn(requests), log_in_order=False)


# Here the stock loop is no help: its handlers write through what takes containers.
WRITING = ["refused", "chained", "in_context"]


@pytest.mark.parametrize("how", WRITING)
def test_an_answer_and_the_log_show_no_frame_of_ours(how, kind):
    def make_application():
        return Application([("/(.*)", RollingBack)], serve_traceback=True)

    with (
        expect_log("tornado", f"GET /{how}", count=2) as records,
        serving(kind, make_application) as server,
    ):
        page = server.get(f"/{how}").body.decode()

    trace = "".join(logging.Formatter().format(one) for one in records)
    for text in (page, trace):
        assert "refused" in text
        assert "_write" not in text
        assert "ending.py" not in text


shelf: TDict[str, TList[int]] = TDict(a=TList([1]))


@transactional
class Fetching(RequestHandler):
    def get(self, key, place):
        self.write(str(shelf[key][int(place)]))


@pytest.mark.parametrize("path", ["/b/0", "/a/7"])
def test_no_frame_of_a_container_is_shown(path, kind):
    # WHEN
    with (
        expect_log("tornado", f"GET {path}", count=2) as records,
        serving(
            kind,
            lambda: Application([("/(.*)/(.*)", Fetching)], serve_traceback=True),
        ) as server,
    ):
        page = server.get(path).body.decode()

    # THEN
    trace = "".join(logging.Formatter().format(one) for one in records)
    for text in (page, trace):
        assert "shelf[key]" in text
        assert "__getitem__" not in text


@pytest.fixture
def _counting(monkeypatch):
    make = template.Template.__init__

    def count(self, *arguments, **options):
        compiled[0] += 1
        make(self, *arguments, **options)

    monkeypatch.setattr(template.Template, "__init__", count)


def rendering(server, number):
    """Return the page, and how many templates were compiled for it."""
    page, _, rest = server.get(f"/?n={number}").body.decode().partition(", ")
    return page, int(rest.rpartition(" ")[2])


@pytest.mark.usefixtures("_counting")
def test_a_template_is_compiled_once_per_change_of_its_file(kind, folder):
    def make_application():
        return Application(
            [("/", Rendering)], debug=True, autoreload=False, template_path=str(folder)
        )

    with serving(kind, make_application, workers=1) as server:
        first = [rendering(server, number) for number in range(4)]
        (folder / "base.html").write_text("second {% block body %}{% end %}")
        second = [rendering(server, number) for number in range(3)]
        (folder / "base.html").unlink()
        with expect_log("tornado", "GET /", count=2):
            gone = server.get("/?n=0")
        (folder / "base.html").write_text("third {% block body %}{% end %}")
        third = [rendering(server, number) for number in range(2)]

    # A body that is rehearsed compiles in its first run, which is thrown away.
    once = 0 if kind == "rehearsal" else 2
    assert [("first 0", once), ("first 1", 0), ("first 2", 0), ("first 3", 0)] == first
    assert [("second 0", once), ("second 1", 0), ("second 2", 0)] == second
    assert 500 == gone.status
    assert [("third 0", once), ("third 1", 0)] == third


def test_a_loader_of_the_programs_own_is_reset_as_in_stock_tornado(kind, tmp_path):
    class Counting(DictLoader):
        resets = 0

        def reset(self):
            self.resets += 1
            super().reset()

    @transactional(trust=True)
    class Told(RequestHandler):
        def get(self):
            loader = self.application.settings["template_loader"]
            self.render("page", number=loader.resets)

    def make_application():
        loader = Counting({"page": "{{ number }}"})
        return Application(
            [("/", Told)],
            debug=True,
            autoreload=False,
            template_loader=loader,
            template_path=str(tmp_path),
        )

    with serving(kind, make_application, workers=1) as server:
        resets = [int(server.get("/").body) for _ in range(3)]

    assert resets == sorted(set(resets))
