"""Requests as Tornado itself makes them are plain data; what is said of some is not."""

from __future__ import annotations

import asyncio

import pytest
from tornado.httpclient import AsyncHTTPClient
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from txloop.web.frozen import FrozenRequest

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
UPLOAD = {"Content-Type": "multipart/form-data; boundary=x"}
UPLOADED = (
    b"--x\r\nContent-Disposition: form-data; name=f; filename=n\r\n\r\nbody\r\n--x--"
)


class Flattening(RequestHandler):
    """Flattens its requests as the loop does before it sends them to a worker."""

    def initialize(self, found):
        self.found = found

    def prepare(self):
        frozen = FrozenRequest(self.request)
        self.found.append(frozen.flatten())

    def get(self):
        self.write("done")

    post = get


async def flattened(**request):
    """Return what a request is flattened to that comes over a connection."""
    found: list[object] = []
    application = Application([("/.*", Flattening, {"found": found})])
    server = HTTPServer(application, xheaders=True)
    [socket] = bind_sockets(0, "127.0.0.1")
    server.add_sockets([socket])
    url = f"http://127.0.0.1:{socket.getsockname()[1]}/path?query=1"
    try:
        answer = await AsyncHTTPClient(force_instance=True).fetch(url, **request)
    finally:
        server.stop()
        await server.close_all_connections()
    assert b"done" == answer.body
    [one] = found
    return one


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"headers": {"Cookie": "a=b", "X-Real-Ip": "1.2.3.4"}},
        {"method": "POST", "headers": FORM, "body": "a=1&a=2"},
        {"method": "POST", "body": b"\x00" * 100_000},
    ],
    ids=["GET", "headers", "form", "body"],
)
def test_a_request_is_plain(request_):
    assert asyncio.run(flattened(**request_)) is not None


def test_an_uploaded_file_is_an_object():
    upload = {"method": "POST", "headers": UPLOAD, "body": UPLOADED}

    assert asyncio.run(flattened(**upload)) is None
