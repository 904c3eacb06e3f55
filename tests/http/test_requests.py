"""What reaches a handler in a transaction: verbs, paths, arguments, bodies."""

from __future__ import annotations

import gzip
import json

import pytest
from tornado.escape import json_decode
from tornado.web import Application, RequestHandler, url

from tests.messages import Request, without_date
from tests.serving import pair_of
from txloop import transactional


@transactional
class Echo(RequestHandler):
    """Answers with what it was asked, seen in every way."""

    def answer(self, *args, **kwargs):
        request = self.request
        self.write(
            {
                "verb": request.method,
                "path_args": [args, self.path_args],
                "path_kwargs": [kwargs, self.path_kwargs],
                "arguments": _text(request.arguments),
                "query": _text(request.query_arguments),
                "body_arguments": _text(request.body_arguments),
                "body": request.body.decode("latin1"),
                "files": {
                    field: [
                        [one.filename, one.content_type, len(one.body)] for one in found
                    ]
                    for field, found in request.files.items()
                },
                "headers": sorted(request.headers.get_all()),
                "cookies": {name: one.value for name, one in request.cookies.items()},
                "address": [request.remote_ip, request.protocol, request.host],
                "url": [
                    request.full_url(),
                    request.uri,
                    request.query,
                    request.version,
                ],
                "host": request.host_name,
                "last": self.get_argument("n", "none"),
                "all": self.get_arguments("n"),
                "path": self.reverse_url("named", "x"),
            }
        )

    get = post = put = delete = patch = options = answer

    def head(self, *args):
        self.set_header("X-Verb", self.request.method)
        self.write("not sent")


@transactional
class Json(RequestHandler):
    def post(self):
        self.write({"sum": sum(json_decode(self.request.body))})


@transactional
class Prepared(RequestHandler):
    def prepare(self):
        self.steps = ["prepare"]
        if self.get_argument("finish", ""):
            self.finish("finished by prepare")

    def get(self):
        self.steps.append("get")
        self.write(" ".join(self.steps))


@transactional
class Sending(RequestHandler):
    def prepare(self):
        self.redirect("/echo")

    def get(self):
        raise AssertionError("prepare has finished the request")


@transactional
class Only(RequestHandler):
    SUPPORTED_METHODS = ("GET", "PROPFIND")

    def get(self):
        self.write("get")

    def propfind(self):
        self.write("propfind")


def make_application():
    return Application(
        [
            ("/echo", Echo),
            ("/echo/([^/]+)/([^/]*)(?:/(x))?", Echo),
            ("/named/(?P<first>[^/]+)/(?P<second>[^/]+)", Echo),
            url("/reversed/(.*)", Echo, name="named"),
            ("/json", Json),
            ("/prepared", Prepared),
            ("/sending", Sending),
            ("/only", Only),
        ]
    )


FORM = {"Content-Type": "application/x-www-form-urlencoded"}
UPLOAD = {"Content-Type": "multipart/form-data; boundary=edge"}
UPLOADED = (
    b'--edge\r\nContent-Disposition: form-data; name="n"\r\n\r\n5\r\n'
    b'--edge\r\nContent-Disposition: form-data; name="f"; filename="\xc3\xa4.bin"\r\n'
    b"Content-Type: application/octet-stream\r\n\r\n" + bytes(range(256)) + b"\r\n"
    b'--edge\r\nContent-Disposition: form-data; name="f"; filename="b"\r\n\r\n\r\n'
    b"--edge--\r\n"
)

