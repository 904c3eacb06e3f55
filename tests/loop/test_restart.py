"""A new process takes the port over while the old one drains: no request fails."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections import Counter
from contextlib import ExitStack, suppress

import pytest

from tests.flags import until
from tests.messages import Request, read_answer
from tests.scripts import running_script

pytestmark = pytest.mark.slow

CLIENTS = 6
RESTARTS = 3

SERVER = """\
import asyncio, os, sys, time
import txloop
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

@txloop.transactional
class Marked(RequestHandler):
    def get(self):
        time.sleep(0.002)
        self.write(os.environ["NAME"])

    def post(self):
        self.write(f"{len(self.request.body)}")

class Unmarked(RequestHandler):
    async def get(self):
        await asyncio.sleep(0.002)
        self.write(os.environ["NAME"])

async def main():
    application = Application([("/marked", Marked), ("/unmarked", Unmarked)])
    sockets = bind_sockets(
        int(os.environ["PORT"]), "127.0.0.1", reuse_port=True, backlog=1000
    )
    server = HTTPServer(application)
    server.add_sockets(sockets)
    print("port", sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()

txloop.install("processes", 2)
asyncio.run(main())
"""


@pytest.fixture
def port():
    """Return a port that nobody else is given meanwhile."""
    with socket.socket() as placeholder:
        placeholder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        placeholder.bind(("127.0.0.1", 0))
        yield placeholder.getsockname()[1]


class Load:
    """Clients that send one request after another until they are told to stop."""

    def __init__(self, port):
        self.port = port
        self.ending = False
        self.answered = Counter[str]()
        self.failed: list[str] = []

    async def keep_alive(self, path):
        """Send on one connection for as long as the server keeps it open."""
        while not self.ending:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            try:
                while not self.ending:
                    answer = await self.exchange(Request("GET", path), reader, writer)
                    if answer is None or answer.header("Connection") == "close":
                        break
            finally:
                writer.close()

    async def connect_anew(self, path):
        """Send each request on a connection of its own."""
        request = Request("GET", path, {"Connection": "close"})
        while not self.ending:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            try:
                await self.exchange(request, reader, writer)
            finally:
                writer.close()

    async def exchange(self, request, reader, writer):
        """Send one request and note down what becomes of it."""
        try:
            writer.write(request.encoded())
            answer = await read_answer(reader, request.method)
        except (OSError, EOFError) as error:
            self.failed.append(f"{request}: {error!r}")
            return None
        if answer.status == 200:
            self.answered[answer.body.decode()] += 1
        else:
            self.failed.append(f"{request}: {answer}")
        return answer

    async def until_served_by(self, name, more):
        """Wait until a server has answered so many requests more."""
        before = self.answered[name]
        await until(lambda: self.answered[name] >= before + more)


def start(programs, folder, name, port):
    """Start a server of that name, which may share the port with others."""
    (folder / name).mkdir()
    return programs.enter_context(
        running_script(folder / name, SERVER, PORT=str(port), NAME=name)
    )


async def restart_under_load(programs, folder, port):
    """Replace the server several times while clients send what they can."""
    load = Load(port)
    old = await asyncio.to_thread(start, programs, folder, "server0", port)
    async with asyncio.TaskGroup() as clients:
        for _ in range(CLIENTS):
            for path in ("/marked", "/unmarked"):
                clients.create_task(load.keep_alive(path))
                clients.create_task(load.connect_anew(path))
        await load.until_served_by("server0", 100)
        for number in range(1, RESTARTS + 1):
            name = f"server{number}"
            new = await asyncio.to_thread(start, programs, folder, name, port)
            await load.until_served_by(name, 20)
            old.signal(signal.SIGTERM)
            ended = await asyncio.to_thread(old.wait)
            assert (0, "") == (ended.exit_code, ended.errors)
            await load.until_served_by(name, 100)
            old = new
        load.ending = True
    old.signal(signal.SIGTERM)
    await asyncio.to_thread(old.wait)
    return load


@pytest.mark.timeout(90)
def test_no_request_fails_while_servers_are_replaced(port, tmp_path):
    with ExitStack() as programs:
        load = asyncio.run(restart_under_load(programs, tmp_path, port))

    assert [] == load.failed
    assert {f"server{number}" for number in range(RESTARTS + 1)} == set(load.answered)
    assert load.answered.total() > 100 * (RESTARTS + 1)


def test_who_waits_in_the_queue_is_answered(tmp_path):
    """Connections that the kernel has accepted and Tornado has not yet seen."""
    text = SERVER.replace("await asyncio.Event().wait()", BUSY_UNTIL_TOLD)

    with ExitStack() as programs:
        program = programs.enter_context(
            running_script(tmp_path, text, PORT="0", NAME="busy")
        )
        clients = [
            programs.enter_context(
                socket.create_connection(("127.0.0.1", program.port), timeout=40)
            )
            for _ in range(20)
        ]
        for client in clients:
            client.sendall(Request("GET", "/marked").encoded())
        program.signal(signal.SIGTERM)
        (tmp_path / "go").touch()
        answers = [read_all(client) for client in clients]
        ended = program.wait()

    assert [True] * 20 == [answer.startswith(b"HTTP/1.1 200") for answer in answers]
    assert [True] * 20 == [b"Connection: close" in answer for answer in answers]
    assert (0, "") == (ended.exit_code, ended.errors)


BUSY_UNTIL_TOLD = """\
from pathlib import Path
    while not Path("go").exists():
        time.sleep(0.001)
    await asyncio.Event().wait()"""


def read_all(client):
    """Return what comes until the server closes the connection."""
    received = b""
    with suppress(ConnectionResetError):
        while data := client.recv(65536):
            received += data
    return received


@pytest.fixture
def program(tmp_path):
    """Run a server that has the port for itself."""
    with running_script(tmp_path, SERVER, PORT="0", NAME="alone") as running:
        yield running


def connected(program):
    """Connect to a server."""
    return socket.create_connection(("127.0.0.1", program.port), timeout=40)


def test_a_body_on_its_way_is_waited_for(program):
    request = Request("POST", "/marked", {"Content-Length": "10"}).encoded()

    with connected(program) as client, connected(program) as other:
        client.sendall(request + b"12345")
        told = b""
        other.sendall(Request("GET", "/unmarked").encoded())
        other.recv(65536)  # the first one has arrived, too
        program.signal(signal.SIGTERM)
        with suppress(ConnectionResetError, BrokenPipeError):
            while b"Connection: close" not in told:
                other.sendall(Request("GET", "/unmarked").encoded())
                told = other.recv(65536)
        client.sendall(b"67890")
        answer = read_all(client)
    ended = program.wait()

    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"\r\n\r\n10")
    assert (0, "") == (ended.exit_code, ended.errors)


def test_a_request_on_an_open_connection_is_answered_as_the_last_one(program):
    with connected(program) as client:
        client.sendall(Request("GET", "/unmarked").encoded())
        first = client.recv(65536)
        program.signal(signal.SIGTERM)
        client.sendall(Request("GET", "/marked").encoded())
        second = read_all(client)
    ended = program.wait()

    assert b"Connection: close" not in first
    assert second.startswith(b"HTTP/1.1 200")
    assert b"Connection: close" in second
    assert (0, "") == (ended.exit_code, ended.errors)
