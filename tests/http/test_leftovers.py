"""What `on_finish` and the access log find of a handler, as in stock Tornado."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from typing import Any

import pytest
from tornado.template import DictLoader
from tornado.web import Application, HTTPError, RequestHandler, UIModule

from tests.logs import expect_log
from tests.messages import Request
from tests.serving import FORKED, pair_of, serving
from txloop import transactional

seen: list[Any] = []


class Database:
    """Does not pickle, and is the application's."""

    def __init__(self):
        self.lock = threading.Lock()


class Entry(UIModule):
    def render(self, text):
        return f"<{text}>"


@dataclasses.dataclass
class User:
    name: str


class Looking(RequestHandler):
    """Tells in `on_finish` what it finds; each verb leaves something else."""

    __slots__ = ("slotted",)

    def initialize(self, database=None):
        self.database = database

    def prepare(self):
        self.request.user = User("ann")  # type: ignore[attr-defined] # the program's own
        self.mine = self.request.user  # type: ignore[attr-defined] # the same

    def get(self):
        self.slotted = 4
        self.request.remote_ip = "10.0.0.1"
        self.request.arguments["more"] = [b"1"]
        self.request.headers["X-Own"] = "own"
        self.whole = [self.application, self.request]
        self.itself = {"handler": self}
        self.settled = self.settings["database"]
        self.set_cookie("sent", "1")
        self.locale  # noqa: B018 # it is kept
        self.write(self.get_cookie("came", "no"))

    def post(self):
        self.get_body_argument("a", "")
        del self.request.query_arguments["q"]
        self.write(self.render_string("page.html", text="first"))

    def put(self):
        del self.request.path
        self.nameless = lambda: "which does not travel with others"

    def on_finish(self):
        request = self.request
        seen.append(
            {
                "user": (request.user, self.mine is request.user),  # type: ignore[attr-defined] # see above
                "address": request.remote_ip,
                "arguments": dict(request.arguments),
                "query": dict(request.query_arguments),
                "body": (dict(request.body_arguments), request.body),
                "files": {name: len(found) for name, found in request.files.items()},
                "headers": request.headers.get("X-Own"),
                "path": getattr(request, "path", "gone"),
                "cookies": sorted(request.cookies),
                "slot": getattr(self, "slotted", None),
                "database": (
                    self.database is self.settings["database"],
                    getattr(self, "settled", None) is self.settings["database"],
                ),
                "itself": getattr(self, "itself", {}).get("handler") is self,
                "whole": [
                    one is other
                    for one, other in zip(
                        getattr(self, "whole", ()),
                        (self.application, request),
                        strict=False,
                    )
                ],
                "locale": self.locale.code,
                "made": sorted(vars(self).keys() - {"_active_modules"}),
                "buffers": (self._write_buffer, self._transforms),
                "page": self.render_string("page.html", text="last"),
                "ui": sorted(self.ui),
                "status": self.get_status(),
            }
        )


@transactional(trust=True)
class Marked(Looking):
    pass


@transactional(trust=True)
class Closing(RequestHandler):
    """Has an attribute that does not travel, and that is used."""

    def get(self, how):
        self.file = open("/dev/null")  # noqa: SIM115 # closed below
        self.numbers = iter([1, 2])
        self.generated = (one for one in [1])
        self.close_callback = lambda: seen.append("called")

    def on_finish(self):
        self.use()

    def use(self):
        seen.append((type(self.file).__name__, *self.numbers, *self.generated))
        self.file.close()
        self.close_callback()


@transactional(trust=True)
class Asking(RequestHandler):
    """Asks for attributes whose names its code does not show."""

    named = "the class's own"

    def get(self, name):
        self.named = threading.Lock()  # type: ignore[assignment] # it does not travel
        self.kept = 1

    def on_finish(self):
        try:
            found = getattr(self, self.path_args[0])
        except AttributeError as error:
            found = str(error)
        seen.append((found, type(self).__name__))


@transactional
class Changing(RequestHandler):
    """Changes what the access log tells of its request."""

    def prepare(self):
        self.request.method = self.get_argument("method", self.request.method)
        self.request.uri = "/changing?secret=..."
        self.request.remote_ip = "10.0.0.1"

    def get(self):
        self.write("got")

    def delete(self):
        raise HTTPError(409)