CASES = {
    "get": (200, Request("GET", "/echo")),
    "post": (200, Request("POST", "/echo", body=b"")),
    "put": (200, Request("PUT", "/echo", body=b"\xff\x00")),
    "delete": (200, Request("DELETE", "/echo")),
    "delete with body": (200, Request("DELETE", "/echo", body=b"why")),
    "patch": (200, Request("PATCH", "/echo", body=b"p")),
    "options": (200, Request("OPTIONS", "/echo")),
    "head": (200, Request("HEAD", "/echo")),
    "path arguments": (200, Request("GET", "/echo/a%20b/%C3%A4")),
    "empty path argument": (200, Request("GET", "/echo/a//x")),
    "path keywords": (200, Request("GET", "/named/1/2%2F3")),
    "bad path argument": (400, Request("GET", "/echo/%ff/x")),
    "arguments": (200, Request("GET", "/echo?n=1&m=%C3%A4&n=%202%20&empty=")),
    "bad argument": (400, Request("GET", "/echo?n=%ff")),
    "form": (200, Request("POST", "/echo?n=1", FORM, b"n=2&m=x%20y&n=3")),
    "json": (200, Request("POST", "/json", body=b"[1, 2, 3]")),
    "bad json": (500, Request("POST", "/json", body=b"[1,")),
    "upload": (200, Request("POST", "/echo", UPLOAD, UPLOADED)),
    "bad upload": (400, Request("POST", "/echo", UPLOAD, b"--edge\r\nno")),
    "large body": (200, Request("POST", "/echo", body=b"x" * 300_000)),
    "cookies": (200, Request("GET", "/echo", {"Cookie": 'a=1; b="2 3"'})),
    "headers": (200, Request("GET", "/echo", {"X-One": "a, b", "Accept": "\xe4"})),
    "host": (200, Request("GET", "/echo", {"Host": "Example.org:81"})),
    "prepare": (200, Request("GET", "/prepared")),
    "prepare that finishes": (200, Request("GET", "/prepared?finish=1")),
    "prepare that redirects": (302, Request("GET", "/sending")),
    "own verb": (200, Request("PROPFIND", "/only")),
    "verb not there": (405, Request("GET", "/json")),
    "verb not supported": (405, Request("POST", "/only", {}, b"")),
    "verb unknown": (405, Request("BREW", "/echo")),
    "no such path": (404, Request("GET", "/nowhere")),
    "http/1.0": (200, Request("GET", "/echo", version="HTTP/1.0")),
    "connection close": (200, Request("GET", "/echo", {"Connection": "close"})),
}


NO_VERB = "verb not there", "verb not supported", "verb unknown", "no such path"


@pytest.mark.at_owner("there is nothing to run", *NO_VERB)
@pytest.mark.at_owner("no such body moves", "large body")
@pytest.mark.parametrize("name", CASES)
def test_an_answer_is_that_of_stock_tornado(name, pair):
    status, request = CASES[name]

    [answer] = pair.same(lambda server: server.fetch_together([request]))

    assert status == answer.status
    assert pair.server.sent_away()


def test_what_the_handler_saw(pair):
    """So that the comparison with stock Tornado compares something."""
    answer = pair.server.fetch("POST", "/echo/a/b?n=1", FORM, b"n=2")

    seen = json.loads(answer.body)
    assert ["a", "b", None] == seen["path_args"][0]
    assert {"n": ["1", "2"]} == seen["arguments"]
    assert ["127.0.0.1", "http", "txloop.test"] == seen["address"]


def test_several_requests_on_one_connection(pair):
    requests = [
        Request("GET", "/echo?n=1"),
        Request("HEAD", "/echo"),
        Request("POST", "/json", body=b"[5]"),
        Request("GET", "/prepared"),
    ]

    answers = pair.same(lambda server: server.fetch_in_turn(requests))

    assert [200] * 4 == [answer.status for answer in answers]


def test_requests_that_are_sent_before_the_first_answer_is_read(pair):
    requests = [Request("GET", f"/echo?n={number}") for number in range(10)]

    answers = pair.same(lambda server: server.fetch_in_turn(requests, pipelined=True))

    assert [str(number) for number in range(10)] == [
        json.loads(answer.body)["last"] for answer in answers
    ]


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /prepared HTTP/1.0\r\n\r\n",
        b"GET /prepared HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        b"GET /prepared HTTP/1.1\r\nHost: h\r\n\r\n"
        b"GET /prepared HTTP/1.0\r\nHost: h\r\n\r\n",
    ],
    ids=["http/1.0", "close", "close after the second"],
)
def test_the_server_closes_when_it_is_asked_to(sent, pair):
    received = pair.same(lambda server: without_date(server.exchange(sent)))

    assert b"prepare get" in received


PROXIED = {"X-Forwarded-For": "10.1.2.3, 10.4.5.6", "X-Scheme": "https"}


@pytest.mark.parametrize(
    ("options", "request_"),
    [
        ({"xheaders": True}, Request("GET", "/echo", PROXIED)),
        pytest.param(
            {"decompress_request": True},
            Request(
                "POST", "/json", {"Content-Encoding": "gzip"}, gzip.compress(b"[1, 2]")
            ),
            marks=pytest.mark.at_owner("no compressed body moves"),
        ),
        ({"max_body_size": 10}, Request("POST", "/json", body=b"[1, 2]")),
        ({"protocol": "https"}, Request("GET", "/echo")),
    ],
    ids=["xheaders", "decompress_request", "max_body_size", "protocol"],
)
def test_options_of_the_http_server(options, request_, kind):
    with pair_of(kind, make_application, listening=options) as pair:
        [answer] = pair.same(lambda server: server.fetch_together([request_]))

    assert 200 == answer.status


def _text(arguments):
    return {
        name: [value.decode("latin1") for value in values]
        for name, values in arguments.items()
    }
