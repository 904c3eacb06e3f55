"""The ways in which unmarked code of a program comes to run: one handler for each."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tornado.ioloop import IOLoop, PeriodicCallback
from tornado.web import RequestHandler
from tornado.websocket import WebSocketHandler, websocket_connect

from txloop import transactional

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["WAYS", "OnMessage", "marked_writer"]


class Change(RequestHandler):
    """Answers when the program's state has been changed once."""

    def initialize(self, change: Callable[[], object], name: str) -> None:
        self.change = change
        self.name = name


class InHandler(Change):
    def get(self):
        self.change()
        self.write("changed")


class InPrepare(Change):
    def prepare(self):
        self.change()

    def get(self):
        self.write("changed")


class InOnFinish(Change):
    def get(self):
        self.write("changed")

    def on_finish(self):
        self.change()


class InAsyncHandler(Change):
    async def get(self):
        await asyncio.sleep(0)
        self.change()
        self.write("changed")


class InCallback(Change):
    async def get(self):
        done = asyncio.Event()

        def call():
            self.change()
            done.set()

        self.schedule(call)
        await done.wait()
        self.write("changed")

    def schedule(self, call):
        IOLoop.current().add_callback(call)


class InTimer(InCallback):
    def schedule(self, call):
        IOLoop.current().call_later(0.001, call)


class InPeriodicCallback(Change):
    async def get(self):
        done = asyncio.Event()

        def call():
            periodic.stop()
            self.change()
            done.set()

        periodic = PeriodicCallback(call, 1)
        periodic.start()
        await done.wait()
        self.write("changed")


class InCoroutine(Change):
    async def get(self):
        await asyncio.create_task(self.run())
        self.write("changed")

    async def run(self):
        await asyncio.sleep(0.001)
        self.change()


class InExecutor(Change):
    """In a thread of the program, for which a coroutine waits."""

    async def get(self):
        await IOLoop.current().run_in_executor(None, self.change)
        self.write("changed")


class OnMessage(WebSocketHandler):
    """Changes the state at each message."""

    def initialize(self, change: Callable[[], object], name: str) -> None:
        self.change = change

    def on_message(self, message):
        self.change()
        self.write_message("changed")


class InWebSocket(Change):
    async def get(self):
        host = self.request.host
        connection = await websocket_connect(f"ws://{host}/_socket/{self.name}")
        await connection.write_message("change")
        self.write(await connection.read_message() or "closed")
        connection.close()


WAYS: dict[str, type[Change]] = {
    "handler": InHandler,
    "prepare": InPrepare,
    "on_finish": InOnFinish,
    "async": InAsyncHandler,
    "callback": InCallback,
    "later": InTimer,
    "periodic": InPeriodicCallback,
    "coroutine": InCoroutine,
    "executor": InExecutor,
    "websocket": InWebSocket,
}


def marked_writer(name: str) -> type[Change]:
    """Return a handler that does what `InHandler` does, and is marked."""
    return transactional(type(f"Writes{name}", (InHandler,), {}))
