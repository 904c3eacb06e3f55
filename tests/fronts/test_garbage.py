"""What is left of a loop with fronts when it has ended: nothing for the collector."""

from __future__ import annotations

import asyncio
import gc
import os
import weakref

import pytest
from tornado.httpclient import AsyncHTTPClient
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler

import txloop
from tests.logs import expect_log

pytestmark = pytest.mark.slow


@txloop.transactional
class Pid(RequestHandler):
    def get(self):
        self.write(f"{os.getpid()}")


async def serve_from_a_front(dropped):
    """Serve until a front has answered; note the loop, and what gives to fronts."""
    loop = IOLoop.current()
    socket, port = bind_unused_port()
    server = HTTPServer(Application([("/", Pid)]))
    server.add_sockets([socket])
    client = AsyncHTTPClient(force_instance=True)

    async def in_front():
        answer = await client.fetch(
            f"http://127.0.0.1:{port}/", headers={"Connection": "close"}
        )
        return int(answer.body) != os.getpid()

    while not await in_front():
        pass
    dropped += [weakref.ref(one) for one in (loop, vars(loop)["doorman"])]
    client.close()
    server.stop()
    await server.close_all_connections()


async def make_a_loop():
    IOLoop.current()  # Tornado lets closed ones go when the next one is made


def test_a_dropped_loop_is_no_cyclic_garbage(monkeypatch):
    # GIVEN
    monkeypatch.setenv("TXLOOP_FAULTS", "fronts=1")
    before = IOLoop.configured_class()
    txloop.install(executor="processes", workers=1, fronts=1)
    dropped: list[weakref.ref[object]] = []
    gc.collect()
    gc.disable()

    # WHEN
    try:
        with expect_log("txloop", "faults happen on purpose", None):
            asyncio.run(serve_from_a_front(dropped))
            asyncio.run(make_a_loop())

        # THEN
        assert [None, None] == [one() for one in dropped]
    finally:
        gc.enable()
        IOLoop.configure(before)
