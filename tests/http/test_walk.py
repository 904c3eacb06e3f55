"""One request's way through the modules, as ARCHITECTURE.md tells it.

It has two lists, of the short way and of the way through a worker: the modules whose
functions the loop's process calls for one request, in the order of first entry.
"""

from __future__ import annotations

import gc
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tornado.web import Application, RequestHandler

import txloop
from tests.serving import serving
from txloop.loop.ioloop import TransactionIOLoop
from txloop.stm.threads import _AskedByAll
from txloop.watch import limits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from tests.serving import Server

ROOT = Path(__file__).parents[2]
PACKAGE = f"{Path(txloop.__file__).parent}/"
PAGE = ROOT / "ARCHITECTURE.md"

REQUEST = b"POST /ann/bob/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"

WARM = 3
"""Requests before the one that counts: applications are judged, functions imported."""

accounts = txloop.TDict({"ann": 100, "bob": 100})


@txloop.transactional
class Transfer(RequestHandler):
    """The one of README."""

    def post(self, giver: str, taker: str, amount: str) -> None:
        accounts[giver] -= int(amount)
        accounts[taker] += int(amount)
        self.write(accounts)  # type: ignore[arg-type] # see web/containers.py


class Walk:
    """The modules of txloop that this thread enters, in the order of first entry."""

    def __init__(self) -> None:
        self.modules: dict[str, None] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Take what `sys.setprofile` tells."""
        file = frame.f_code.co_filename
        if frame.f_code is _AskedByAll.get.__code__:  # without the GIL: a dict's `get`
            return
        if event == "call" and file.startswith(PACKAGE):
            self.modules.setdefault(file.removeprefix(PACKAGE).removesuffix(".py"))


def walk_of_one_request(server: Server, *, away: bool) -> list[str]:
    """Return the modules that a request passes, on a connection that is open already.

    Args:
        server: Serves it.
        away: Whether it runs in the worker; else right where it has arrived.
    """
    assert isinstance(server.loop, TransactionIOLoop)
    executor = server.loop.dispatcher.executor
    executor.transport_seconds = 0.0 if away else 3600.0
    for _ in range(WARM):
        server.fetch("POST", "/ann/bob/1", body=b"")
    for profile in server.loop.dispatcher.profiles._profiles.values():
        profile.here.seconds = 1e-5  # on a machine with much to do it may look long
    walk = Walk()

    async def ask() -> None:
        async with server.connection() as (reader, writer):
            await server.pause()
            sys.setprofile(walk)
            try:
                writer.write(REQUEST)
                answer = await server.read(reader, "POST")
                await server.pause()
            finally:
                sys.setprofile(None)
            assert 200 == answer.status

    gc.collect()
    gc.disable()
    try:
        server.run(ask)
    finally:
        gc.enable()
    return list(walk.modules)


def make_application() -> Application:
    return Application([(r"/(\w+)/(\w+)/(\d+)", Transfer)])


@pytest.fixture
def server(monkeypatch) -> Iterator[Server]:
    """Serve it with one worker, and nothing that depends on time.

    Plain objects are looked at in each request, as where there are few requests, and
    no timer looks after the worker meanwhile.
    """
    monkeypatch.setattr(limits, "STALE_SECONDS", 0.0)
    monkeypatch.setattr(limits, "FIRST_RUNS", sys.maxsize)
    with serving("processes", make_application, workers=1) as server:
        server.limits.look_seconds = 1000.0
        yield server


def told(way: str) -> list[str]:
    """Return the list of the page that stands under a heading."""
    text = PAGE.read_text()
    section = re.split(rf"^### {way}.*$", text, flags=re.MULTILINE)[1]
    section = re.split(r"^##", section, flags=re.MULTILINE)[0]
    return re.findall(r"^\d+\. `([\w/]+)`", section, re.MULTILINE)


@pytest.mark.parametrize(
    ("way", "away", "most"), [("The short way", False, 29), ("The way away", True, 56)]
)
def test_the_page_tells_the_way_of_a_request(way, away, most, server):
    """A request passes no more modules than there were when this was written."""
    walked = walk_of_one_request(server, away=away)

    assert told(way) == walked
    assert len(walked) <= most
    assert f"### {way}: {len(walked)} modules" in PAGE.read_text()
