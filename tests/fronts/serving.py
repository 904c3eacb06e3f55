"""Programs with fronts, in processes of their own, and their clients on raw sockets.

Fronts are forked processes, or threads where there is no GIL. To tests they are what
has a number of its own to the system: a process's main thread has that of the process.
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.scripts import running_script
from txloop.stm.threads import gil_enabled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.scripts import Running

__all__ = ["FORKED", "Answer", "Client", "Served", "request", "served", "until"]

FORKED = gil_enabled()
"""Whether fronts are forked processes here, and not threads."""

WAIT_SECONDS = 20  # what never comes fails the test

BEGINNING = """\
import asyncio, json, logging, os, signal, socket, sys, threading, time
import txloop
from txloop import TCounter, TDict, TVar, on_commit, transactional
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.netutil import bind_sockets, bind_unix_socket
from tornado.web import (
    Application, HTTPError, RequestHandler, StaticFileHandler, stream_request_body
)
from tornado.websocket import WebSocketHandler

if "STOCK" not in os.environ:
    txloop.install(os.environ["EXECUTOR"], 2)

class Tells(RequestHandler):
    def set_default_headers(self):
        self.set_header("Pid", threading.get_native_id())

@transactional
class Pid(Tells):
    def get(self):
        self.write(f"{threading.get_native_id()}")

class Owner(Tells):
    def get(self):
        self.write(f"{threading.get_native_id()}")

class Stats(RequestHandler):
    def get(self):
        stats = txloop.stats()
        self.write({
            "commits": stats.commits,
            "attempts": stats.attempts,
            "fronts": stats.fronts,
        })

handlers = [("/pid", Pid), ("/owner", Owner), ("/stats", Stats)]
settings, options = {}, {}

"""

END = """

