"""What txloop adds to a Dask worker: a handler that connects programs with workers.

A program connects to it, over Dask's own connections, and then each message goes to a
process that was forked beside this one (`host`), or comes from there.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from distributed.core import Status

from txloop.executors.dask.channel import Channel
from txloop.executors.dask.host import Host, Template, living
from txloop.executors.dask.versions import differences

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from distributed import Worker
    from distributed.comm import Comm

__all__ = ["OPERATION", "install_relay"]

T = TypeVar("T")

OPERATION = "txloop"
"""What the handler is called among those of the Dask worker."""


def install_relay(dask_worker: Worker) -> None:
    """Add the handler to a Dask worker, if it is not there; runs in it."""
    if OPERATION not in dask_worker.handlers:
        dask_worker.handlers[OPERATION] = _Relays().serve


class _Relays:
    """The handler of one Dask worker, and the template that all programs share."""

    def __init__(self) -> None:
        self._template: Template | None = None

    async def serve(self, comm: Comm, versions: dict[str, str]) -> Any:
        """Serve a program until its connection breaks."""
        different = differences(versions)
        await comm.write([("refused", different) if different else ("ready",)])
        if not different:
            await _Relay(self, comm).run()
        return Status.dont_reply

    def template(self) -> Template:
        """Return the living template."""
        template = self._template = living(self._template)
        with suppress(EOFError):
            template.reports()  # so that there is room for more
        return template


class _Relay:
    """One program's side of a Dask worker; of the thread of its loop."""

    def __init__(self, relays: _Relays, comm: Comm) -> None:
        self._relays = relays
        self._channel = Channel(comm, self._take, self._report)
        self._loop = asyncio.get_running_loop()
        self._loading: asyncio.Future[Host | None] | None = None
        self._hosts: list[Host] = []
        self._pids: dict[int, int] = {}  # of workers, by number
        self._tasks: set[asyncio.Future[Any]] = set()

    async def run(self) -> None:
        """Serve until the connection breaks; then all that was forked ends."""
        try:
            await self._channel.run()
        finally:
            for task in self._tasks:
                task.cancel()
            for host in self._hosts:
                self._loop.remove_reader(host.control.fileno())
                host.close()

    def _take(self, kind: str, number: int, *rest: Any) -> None:
        if kind == "image":
            self._loading = self._start(self._load(number, *rest))
        elif kind == "spawn":
            self._start(self._spawn(number))
        elif kind == "kill" and number in self._pids:
            with suppress(ProcessLookupError):
                os.kill(self._pids[number], *rest)

    def _start(self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Future[T]:
        task: asyncio.Future[T] = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _load(self, number: int, image: bytes) -> Host | None:
        """Have a program loaded; those before it stay for the workers they have."""
        try:
            host = Host(self._relays.template(), number)
        except OSError as error:
            self._channel.send("refused", f"no process can be started ({error})")
            return None
        trouble = await self._loop.run_in_executor(None, host.load, image)
        if trouble:
            host.close()
            self._channel.send("refused", f"it cannot load the program: {trouble}")
            return None
        self._hosts.append(host)
        self._loop.add_reader(host.control.fileno(), self._report)
        self._channel.send("loaded", number)
        return host

    async def _spawn(self, number: int) -> None:
        assert self._loading is not None
        host = await asyncio.shield(self._loading)
        if host is None:
            return
        try:
            self._channel.join(number, host.spawn(number))
        except OSError:  # it has died
            self._channel.send("end", number)

    def _report(self) -> None:
        """Tell the program what became of workers."""
        for host in self._hosts[:]:
            try:
                reports = host.reports()
            except EOFError:
                self._loop.remove_reader(host.control.fileno())
                host.close()
                self._hosts.remove(host)
                continue
            for one in reports:
                if one.status is None:
                    self._pids[one.number] = one.pid
                else:
                    self._pids.pop(one.number, None)
                self._channel.send("report", one.number, one.pid, one.status)
