"""Events as they happen, over WebSockets.

Unmarked, so all of it runs on the loop thread. One transaction waits for events on
behalf of all sockets. Each socket is sent one message at a time, as fast as its client
takes them: who is slow gets more events in each message and holds up nobody.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import tornado.ioloop
import tornado.websocket

import txloop
from handlers.astar_errors import Refused
from handlers.astar_input import read_version
from handlers.astar_requests import event_as_json

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from handlers.astar_events import EventLog

__all__ = ["Live", "LiveHandler"]

_MOST_EVENTS = 1000
"""In one message; the next one takes the rest."""

_STATS_MILLISECONDS = 1000
_AGAIN_SECONDS = 0.2
_TOO_SLOW = 4410  # as 410 over HTTP; the codes from 4000 on are the program's own


class Live:
    """The open sockets of one game; owned by the loop thread.

    Args:
        log: What they follow.
    """

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self._sockets: set[LiveHandler] = set()
        self._following: asyncio.Task[None] | None = None
        self._ticking: tornado.ioloop.PeriodicCallback | None = None
        self._newest: tuple[int, int, str] | None = None

    def add(self, socket: LiveHandler) -> None:
        """Take in a socket that has been opened."""
        self._sockets.add(socket)
        if self._following is None:
            self._following = asyncio.create_task(self._follow())
            tick = tornado.ioloop.PeriodicCallback(self._tick, _STATS_MILLISECONDS)
            self._ticking = tick
            tick.start()

    def remove(self, socket: LiveHandler) -> None:
        """Let go of a socket that has been closed."""
        self._sockets.discard(socket)
        if not self._sockets and self._following is not None:
            assert self._ticking is not None
            self._ticking.stop()
            self._following.cancel()
            self._following = None

    def message(self, since: int) -> tuple[int, str] | None:
        """Return the version after the next message, and the message; None: not yet.

        Raises:
            Refused: those events are not kept any more.
        """
        newest = self.log.version
        # Nearly always all sockets are sent the same.
        if self._newest is None or self._newest[:2] != (since, newest):
            events = self.log.since(since)[:_MOST_EVENTS]
            if not events:
                return None
            shown = [event_as_json(version, event) for version, event in events]
            text = json.dumps({"events": shown})
            self._newest = (since, newest, text)
            return events[-1][0], text
        return min(newest, since + _MOST_EVENTS), self._newest[2]

    async def _follow(self) -> None:
        version = self.log.version
        while True:
            try:
                version = await txloop.atomically(_wait_beyond, self.log, version)
            except txloop.TxClosedError:
                return
            except txloop.TxError:  # the server has too much to do, or lost workers
                await asyncio.sleep(_AGAIN_SECONDS)
                continue
            for socket in self._sockets:
                socket.push()

    def _tick(self) -> None:
        text = stats_message()
        for socket in self._sockets:
            socket.show(text)


def _wait_beyond(log: EventLog, version: int) -> int:
    """Return the newest version, once it is another one."""
    newest = log.version
    if newest == version:
        txloop.retry()
    return newest


def stats_message() -> str:
    """Return what the loop has done so far, as a message."""
    stats = txloop.stats()
    # Labels are "GET MapHandler" for requests and plain names for functions.
    requests = sum(one.commits for one in stats.labels if " " in one.label)
    shown = {"requests": requests, "commits": stats.commits, "conflicts": stats.aborts}
    return json.dumps({"stats": shown})


class LiveHandler(tornado.websocket.WebSocketHandler):
    """``/live?since=VERSION``: the events after it, then each one at its commit.

    Without `since`, from now on. With ``stats=1`` the loop's figures come too, once
    a second. Messages are ``{"events": [...]}`` as from ``/events``, or
    ``{"stats": {...}}``. What the client sends is ignored.
    """

    def initialize(self, live: Live) -> None:
        """Take what the socket belongs to."""
        self._live = live
        self._version = 0
        self._wants_stats = False
        self._stats: str | None = None
        self._pushing: asyncio.Task[None] | None = None

    async def get(self, *args: str, **kwargs: str) -> None:
        """Open the socket, or answer what is wrong."""
        log = self._live.log
        try:
            since = self.get_query_argument("since", None)
            self._version = log.version if since is None else read_version(since)
            log.since(self._version)
        except Refused as refused:
            self.set_status(refused.status)
            self.finish({"error": str(refused)})
            return
        self._wants_stats = self.get_query_argument("stats", "0") == "1"
        await super().get(*args, **kwargs)

    def open(self, *args: str, **kwargs: str) -> Awaitable[None] | None:
        """Start sending."""
        self._live.add(self)
        if self._wants_stats:
            self._stats = stats_message()
        self.push()
        return None

    def on_message(self, message: str | bytes) -> None:
        """Ignore it."""

    def on_close(self) -> None:
        """Stop sending."""
        self._live.remove(self)
        if self._pushing is not None:
            self._pushing.cancel()

    def push(self) -> None:
        """Have everything sent that the client does not have yet."""
        if self._pushing is None:
            self._pushing = asyncio.create_task(self._push())

    def show(self, stats: str) -> None:
        """Have the figures sent, if they were asked for, in place of older ones."""
        if self._wants_stats:
            self._stats = stats
            self.push()

    async def _push(self) -> None:
        try:
            while (text := self._next_message()) is not None:
                await self.write_message(text)
        except Refused as refused:
            self.close(_TOO_SLOW, str(refused))
        except tornado.websocket.WebSocketClosedError:
            pass  # `on_close` is on its way
        finally:
            self._pushing = None

    def _next_message(self) -> str | None:
        text, self._stats = self._stats, None
        if text is None and (message := self._live.message(self._version)) is not None:
            self._version, text = message
        return text

    def write_error(self, status_code: int, **kwargs: object) -> None:
        """Write what Tornado itself refuses as JSON, as all of the game does."""
        self.finish({"error": f"{status_code} {self._reason}"})
