"""Hostile values in a response: what goes out is what stock Tornado lets out."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from tornado.web import Application, RequestHandler

from tests.logs import expect_log
from tests.messages import Request, without_date
from tests.serving import logged, pair_of, serving
from txloop import transactional

INJECTED = "X-Injected: 1"


class Obeying(RequestHandler):
    """Does what the request's body says, step by step."""

    SUPPORTED_METHODS = ("POST",)  # there are many of its kind: each is judged

    def post(self):
        for name, *arguments in json.loads(self.request.body):
            getattr(self, f"do_{name}")(*arguments)

    def do_force_header(self, name, value):
        self._headers[name] = value  # as `set_header` must not

    def do_force_reason(self, reason):
        self._reason = reason

    def do_force_status(self, code):
        self._status_code = code

    def do_set_header(self, name, value):
        self.set_header(name, value)

    def do_add_header(self, name, value):
        self.add_header(name, value)

    def do_set_status(self, code, reason=None):
        self.set_status(code, reason)

    def do_set_cookie(self, name, value):
        self.set_cookie(name, value)

    def do_force_cookie(self, value):
        self.set_cookie("forced", "1")
        self._new_cookie["forced"]["path"] = value

    def do_redirect(self, url):
        self.redirect(url)

    def do_error(self, code, reason):
        self.send_error(code, reason=reason)

    def do_write(self, text):
        self.write(text)

    def do_flush(self):
        self.flush()

    def do_finish(self):
        self.finish()


@transactional(on_error="commit")
class Committing(Obeying):
    pass


@transactional
class RollingBack(Obeying):
    pass


def make_application():
    """Make more classes: one that leaves an answer unfinished is held from then on."""
    cases = [
        (path, transactional(on_error="commit")(type("Case", (Obeying,), {})))
        for path in PATHS.values()
    ]
    return Application([("/as-stock", Committing), ("/undone", RollingBack), *cases])


def twice(path, steps):
    """Return the bytes of two requests: what the first does must not reach the next."""
    first = Request("POST", path, {}, json.dumps(steps).encode())
    body = json.dumps([["write", "second"]]).encode()
    second = Request("POST", path, {"Connection": "close"}, body)
    return first.encoded() + second.encoded()


def same(pair, steps, path="/as-stock"):
    """Return what comes back, which is the same as from stock Tornado."""
    sent = twice(path, steps)
    # Tornado logs a response when it is sent, and here that is at the commit.
    return pair.same(
        lambda server: without_date(server.exchange(sent)), log_in_order=False
    )


HOSTILE = {
    "CR LF": f"a\r\n{INJECTED}",
    "LF": f"a\n{INJECTED}",
    "CR": f"a\r{INJECTED}",
    "NUL": "a\0b",
    "control": "a\x01\x1f\x7fb",
    "beyond latin1": "a\u010a\u2028\u560a\u560d\U0001f4a3",
    "latin1": "a\x85\xa0\xff",
    "folded": f"a\r\n {INJECTED}",
    "body": "a\r\n\r\n<script>",
    "colon": "a: b",
    "empty": "",
    "blank": " ",
}

PLACES = {
    "header value": lambda text: [["set_header", "X-Test", text]],
    "header name": lambda text: [["set_header", f"X-{text}", "1"]],
    "added header": lambda text: [["add_header", "X-Test", text]],
    "forced header value": lambda text: [["force_header", "X-Test", text]],
    "forced header name": lambda text: [["force_header", f"X-{text}", "1"]],
    "reason": lambda text: [["set_status", 299, text]],
    "forced reason": lambda text: [["force_reason", text]],
    "reason of an error": lambda text: [["error", 499, text]],
    "cookie name": lambda text: [["set_cookie", f"c{text}", "1"]],
    "cookie value": lambda text: [["set_cookie", "c", text]],
    "cookie path": lambda text: [["force_cookie", text]],
    "redirect": lambda text: [["redirect", f"/{text}"]],
    "Content-Length": lambda text: [["set_header", "Content-Length", text]],
    "forced Content-Length": lambda text: [["force_header", "Content-Length", text]],
    "forced Transfer-Encoding": lambda text: [
        ["force_header", "Transfer-Encoding", text]
    ],
    "after a flush": lambda text: [["flush"], ["force_header", "X-Test", text]],
}


UNFINISHED = (
    *("header name", "forced header value", "forced header name", "forced reason"),
    "forced Transfer-Encoding",
)
"""Where some text makes Tornado leave the answer unfinished."""


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("place", PLACES)
def test_hostile_text_does_what_it_does_in_stock_tornado(place, text, pair):
    steps = [["write", "body"], *PLACES[place](HOSTILE[text])]

    received = same(pair, steps, PATHS[(place, text) if place in UNFINISHED else place])

    assert INJECTED.encode() not in [line.strip() for line in received.split(b"\n")]


LENGTHS = {
    "too short": "3",
    "too long": "30",
    "negative": "-4",
    "signed": "+4",
    "underscore": "1_0",
    "hexadecimal": "0x4",
    "blank in front": " 4",
    "two": "4, 4",
    "two unlike": "4, 5",
    "digits of another script": "\u0664",
    "superscript": "\xb2",
    "huge": "99999999999999999999999",
}

