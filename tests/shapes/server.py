"""Serves shapes on a loop of choice: ``python -m tests.shapes.server stock names``."""

from __future__ import annotations

import asyncio
import importlib
import logging
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from tornado.ioloop import IOLoop
from tornado.web import Application, RequestHandler

import txloop
from tests.logs import Collector
from tests.shapes.shape import load
from tests.shapes.ways import WAYS, OnMessage, marked_writer
from txloop.loop.ioloop import TransactionLoop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.shapes.shape import Shape

WORKERS = 2

collector = Collector()


def transactional() -> bool:
    """Tell whether the loop is not stock Tornado's."""
    return isinstance(IOLoop.current(), TransactionLoop)


class CallFunction(RequestHandler):
    """Runs a marked function as a transaction and answers with its result."""

    def initialize(self, function: Callable[[], object]) -> None:
        self.function = function

    async def get(self):
        self.write(str(await txloop.atomically(self.function)))


class AddCallback(RequestHandler):
    """Adds a marked function as a callback, for which nothing waits."""

    def initialize(self, function: Callable[[], object], way: str) -> None:
        self.function = function
        self.way = way

    def get(self):
        loop = IOLoop.current()
        if self.way == "later":
            loop.call_later(0, self.function)
        else:
            loop.add_callback(self.function)
        self.write("added")


class Total(RequestHandler):
    """Tells what is left behind when nothing runs any more."""

    def initialize(self, total: Callable[[], object]) -> None:
        self.total = total

    async def get(self):
        await asyncio.sleep(0.001)  # for timers that are due
        while transactional() and txloop.stats().pending:  # noqa: ASYNC110 # all of them
            await asyncio.sleep(0.001)
        self.write(repr(self.total()))


class Report(RequestHandler):
    """Tells the figures of all labels, and what was logged."""

    async def get(self):
        figures = txloop.stats().labels if transactional() else ()
        labels = {one.label: asdict(one) for one in figures}
        log = [f"{one.levelname}: {one.getMessage()}" for one in collector.records]
        self.write({"labels": labels, "log": log})


def routes(shape: Shape) -> Iterator[tuple[object, ...]]:
    """Return where a shape is asked, and what is asked around it."""
    path = f"/{shape.name}"
    if shape.is_handler:
        yield path, shape.target, dict(shape.kwargs)
    elif shape.way == "handler" or shape.change is not None:
        yield path, CallFunction, {"function": shape.target}
    else:
        yield path, AddCallback, {"function": shape.target, "way": shape.way}
    if shape.total is not None:
        yield f"/_total{path}", Total, {"total": shape.total}
    if shape.change is not None:
        given = {"change": shape.change, "name": shape.name}
        marked = shape.way == "marked"
        way = marked_writer(shape.name) if marked else WAYS[shape.way]
        yield f"/_change{path}", way, given
        if shape.way == "websocket":
            yield f"/_socket{path}", OnMessage, given


async def serve(modules: list[str]) -> None:
    """Serve the shapes of these modules on a free port, and print it."""
    table = [route for shape in load(*modules) for route in routes(shape)]
    application = Application([*table, ("/_report", Report)])  # type: ignore[list-item] # as Tornado takes them
    for module in modules:
        there = importlib.import_module(f"tests.shapes.ordinary.{module}")
        getattr(there, "prepare", lambda application: None)(application)
    http_server = application.listen(0, "127.0.0.1")
    [socket] = http_server._sockets.values()
    sys.stdout.write(f"port {socket.getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


def main(executor: str, *modules: str) -> None:
    """Serve until the process is ended."""
    collector.setLevel(logging.INFO)
    logging.getLogger().addHandler(collector)
    logging.getLogger("txloop").setLevel(logging.INFO)
    if executor != "stock":
        txloop.install(executor=executor, workers=WORKERS)  # type: ignore[arg-type] # one of its words
    asyncio.run(serve(list(modules)))


if __name__ == "__main__":
    main(*sys.argv[1:])
