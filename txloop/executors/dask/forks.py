"""Forked workers of this machine, beside those of the cluster.

They are forked as beside a Dask worker: by a process that has loaded the program's
image. So both kinds know the same, and are renewed together. To fork them from the
program's own process was rejected: it has threads, the one that talks to Dask among
them, so none could be made anew when the program has changed. A worker's socket leads
to the loop thread directly, so the way is as short as to any forked worker.
"""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from txloop.executors.dask.host import Host, Template, living

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.executors.protocol import Reactor

__all__ = ["LocalForks"]

_END_SECONDS = 2.0  # for a host to end its workers


class LocalForks:
    """A `Link` to this machine, without Dask; owned by the loop thread.

    Attributes:
        address: What tells it from Dask workers.
        threads: How many workers it has.
        gone: Never: it is here.
        open: Always: it wants calls.
    """

    address = "this machine"
    gone = False
    open = True

    def __init__(self, threads: int, tell: Callable[..., object]) -> None:
        """Begin without processes, which `load` starts.

        Args:
            threads: How many workers.
            tell: Called with what happens, in any thread: ``"message"``, this, and a
                message as of a relay.
        """
        self.threads = threads
        self._tell = tell
        self._template: Template | None = None
        self._hosts: list[Host] = []  # the last is the newest
        # What may take long, in its order: an image is loaded before it is forked.
        self._steps = ThreadPoolExecutor(1, "txloop's local workers")
        self._reactor: Reactor | None = None

    def __str__(self) -> str:
        return self.address

    def attach(self, reactor: Reactor) -> None:
        """Let `reactor` watch over the processes."""
        if self._reactor is None:
            self._reactor = reactor
            for host in self._hosts:
                reactor.add_reader(host.control.fileno(), self.read_reports)

    def load(self, number: int, image: bytes) -> None:
        """Have a process made of an image; workers are forked from the newest."""
        try:
            self._template = living(self._template)
            host = Host(self._template, number)
        except OSError as error:
            self._refuse(f"no process can be started ({error})")
            return
        self._hosts.append(host)
        if self._reactor is not None:
            self._reactor.add_reader(host.control.fileno(), self.read_reports)
        self._steps.submit(self._load, host, image)

    def spawn(self, number: int, end: socket.socket) -> None:
        """Have a worker forked, which has this socket from now on."""
        if self._hosts:
            self._steps.submit(_pass_on, self._hosts[-1], number, end)
        else:
            end.close()

    def read_reports(self) -> None:
        """Tell what has become of workers, and of the processes that fork them."""
        for host in self._hosts[:]:
            try:
                reports = host.reports()
            except EOFError:
                newest = host is self._hosts[-1]
                self._drop(host)
                if newest:
                    self._tell("message", self, ("ended",))
                continue
            for one in reports:
                report = "report", one.number, one.pid, one.status
                self._tell("message", self, report)

    def close(self) -> None:
        """End all, and wait for it, but not for long."""
        for host in self._hosts:
            with suppress(OSError):
                host.control.shutdown(socket.SHUT_WR)
        for host in self._hosts[:]:
            host.control.settimeout(_END_SECONDS)
            with suppress(OSError):
                while host.control.recv(64):
                    pass
            self._drop(host)
        if self._template is not None:
            self._template.control.close()
            self._template.process.wait()
            self._template = None
        self._steps.shutdown()  # what it waited for has ended

    def _drop(self, host: Host) -> None:
        if self._reactor is not None:
            self._reactor.remove_reader(host.control.fileno())
        self._hosts.remove(host)
        host.close()

    def _load(self, host: Host, image: bytes) -> None:
        """Have an image loaded; on a thread of its own."""
        try:
            trouble = host.load(image)
        except OSError as error:
            trouble = str(error)
        if trouble:
            self._refuse(f"it cannot load the program: {trouble}")

    def _refuse(self, why: str) -> None:
        self._tell("message", self, ("refused", why))


def _pass_on(host: Host, number: int, end: socket.socket) -> None:
    """Let a host fork a worker; if it is gone, the other end says so."""
    with end, suppress(OSError):
        host.give(number, end)