@transactional
class Summing(RequestHandler):
    """Tells the access log in its own words what it has done."""

    def prepare(self):
        self.name = "ann"

    def get(self):
        self.write("got")

    def _request_summary(self):
        return f"{self.request.path} by {self.name}"


def note_access(handler):
    seen.append(("access", handler.request.user.name, handler.request.remote_ip))


def make_application(**settings):
    database = Database()
    return Application(
        [
            ("/looking", Marked, {"database": database}),
            ("/closing/(.*)", Closing),
            ("/asking/(.*)", Asking),
            ("/changing", Changing),
            ("/summing", Summing),
        ],
        database=database,
        template_loader=DictLoader({"page.html": "{{ text }}{% module Entry(text) %}"}),
        ui_modules={"Entry": Entry},
        **settings,
    )


FORM = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": "came=yes"}
PARTS = {"Content-Type": "multipart/form-data; boundary=b"}
UPLOAD = (
    b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
    b"1\r\n--b--\r\n"
)

REQUESTS = {
    "get": Request("GET", "/looking?q=1", {"Cookie": "came=yes"}),
    "post": Request("POST", "/looking?q=1", FORM, b"a=1&b=2"),
    "upload": Request("POST", "/looking?q=1", PARTS, UPLOAD),
    "put": Request("PUT", "/looking?q=1", {}, b""),
}


def seen_of(server, request):
    seen.clear()
    server.fetch_together([request])
    return list(seen)


@pytest.mark.at_owner("it has an on_finish of its own")
@pytest.mark.parametrize("name", REQUESTS)
def test_on_finish_finds_what_it_finds_in_stock_tornado(name, kind):
    with pair_of(kind, make_application) as pair:
        pair.same(lambda server: seen_of(server, REQUESTS[name]))

        assert pair.server.sent_away()


@pytest.mark.at_owner("the program logs requests itself")
def test_the_access_log_finds_what_the_handler_put_on_the_request(kind):
    with serving(kind, lambda: make_application(log_function=note_access)) as server:
        found = seen_of(server, REQUESTS["get"])

        assert server.sent_away()
    assert ("access", "ann", "10.0.0.1") == found[0]


@pytest.mark.parametrize(
    "path", ["/changing", "/changing?method=DELETE", "/changing?method=GO", "/summing"]
)
def test_the_access_log_tells_what_it_tells_in_stock_tornado(path, kind):
    with pair_of(kind, make_application) as pair:
        pair.same(lambda server: server.get(path))

        assert pair.server.sent_away()


@pytest.mark.at_owner("it has an on_finish of its own")
# The run that is thrown away leaves its file open.
@pytest.mark.filterwarnings("ignore:.*unclosed file")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_on_finish_uses_is_there_though_it_does_not_travel(kind):
    request = Request("GET", "/closing/x")

    with pair_of(kind, make_application) as pair:
        if kind in FORKED:
            with expect_log("txloop", "its attribute file, which is used later"):
                seen_of(pair.server, request)
        pair.same(lambda server: seen_of(server, request))

    assert [("TextIOWrapper", 1, 2, 1), "called"] == seen


def test_what_did_not_travel_is_said_to_be_missing():
    with serving("processes", make_application) as server:
        [(missing, kind)] = seen_of(server, Request("GET", "/asking/named"))
        [(kept, _)] = seen_of(server, Request("GET", "/asking/kept"))
        [(never, _)] = seen_of(server, Request("GET", "/asking/never"))

        assert server.sent_away()
    assert missing.startswith("named did not travel from the worker because: cannot")
    assert "lock" in missing
    assert "Asking" == kind
    assert 1 == kept
    assert "'Asking' object has no attribute 'never'" == never


@pytest.mark.at_owner("it has an on_finish of its own")
def test_many_at_once_do_not_mix(kind):
    async def fetch(server, number):
        async with server.connection() as (reader, writer):
            head = {"Cookie": f"c{number}=1"}
            writer.write(Request("GET", f"/looking?q={number}", head).encoded())
            return await server.read(reader)

    seen.clear()
    with serving(kind, make_application) as server:
        server.run(lambda: asyncio.gather(*[fetch(server, n) for n in range(12)]))

    expected = sorted((f"{n}".encode(), [f"c{n}"]) for n in range(12))
    assert expected == sorted((one["query"]["q"][0], one["cookies"]) for one in seen)
