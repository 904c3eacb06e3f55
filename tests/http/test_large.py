"""Bodies as large as Tornado takes them go whole to a worker and back."""

from __future__ import annotations

import hashlib

import pytest
from tornado.web import Application, RequestHandler

import txloop
from tests.messages import Request
from tests.serving import serving

pytestmark = pytest.mark.timeout(90)

MB = 1 << 20


@txloop.transactional
class Large(RequestHandler):
    def get(self, size):
        self.set_etag_header()
        self.write(bytes(range(256)) * (int(size) * MB // 256))

    def post(self, _):
        body = self.request.body
        self.write({"size": len(body), "digest": hashlib.sha1(body).hexdigest()})


def make_application():
    return Application([(r"/(\d+)", Large)])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["serial", "processes"])
def test_a_large_response_and_a_large_body_pass_whole(kind):
    with serving(kind, make_application) as server:
        # GIVEN
        sent = bytes(reversed(range(256))) * (50 * MB // 256)

        # WHEN
        answer = server.get("/64")
        echo = server.fetch("POST", "/0", body=sent)

        # THEN
        assert (200, 64 * MB) == (answer.status, len(answer.body))
        assert bytes(range(256)) * (64 * MB // 256) == answer.body
        assert hashlib.sha1(sent).hexdigest().encode() in echo.body
        assert server.sent_away()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["stock", "processes"])
def test_more_than_tornado_takes_gets_tornados_answer(kind):
    with serving(kind, make_application) as server:
        # WHEN
        too_long = Request("POST", "/0", {"Content-Length": str(101 * MB)})
        answer = server.fetch_together([too_long])[0]

        # THEN
        assert 400 == answer.status
        assert (200, 0) == (server.get("/0").status, len(server.get("/0").body))
