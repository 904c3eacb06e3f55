"""The cluster as a program sees it: which workers there are, a channel to each.

Dask wants a loop of its own, in which nothing of the program runs: this thread's. What
happens is told to the loop thread, which owns everything else.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import dask
from distributed.comm import connect
from distributed.core import rpc
from distributed.security import Security
from tornado.platform.asyncio import AsyncIOMainLoop

from txloop.executors.dask.channel import Channel
from txloop.executors.dask.local import LocalProcess
from txloop.executors.dask.relay import OPERATION, install_relay
from txloop.executors.dask.stream import Stream, make_installer

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

__all__ = ["Cluster", "Link"]

_POLL_SECONDS = 0.5  # to notice Dask workers that came, left or paused
_FIRST_POLL_SECONDS = 0.05
_PAUSE_SECONDS = 1.0  # before the scheduler is tried again
_PATIENCE_SECONDS = 5.0  # for a connection to be made
_END_SECONDS = 5.0

_OPEN = ("init", "running", "undefined")  # of a Dask worker's states


class _StockLoop(AsyncIOMainLoop):
    """Tornado's loop on this thread; a stock one, as its name is its own."""


class Link:
    """One Dask worker; its methods may be called by the loop thread.

    Attributes:
        address: Its.
        threads: How many calls it may run at once.
        useless: Whether it was let go for good.
        gone: Whether the loop thread knows that it has left.
        open: Whether it wants calls: it does not while it is short of memory. Set by
            the cluster's thread.
    """

    def __init__(self, address: str, threads: int) -> None:
        self.address = address
        self.threads = threads
        self.open = True
        self.channel: Channel | None = None
        self.why = "its connection broke"
        self.useless = self.gone = False
        self.loop = asyncio.get_running_loop()

    def __str__(self) -> str:
        return f"the Dask worker {self.address}"

    def load(self, number: int, image: bytes) -> None:
        """Have a process made there of an image; workers are forked from the newest."""
        self._do(self._send, "image", number, image)

    def spawn(self, number: int, end: socket.socket) -> None:
        """Have a worker forked there, to which this socket leads from now on."""
        self._do(self._join, number, end)

    def kill(self, number: int, signal: int) -> None:
        """Send a signal to a worker there."""
        self._do(self._send, "kill", number, signal)

    def close(self) -> None:
        """Break the connection for good: all that was forked there ends."""
        self.useless = True
        self._do(self.end)

    def _do(self, function: Callable[..., object], *args: object) -> None:
        with suppress(RuntimeError):  # the cluster was closed
            self.loop.call_soon_threadsafe(function, *args)

    def _send(self, *message: object) -> None:
        if self.channel is not None:
            self.channel.send(*message)

    def _join(self, number: int, end: socket.socket) -> None:
        if self.channel is None:
            end.close()
            return
        self.channel.send("spawn", number)
        self.channel.join(number, end)

    def end(self, why: str = "it was let go") -> None:
        """Do that, on the cluster's thread."""
        if self.channel is not None:
            self.why = why
            self.channel.close()


