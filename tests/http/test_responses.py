"""What a handler in a transaction answers: headers, cookies, templates, framing."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from tornado import locale
from tornado.template import DictLoader
from tornado.web import Application, RequestHandler, UIModule, addslash

from tests.messages import Request, without_date
from tests.serving import logged, pair_of
from txloop import TVar, transactional

if TYPE_CHECKING:  # for a handler that says "Server" might use it
    from tests.serving import Server


@transactional
class Written(RequestHandler):
    def get(self):
        self.write({"a": [1, {"b": None}], "c": "</ä>"})


@transactional
class Pieces(RequestHandler):
    def get(self):
        for piece in ("one ", b"two ", "drei ä"):
            self.write(piece)


@transactional
class Headers(RequestHandler):
    def set_default_headers(self):
        self.set_header("Server", "ours")
        self.set_header("X-Default", "1")

    def get(self):
        self.set_status(299, "Fine")
        self.set_header("Content-Type", "text/plain")
        self.set_header("X-Number", 5)
        self.add_header("X-Many", "1")
        self.add_header("X-Many", "2")
        self.clear_header("X-Default")
        self.finish("done")

    def post(self):
        self.set_header("X-Gone", "1")
        self.write("gone")
        self.clear()
        self.write("left")


@transactional
class Cookies(RequestHandler):
    def get(self):
        self.set_cookie("plain", "a-b", path="/x", httponly=True, samesite="Lax")
        self.set_cookie("expiring", "1", expires=1e9)
        self.clear_cookie("old")
        self.clear_all_cookies()
        for name in ("old", "other"):  # a year before this second
            assert self._new_cookie[name]["expires"]
            self._new_cookie[name]["expires"] = "before"
        self.write(self.get_cookie("old", "none"))


class Entry(UIModule):
    def render(self, entry):
        return f"<li>{entry}</li>"

    def embedded_css(self):
        return "li { color: red }"

    def javascript_files(self):
        return ["/entry.js"]


TEMPLATES = {
    "base.html": "<html><head></head><body>{% block body %}{% end %}</body></html>",
    "page.html": '{% extends "base.html" %}{% block body %}'
    "{{ title }} {{ shout(title) }} {{ handler.request.path }}"
    "{% for one in entries %}{% module Entry(one) %}{% end %}{{ xsrf_form_html() }}"
    "{{ static_url('x.js', include_version=False) }}{% end %}",
    "bad.html": "{{ missing }}",
}


@transactional
class Rendered(RequestHandler):
    def get_template_namespace(self):
        return {**super().get_template_namespace(), "shout": str.upper}

    def xsrf_form_html(self):
        return "<!-- -->"

    def get(self):
        self.render("page.html", title="a < b", entries=["x", "y"])

    def post(self):
        self.render("bad.html")


@transactional
class OwnLoader(RequestHandler):
    def create_template_loader(self, template_path):
        return DictLoader({"here.html": "{% raw text %}"})

    def get_template_path(self):
        return "in memory"

    def get(self):
        self.write(self.render_string("here.html", text="<b>"))


@transactional
class Tagged(RequestHandler):
    def get(self):
        self.write("always the same")


@transactional
class OwnTag(RequestHandler):
    def compute_etag(self):
        return '"mine"'

    def get(self):
        self.set_etag_header()
        if self.check_etag_header():
            self.set_status(304)
            return
        self.write("new")


@transactional
class Redirecting(RequestHandler):
    def get(self):
        self.redirect("/ä?x=1", permanent=self.get_argument("for", "") == "ever")

    def post(self):
        self.redirect("relative", status=307)


@transactional
class Slashed(RequestHandler):
    @addslash
    def get(self):
        self.write("slash")


@transactional
class Flushed(RequestHandler):
    def get(self):
        self.set_header("X-Early", "1")
        self.write("first ")
        self.flush()
        self.set_header("X-Late", "1")
        self.write("second ")
        self.flush()
        self.finish("third")

    def post(self):
        self.set_header("Content-Length", "10")
        self.write("12345")
        self.flush()
        self.write("67890")


@transactional
class NoContent(RequestHandler):
    def get(self):
        self.set_status(204)

    def post(self):
        self.set_status(204)
        self.write("forbidden")

    def put(self):
        self.set_status(304)


asked = TVar(0)


class Lengths(RequestHandler):
    def get(self):
        asked.value += 1
        self.set_header("Content-Length", self.get_argument("length"))
        self.write("12345")
        if self.get_argument("flush", ""):
            self.flush()
            self.write("67890")


@transactional(on_error="commit")
class Committing(Lengths):
    pass


@transactional
class RollingBack(Lengths):
    pass


@transactional
class BadHeader(RequestHandler):
    def get(self):
        self.set_header("X-Bad", "one\r\nX-Injected: two")

    def post(self):
        self.set_header("X-Bad", "a\x00b")


@transactional
class Headed(RequestHandler):
    def get(self):
        self.write("content")

    def head(self):
        self.set_header("Content-Length", "7")


@transactional
class Translated(RequestHandler):
    def get_user_locale(self):
        code = self.get_argument("user", "")
        return locale.get(code) if code else None

    def get(self):
        self.write(f"{self.locale.code} {self.locale.translate('yes')}")


@transactional
class Listed(RequestHandler):
    def get(self):
        self.write(["no"])  # type: ignore[arg-type] # refused


@transactional
class Large(RequestHandler):
    def get(self):
        self.write("large " * 300_000)


def make_application(**settings):
    return Application(
        [
            ("/written", Written),
            ("/pieces", Pieces),
            ("/headers", Headers),
            ("/cookies", Cookies),
            ("/rendered", Rendered),
            ("/own-loader", OwnLoader),
            ("/tagged", Tagged),
            ("/own-tag", OwnTag),
            ("/redirecting", Redirecting),
            ("/slashed/?", Slashed),
            ("/flushed", Flushed),
            ("/no-content", NoContent),
            ("/lengths", RollingBack),
            ("/committing", Committing),
            ("/bad-header", BadHeader),
            ("/headed", Headed),
            ("/translated", Translated),
            ("/listed", Listed),
            ("/large", Large),
        ],
        template_loader=DictLoader(TEMPLATES),
        ui_modules={"Entry": Entry},
        static_path=".",
        **settings,
    )


CASES = {
    "dict": (200, Request("GET", "/written")),
    "pieces": (200, Request("GET", "/pieces")),
    "status and headers": (299, Request("GET", "/headers")),
    "cleared": (200, Request("POST", "/headers", body=b"")),
    "cookies": (200, Request("GET", "/cookies", {"Cookie": "old=1; other=2"})),
    "template": (200, Request("GET", "/rendered")),
    "template that fails": (500, Request("POST", "/rendered", body=b"")),
    "own loader": (200, Request("GET", "/own-loader")),
    "etag": (200, Request("GET", "/tagged", {"If-None-Match": '"other"'})),
    "own etag": (200, Request("GET", "/own-tag")),
    "own etag matches": (304, Request("GET", "/own-tag", {"If-None-Match": '"mine"'})),
    "redirect": (302, Request("GET", "/redirecting")),
    "permanent redirect": (301, Request("GET", "/redirecting?for=ever")),
    "redirect with status": (307, Request("POST", "/redirecting", body=b"")),
    "decorated": (301, Request("GET", "/slashed?a=1")),
    "flushed": (200, Request("GET", "/flushed")),
    "flushed for http/1.0": (200, Request("GET", "/flushed", version="HTTP/1.0")),
    "flushed with a length": (200, Request("POST", "/flushed", body=b"")),
    "flushed, gone": (405, Request("HEAD", "/flushed")),
    "no content": (204, Request("GET", "/no-content")),
    "no content with a body": (500, Request("POST", "/no-content", body=b"")),
    "not modified": (304, Request("PUT", "/no-content", body=b"")),
    "right length": (200, Request("GET", "/lengths?length=5")),
    "header with line break": (500, Request("GET", "/bad-header")),
    "header with zero": (500, Request("POST", "/bad-header", body=b"")),
    "head": (200, Request("HEAD", "/headed")),
    "locale": (200, Request("GET", "/translated", {"Accept-Language": "de,en;q=0.5"})),
    "locale of the user": (200, Request("GET", "/translated?user=de")),
    "a list": (500, Request("GET", "/listed")),
    "large": (200, Request("GET", "/large")),
}


@pytest.fixture(autouse=True, scope="module")
def _translations():
    locale._translations = {"de": {"unknown": {"yes": "ja"}}}
    locale._supported_locales = frozenset(["de", "en_US"])
    yield
    locale._translations = {}
    locale._supported_locales = frozenset(["en_US"])


@pytest.mark.at_owner("there is no such verb", "flushed, gone")
@pytest.mark.parametrize("name", CASES)
def test_an_answer_is_that_of_stock_tornado(name, pair):
    status, request = CASES[name]

    [answer] = pair.same(lambda server: server.fetch_together([request]))

    assert status == answer.status
    assert pair.server.sent_away()


WRONG_LENGTHS = ["length=4", "length=6", "length=9&flush=1", "length=11&flush=1"]


@pytest.mark.parametrize("path", ["/lengths", "/committing"])
@pytest.mark.parametrize("query", WRONG_LENGTHS)
def test_a_wrong_length_ends_the_connection_as_in_stock_tornado(query, path, pair):
    sent = f"GET {path}?{query} HTTP/1.1\r\nHost: h\r\n\r\n".encode()

    pair.same(lambda server: without_date(server.exchange(sent)))


@pytest.mark.parametrize("query", WRONG_LENGTHS)
def test_a_wrong_length_undoes_what_an_error_undoes(query, pair):
    """On the stock loop nothing undoes anything."""
    # GIVEN
    sent = "GET {}?{} HTTP/1.1\r\nHost: h\r\n\r\n"
    asked.value = 0

    # WHEN
    for path in ("/lengths", "/committing"):
        text = sent.format(path, query).encode()

        def ask(server: Server, text: bytes = text) -> object:
            return server.exchange(text)

        logged(pair.server, ask)

    # THEN
    assert 1 == asked.value


def test_a_matching_etag_is_304(pair):
    def talk(server):
        tag = server.get("/tagged").header("Etag")
        return server.get("/tagged", **{"If-None-Match": f'"x", W/{tag}'})

    answer = pair.same(talk)

    assert (304, b"") == (answer.status, answer.body)


def test_flushed_pieces_arrive_as_chunks(pair):
    def talk(server):
        sent = b"GET /flushed HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        return server.exchange(sent).partition(b"\r\n\r\n")[2]

    received = pair.same(talk)

    assert b"6\r\nfirst \r\n7\r\nsecond \r\n5\r\nthird\r\n0\r\n\r\n" == received


@pytest.mark.parametrize("path", ["/large", "/flushed", "/written", "/rendered"])
def test_compressed_answers(path, kind):
    request = Request("GET", path, {"Accept-Encoding": "gzip"})

    def talk(server):
        [answer] = server.fetch_together([request])
        body = answer.body
        compressed = answer.header("Content-Encoding") == "gzip"
        # The compressed bytes hold the time.
        return answer.headers, gzip.decompress(body) if compressed else body

    with pair_of(kind, lambda: make_application(compress_response=True)) as pair:
        headers, _ = pair.same(talk)

    assert ("Vary", "Accept-Encoding") in headers
    assert (("Content-Encoding", "gzip") in headers) == (path in ("/large", "/flushed"))
