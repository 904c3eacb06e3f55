"""Marks without ``txloop.install()``: all runs as in stock Tornado, with one word."""

from __future__ import annotations

from tests.scripts import run_script

PROGRAM = """\
import asyncio
from tornado.httpclient import AsyncHTTPClient
from tornado.web import Application, RequestHandler
import txloop

@txloop.transactional
class Marked(RequestHandler):
    def get(self):
        self.write("answered")

async def main():
    server = Application([("/", Marked)]).listen(0, "127.0.0.1")
    port = next(iter(server._sockets.values())).getsockname()[1]
    for _ in range(3):
        answer = await AsyncHTTPClient().fetch(f"http://127.0.0.1:{port}/")
        print(answer.body.decode())

asyncio.run(main())
"""


def test_it_is_said_once(tmp_path):
    ended = run_script(tmp_path, PROGRAM)

    assert "answered\n" * 3 == ended.output
    assert 1 == ended.errors.count(
        "GET Marked is marked @transactional, but this IOLoop is a stock one"
    )
    assert "txloop.install()" in ended.errors