async def main():
    application = Application(handlers, **settings)
    server = HTTPServer(application, **options)
    if "UNIX" in os.environ:
        server.add_socket(bind_unix_socket("socket"))
        print("port 0", flush=True)
    else:
        sockets = bind_sockets(0, os.environ.get("HOST", "127.0.0.1"))
        server.add_sockets(sockets)
        print("port", sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


class Answer(NamedTuple):
    """An answer, as bytes without what differs from one to the next, and its parts."""

    status: int
    pid: int
    body: bytes
    headers: bytes


class Client:
    """One connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        connection.settimeout(WAIT_SECONDS)
        self._unread = b""

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.socket.sendall(data)

    def ask(
        self, path: str, *headers: str, method: str = "GET", body: bytes = b""
    ) -> Answer:
        """Send a request and return its answer."""
        self.send(request(path, *headers, method=method, body=body))
        return self.answer(method)

    def text(self, path: str) -> str:
        """Return the body of an answer that has to be a good one."""
        answer = self.ask(path)
        assert answer.status == 200, answer
        return answer.body.decode()

    def pid(self) -> int:
        """Return which process serves this connection's `/pid`."""
        return int(self.text("/pid"))

    def answer(self, method: str = "GET") -> Answer:
        """Read one answer."""
        head = self._until(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        if status == 100:
            return Answer(status, 0, b"", head)
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        empty = method == "HEAD" or status in (101, 204, 304)
        body = b"" if empty or length is None else self.read(int(length[1]))
        pid = re.search(rb"(?i)\r\npid: (\d+)", head)
        return Answer(status, int(pid[1]) if pid else 0, body, head)

    def rest(self) -> bytes:
        """Return all that comes until the other end closes."""
        parts = [self._unread]
        while data := self.socket.recv(1 << 16):
            parts.append(data)
        self._unread = b""
        return b"".join(parts)

    def until_body(self, mark: bytes) -> None:
        """Wait for some bytes, in an answer of which the rest does not matter."""
        self._until(mark)

    def drop(self) -> None:
        """Close the connection, and begin another one to the same address."""
        address = self.socket.getpeername()
        self.socket.close()
        self.socket = socket.create_connection(address, WAIT_SECONDS)
        self._unread = b""

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._unread:
            self._receive()
        found, _, self._unread = self._unread.partition(mark)
        return found

    def read(self, length: int) -> bytes:
        """Return the next bytes."""
        while len(self._unread) < length:
            self._receive()
        found, self._unread = self._unread[:length], self._unread[length:]
        return found

    def _receive(self) -> None:
        data = self.socket.recv(1 << 16)
        if not data:
            raise EOFError(self._unread)
        self._unread += data

    def close(self) -> None:
        """Close it."""
        self.socket.close()


def request(path: str, *headers: str, method: str = "GET", body: bytes = b"") -> bytes:
    """Return the bytes of a request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: here", *headers]
    if body or method == "POST":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


class Served:
    """A program that is served, with fronts or without."""

    def __init__(
        self, running: Running, folder: Path, stack: ExitStack, host: str
    ) -> None:
        self.running = running
        self.folder = folder
        self.owner = running.process.pid
        self.host = host
        self._stack = stack

    def is_front(self, pid: int) -> bool:
        """Tell whether a process is a front: workers are nicer."""
        return pid not in (0, self.owner) and niceness(pid) == niceness(self.owner)

    def connect(self) -> Client:
        """Return a new connection, closed at the end of the test."""
        if self.running.port:
            connection = socket.create_connection(
                (self.host, self.running.port), WAIT_SECONDS
            )
        else:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(str(self.folder / "socket"))
        client = Client(connection)
        self._stack.callback(client.close)
        return client

    def ask(
        self, path: str, *headers: str, method: str = "GET", body: bytes = b""
    ) -> Answer:
        """Ask on a connection of its own."""
        client = self.connect()
        try:
            return client.ask(path, *headers, method=method, body=body)
        finally:
            client.close()

    def in_front(
        self,
        client: Client,
        path: str,
        *headers: str,
        method: str = "GET",
        body: bytes = b"",
    ) -> Answer:
        """Ask until a front answers: what is short is measured, and may be late."""
        answers: list[Answer] = []

        def answered() -> bool:
            answers.append(client.ask(path, *headers, method=method, body=body))
            return self.is_front(answers[-1].pid)

        until(answered)
        return answers[-1]

    def warm(self, *asks: tuple[str, str, bytes]) -> None:
        """Ask each until the answer comes from a front.

        Args:
            asks: Methods, paths and bodies.
        """
        for method, path, body in asks or [("GET", "/pid", b"")]:
            client = self.connect()
            self.in_front(client, path, method=method, body=body)
            client.close()

    def on_front(self, besides: tuple[int, ...] = ()) -> tuple[Client, int]:
        """Return a connection that a front has, not one of some; and which."""
        found: list[tuple[Client, int]] = []

        def one_more() -> bool:
            client = self.connect()
            try:
                answer = client.ask("/pid")
            except (OSError, EOFError):  # it was given to a front that has just died
                return False
            found.append((client, answer.pid))
            return self.is_front(answer.pid) and answer.pid not in besides

        until(one_more)
        for client, _ in found[:-1]:
            client.close()
        return found[-1]

    def fronts(self) -> set[int]:
        """Return the pids of both fronts; each answers."""
        first, one = self.on_front()
        second, two = self.on_front((one,))
        first.close()
        second.close()
        return {one, two}

    def json(self, path: str) -> Any:
        """Return what an answer has."""
        return json.loads(self.ask(path).body)


def until(done: Callable[[], object], seconds: float = WAIT_SECONDS) -> None:
    """Wait until `done` returns something true."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            raise TimeoutError(done)
        time.sleep(0.003)


def niceness(pid: int) -> int | None:
    """Return how nice a process is; None if it has ended."""
    try:
        return os.getpriority(os.PRIO_PROCESS, pid)
    except ProcessLookupError:
        return None


@contextmanager
def served(
    folder: Path,
    text: str = "",
    *,
    fronts: int | str = 2,
    stock: bool = False,
    warm: bool = True,
    **environment: str,
) -> Iterator[Served]:
    """Serve handlers from a program of their own.

    Args:
        folder: Where it runs.
        text: Defines them and adds them to `handlers`.
        fronts: How many it has; 0 for none, or ``"auto"``.
        stock: Whether by stock Tornado.
        warm: Whether to wait until fronts serve `/pid`.
        environment: Its variables.
    """
    whole = BEGINNING + text + (END if "asyncio.run" not in text else "")
    environment["TXLOOP_FRONTS"] = str(fronts)
    environment.setdefault("EXECUTOR", "processes" if FORKED else "threads")
    if stock:
        environment["STOCK"] = "1"
    with ExitStack() as stack:
        running = stack.enter_context(running_script(folder, whole, **environment))
        host = environment.get("HOST", "127.0.0.1")
        program = Served(running, folder, stack, host)
        if warm and fronts and not stock:
            program.warm()
        yield program