ORDERS = {
    "written": [["write", "body"]],
    "finished": [["write", "body"], ["finish"]],
    "flushed": [["write", "bo"], ["flush"], ["write", "dy"]],
    "flushed empty": [["flush"], ["write", "body"]],
}


@pytest.mark.parametrize("path", ["/as-stock", "/undone"])
@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("length", LENGTHS.values(), ids=LENGTHS)
def test_a_false_length_does_what_it_does_in_stock_tornado(length, order, path, pair):
    same(pair, [["force_header", "Content-Length", length], *order], path)


MIXTURES = {
    "both framings": [
        ["set_header", "Content-Length", "4"],
        ["set_header", "Transfer-Encoding", "chunked"],
        ["write", "body"],
    ],
    "chunks by hand": [
        ["set_header", "Transfer-Encoding", "chunked"],
        ["flush"],
        ["write", "0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"],
    ],
    "a bad header and too long a body": [
        ["set_header", "Content-Length", "2"],
        ["force_header", "X-Bad", "a\r\nb"],
        ["write", "body"],
    ],
    "an encoding that Tornado replaces": [
        ["write", "body"],
        ["force_header", "Transfer-Encoding", "a\r\nX-Injected: 1"],
        ["flush"],
    ],
    "no body allowed": [["set_status", 204], ["write", "body"]],
    "no body allowed, flushed": [["set_status", 204], ["flush"], ["write", "body"]],
    "a length, and a bad encoding": [
        ["set_header", "Content-Length", "4"],
        ["force_header", "Transfer-Encoding", "a\r\nX-Injected: 1"],
        ["write", "body"],
    ],
    "no body, and a bad encoding": [
        ["set_status", 204],
        ["force_header", "Transfer-Encoding", "a\r\nX-Injected: 1"],
    ],
    "not modified, and a bad encoding": [
        ["set_status", 304],
        ["force_header", "Transfer-Encoding", "a\r\nX-Injected: 1"],
    ],
    "not modified": [["set_status", 304], ["flush"], ["write", "body"]],
    "switching": [["set_status", 101], ["flush"], ["write", "body"]],
    "status of letters": [["force_status", "200 OK\r\nX-Injected: 1"]],
    "status of a fraction": [["force_status", 200.5]],
    "negative status": [["force_status", -1]],
    "keeping the connection": [["set_header", "Connection", "keep-alive"]],
    "closing the connection": [["set_header", "Connection", "close"]],
}


PATHS = {
    case: f"/{number}"
    for number, case in enumerate(
        [*PLACES, *itertools.product(UNFINISHED, HOSTILE), *MIXTURES]
    )
}


@pytest.mark.parametrize("name", MIXTURES)
def test_a_mixture_does_what_it_does_in_stock_tornado(name, pair):
    same(pair, MIXTURES[name], PATHS[name])


TEXTS = some.one_of(
    some.sampled_from([*HOSTILE.values(), *LENGTHS.values(), "chunked", "fine"]),
    some.text(max_size=6),
)
STEPS = some.one_of(
    some.sampled_from(list(PLACES.values())).flatmap(
        lambda place: TEXTS.map(place),
    ),
    some.sampled_from([[["write", "x"]], [["flush"]], [["finish"]]]),
)


TRUSTED = itertools.cycle([f"/{number}" for number in range(50)])


def make_trusted():
    """Make classes in turn: hypothesis changes the recursion limit, which holds others.

    And each that leaves an answer unfinished is held.
    """
    mark = transactional(on_error="commit", trust=True)
    paths = itertools.islice(TRUSTED, 50)
    return Application([(path, mark(type("Any", (Obeying,), {}))) for path in paths])


@pytest.fixture
def trusted(kind):
    with pair_of(kind, make_trusted) as pair:
        yield pair


@pytest.mark.slow
@pytest.mark.timeout(90)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(programs=some.lists(STEPS, max_size=4))
def test_whatever_a_handler_does_the_bytes_are_those_of_stock_tornado(
    programs, trusted
):
    sent = twice(next(TRUSTED), [step for steps in programs for step in steps])

    def talk(server):
        return without_date(server.exchange(sent))

    expected, _ = logged(trusted.stock, talk)
    actual, _ = logged(trusted.server, talk)

    assert expected == actual


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_hostile_text_of_an_undone_transaction_injects_nothing(place, text, pair):
    """The answer may differ from stock Tornado's there: it is an error, whole."""
    sent = twice("/undone", [["write", "body"], *place(text)])

    received, _ = logged(pair.server, lambda server: server.exchange(sent))

    assert INJECTED.encode() not in [line.strip() for line in received.split(b"\n")]
    assert received.count(b"HTTP/1.1 ") <= 2


# What clients are told of errors


@transactional
class Failing(RequestHandler):
    def get(self):
        secret_of_the_handler = "swordfish"
        raise ValueError(f"it knows {secret_of_the_handler}")


def test_an_error_tells_the_client_nothing(kind):
    with (
        expect_log("tornado", "GET /", count=2),
        serving(kind, lambda: Application([("/", Failing)])) as server,
    ):
        answer = server.get("/")

    assert 500 == answer.status
    assert b"500: Internal Server Error" in answer.body
    for word in (b"swordfish", b"Traceback", b"ValueError", b".py"):
        assert word not in answer.body