class Cluster:
    """The thread that talks to Dask.

    It tells the loop thread, by `tell`: ``"joined", link``; ``"left", link, why``;
    ``"refused", link, why``; ``"lost", why``; ``"found", address, count``;
    ``"changed"``; ``"unshown", why``; ``"message", link, message`` of the relay's.
    """

    def __init__(
        self,
        workers: int,
        versions: Mapping[str, str],
        stream: Stream,
        tell: Callable[..., object],
    ) -> None:
        """Make the thread, which `start` starts.

        Args:
            workers: How many processes a local cluster has, if none is configured.
            versions: What Dask workers must have; see `differences`.
            stream: What the scheduler is told to show.
            tell: Called in this thread with what happens.
        """
        self._workers = workers
        self._versions = dict(versions)
        self._stream = stream
        self._installer = make_installer()
        self._tell = tell
        self._thread = threading.Thread(
            target=self._run, name="txloop and Dask", daemon=True
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = threading.Event()
        self._main: asyncio.Task[None] | None = None
        self._links: dict[str, Link] = {}
        self._refused: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    # On the loop thread

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """End it, and wait for it, but not for long."""
        self._ended.set()
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # it has ended
                loop.call_soon_threadsafe(self._cancel)
        self._thread.join(_END_SECONDS)

    # On its own thread

    def _run(self) -> None:
        asyncio.run(self._live())

    def _cancel(self) -> None:
        if self._main is not None:
            self._main.cancel()

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        _StockLoop()  # Tornado keeps it as long as this loop is open
        self._main = asyncio.ensure_future(self._follow_scheduler())
        if self._ended.is_set():  # before there was something to cancel
            self._main.cancel()
        with suppress(asyncio.CancelledError):
            await self._main
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _follow_scheduler(self) -> None:
        with contextlib.ExitStack() as at_the_end:
            address = dask.config.get("scheduler-address", None)
            while True:
                # Whatever Dask, its configuration or a certificate raises: should this
                # thread end, calls would wait for the cluster for ever.
                try:
                    if address is None:
                        local = LocalProcess(self._workers)
                        at_the_end.callback(local.close)
                        address = local.address
                    # Not a `Client`, which keeps trying for half a minute before it
                    # says so.
                    secured = Security().get_connection_args("client")
                    async with rpc(
                        address, timeout=_PATIENCE_SECONDS, connection_args=secured
                    ) as scheduler:
                        await self._follow(scheduler, secured)
                except Exception as error:
                    where = f"{address}: " if address else ""
                    self._tell("lost", f"{where}{_said(error)}")
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _follow(self, scheduler: Any, secured: dict[str, Any]) -> None:
        """Keep up with which Dask workers there are, until the scheduler is lost."""
        found = shows = False
        while True:
            info = await scheduler.identity()
            if not found:
                found = True
                self._tell("found", info["address"], len(info["workers"]))
                shows = await self._prepare_to_show(scheduler)
            ended = self._stream.take()
            if ended and shows:
                await scheduler.txloop_ended(ended=ended)
            there = info["workers"]
            for address, about in there.items():
                link = self._links.get(address)
                if link is not None:
                    opened = about["status"] in _OPEN
                    if link.open != opened:
                        link.open = opened
                        self._tell("changed")
                elif address not in self._refused and about["status"] in _OPEN:
                    link = self._links[address] = Link(address, about["nthreads"])
                    self._start(self._serve(secured, link))
            for address in self._links.keys() - there.keys():
                self._links[address].end("the scheduler has lost it")
            self._refused &= there.keys()
            await asyncio.sleep(_POLL_SECONDS if there else _FIRST_POLL_SECONDS)

    async def _prepare_to_show(self, scheduler: Any) -> bool:
        """Let the scheduler show calls; tell whether it does."""
        answer = await scheduler.run_function(
            function=self._installer, args=(), kwargs={}, wait=True
        )
        shows: bool = answer["status"] == "OK"
        if not shows:
            self._tell("unshown", answer.get("exception_text", answer["status"]))
        return shows

    def _start(self, coroutine: Any) -> None:
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, secured: dict[str, Any], link: Link) -> None:
        """Be connected to a Dask worker as long as it is there."""
        try:
            link.channel = await self._connect(secured, link)
            if link.channel is not None:
                self._tell("joined", link)
                await link.channel.run(lambda: self._tell("left", link, link.why))
        except Exception as error:  # whatever Dask raises: the others are served
            self._refuse(link, _said(error))
        finally:
            if link.useless:
                self._refused.add(link.address)
            del self._links[link.address]

    async def _connect(self, secured: dict[str, Any], link: Link) -> Channel | None:
        """Return a channel to a Dask worker; None if its versions are others."""
        async with rpc(
            link.address, timeout=_PATIENCE_SECONDS, connection_args=secured
        ) as worker:
            answer = await worker.run(function=pickle.dumps(install_relay))
        if answer["status"] != "OK":
            raise OSError(answer["exception_text"])
        comm = await connect(link.address, timeout=_PATIENCE_SECONDS, **secured)
        await comm.write({"op": OPERATION, "reply": False, "versions": self._versions})
        ((answer, *reason),) = await comm.read()
        if answer == "refused":
            comm.abort()
            self._refuse(link, reason[0])
            return None
        return Channel(comm, lambda *message: self._tell("message", link, message))

    def _refuse(self, link: Link, reason: str) -> None:
        self._refused.add(link.address)
        self._tell("refused", link, reason)


def _said(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [repr(error)])[-1]
