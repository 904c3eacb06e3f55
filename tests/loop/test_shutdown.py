"""SIGTERM and Ctrl-C: nothing new is accepted, what runs is answered, exit code 0.

That no child is left is asserted by the fixture that looks for processes.
"""

from __future__ import annotations

import http.client
import signal
import socket
import textwrap
import time
from contextlib import contextmanager

import pytest

from tests.programs import require_uvloop
from tests.scripts import running_script

pytestmark = pytest.mark.slow

WAIT_SECONDS = 30  # what never comes fails the test

HANDLERS = """\
import asyncio, os, signal, sys, time
from pathlib import Path
import txloop
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

@txloop.transactional
class InWorker(RequestHandler):
    def get(self):
        Path("started").touch()
        while not Path("go").exists():
            time.sleep(0.001)
        self.write(f"answered {os.getpid() != os.getppid()}")

never = txloop.TVar(False)

@txloop.transactional
class Waiting(RequestHandler):
    def get(self):
        Path("started").touch()
        if not never.value:
            txloop.retry()

class Coroutine(RequestHandler):
    async def get(self):
        Path("started").touch()
        while not Path("go").exists():
            await asyncio.sleep(0.001)
        self.write("answered by a coroutine")

@txloop.transactional
class Large(RequestHandler):
    def get(self):
        self.write(b"x" * 20_000_000)

class Socket(WebSocketHandler):
    def on_message(self, message):
        pass

class Hello(RequestHandler):
    def get(self):
        self.write("hello")

def listen():
    application = Application(
        [
            ("/hello", Hello),
            ("/socket", Socket),
            ("/worker", InWorker),
            ("/waiting", Waiting),
            ("/coroutine", Coroutine),
            ("/large", Large),
        ]
    )
    sockets = bind_sockets(0, "127.0.0.1")
    server = HTTPServer(application)
    server.add_sockets(sockets)
    print("port", sockets[0].getsockname()[1], flush=True)

async def main():
    listen()
    try:
        await asyncio.Event().wait()
    finally:
        print("cleaned up")

"""

INSTALL = 'txloop.install("processes", 2)\n'
PATIENT = 'txloop.install("processes", 2, drain_seconds=1000)\n'

WAYS_TO_RUN = {
    "start": "listen()\nIOLoop.current().start()\n",
    "asyncio.run": "asyncio.run(main())\n",
    "run_sync": "IOLoop.current().run_sync(main)\n",
    "uvloop": "import uvloop\n"
    "with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:\n"
    "    runner.run(main())\n",
}


def until(done):
    """Wait until `done` returns something true."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not done():
        if time.monotonic() > deadline:
            raise TimeoutError(done)
        time.sleep(0.002)


def refused(port):
    """Tell whether nobody listens on a port any more."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS):
            return False
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:  # it came in the moment of closing
        return False


@contextmanager
def request(program, folder, path):
    """Send a request and yield the connection once it is being served."""
    connection = http.client.HTTPConnection("127.0.0.1", program.port, timeout=40)
    try:
        connection.request("GET", path)
        until((folder / "started").exists)
        yield connection
    finally:
        connection.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("path", ["/worker", "/coroutine"])
@pytest.mark.parametrize("way_to_run", WAYS_TO_RUN)
def test_what_runs_is_answered_and_nothing_new_accepted(
    way_to_run, path, number, tmp_path
):
    if way_to_run == "uvloop":
        require_uvloop()
    text = HANDLERS + INSTALL + WAYS_TO_RUN[way_to_run]

    with (
        running_script(tmp_path, text) as program,
        request(program, tmp_path, path) as connection,
    ):
        program.signal(number)
        until(lambda: refused(program.port))
        assert program.process.poll() is None
        (tmp_path / "go").touch()
        response = connection.getresponse()
        body = response.read()
        ended = program.wait()

    assert 200 == response.status
    assert body.startswith(b"answered")
    assert (0, "") == (ended.exit_code, ended.errors)
    assert (way_to_run != "start") == ("cleaned up" in ended.lines)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("way_to_run", ["start", "asyncio.run", "run_sync"])
def test_an_idle_server_ends_at_once(way_to_run, number, tmp_path):
    """Even if a client keeps a connection open."""
    text = HANDLERS + PATIENT + WAYS_TO_RUN[way_to_run]

    with running_script(tmp_path, text) as program:
        connection = http.client.HTTPConnection("127.0.0.1", program.port, timeout=40)
        connection.request("GET", "/hello")
        connection.getresponse().read()
        program.signal(number)
        ended = program.wait()
        connection.close()

    assert (0, "") == (ended.exit_code, ended.errors)


@pytest.mark.parametrize("way_to_run", ["start", "asyncio.run"])
def test_an_open_websocket_holds_up_nobody(way_to_run, tmp_path):
    text = HANDLERS + PATIENT + WAYS_TO_RUN[way_to_run]
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
    }

    with running_script(tmp_path, text) as program:
        connection = http.client.HTTPConnection("127.0.0.1", program.port, timeout=40)
        connection.request("GET", "/socket", headers=upgrade)
        response = connection.getresponse()
        program.signal(signal.SIGTERM)
        ended = program.wait()
        response.close()
        connection.close()

    assert 101 == response.status
    assert (0, "") == (ended.exit_code, ended.errors)


def test_an_answer_on_its_way_arrives_whole(tmp_path):
    with running_script(tmp_path, HANDLERS + INSTALL + WAYS_TO_RUN["start"]) as program:
        connection = http.client.HTTPConnection("127.0.0.1", program.port, timeout=40)
        connection.request("GET", "/large")
        response = connection.getresponse()
        program.signal(signal.SIGTERM)
        until(lambda: refused(program.port))
        body = response.read()
        connection.close()
        ended = program.wait()

    assert 20_000_000 == len(body)
    assert (0, "") == (ended.exit_code, ended.errors)


def test_what_waits_for_a_change_gets_503(tmp_path):
    with (
        running_script(tmp_path, HANDLERS + PATIENT + WAYS_TO_RUN["start"]) as program,
        request(program, tmp_path, "/waiting") as connection,
    ):
        program.signal(signal.SIGTERM)
        response = connection.getresponse()
        ended = program.wait()

    assert 503 == response.status
    assert 0 == ended.exit_code
    assert "Uncaught exception" not in ended.errors


@pytest.mark.parametrize(("path", "status"), [("/worker", 503), ("/coroutine", None)])
def test_it_ends_when_the_seconds_for_it_are_over(path, status, tmp_path):
    install = 'txloop.install("processes", 2, drain_seconds=0.2)\n'

    with (
        running_script(tmp_path, HANDLERS + install + WAYS_TO_RUN["start"]) as program,
        request(program, tmp_path, path) as connection,
    ):
        program.signal(signal.SIGTERM)
        ended = program.wait()
        if status is not None:
            assert status == connection.getresponse().status

    assert 0 == ended.exit_code
    assert "ended with requests unanswered after 0.2 s" in ended.errors
    assert "Uncaught exception" not in ended.errors


@pytest.mark.parametrize("path", ["/worker", "/coroutine"])
@pytest.mark.parametrize("way_to_run", ["start", "asyncio.run"])
def test_the_second_signal_ends_it_at_once(way_to_run, path, tmp_path):
    with (
        running_script(
            tmp_path, HANDLERS + PATIENT + WAYS_TO_RUN[way_to_run]
        ) as program,
        request(program, tmp_path, path),
    ):
        program.signal(signal.SIGTERM)
        until(lambda: refused(program.port))
        program.signal(signal.SIGINT)
        ended = program.wait()

    assert 0 == ended.exit_code


THREADS = {
    "thread": "threading.Thread(target=run, name='for ever').start()\n",
    "executor": "ThreadPoolExecutor(thread_name_prefix='for ever').submit(run)\n",
}

IMPORT_THREADS = """\
import threading
from concurrent.futures import ThreadPoolExecutor

"""

FOR_EVER = """\
def run():
    while True:
        time.sleep(0.01)

"""

UNTIL_TOLD = """\
told = threading.Event()

def run():
    told.wait()
    print("the thread has ended")

"""


@pytest.mark.parametrize("way_to_run", ["start", "asyncio.run"])
@pytest.mark.parametrize("kind", THREADS)
def test_threads_that_never_end_hold_up_nobody(kind, way_to_run, tmp_path):
    thread = IMPORT_THREADS + FOR_EVER + THREADS[kind]
    text = HANDLERS + INSTALL + thread + WAYS_TO_RUN[way_to_run] + 'print("through")\n'

    with (
        running_script(tmp_path, text) as program,
        request(program, tmp_path, "/worker") as connection,
    ):
        program.signal(signal.SIGTERM)
        (tmp_path / "go").touch()
        body = connection.getresponse().read()
        ended = program.wait()

    assert body.startswith(b"answered")
    assert 0 == ended.exit_code
    assert "ended while threads of the program still run: for ever" in ended.errors
    assert (way_to_run == "start") == ("through" in ended.lines)


@pytest.mark.parametrize("kind", THREADS)
def test_the_main_thread_has_all_the_time_that_it_takes(kind, tmp_path):
    """And threads that end when they are told to are waited for."""
    own_end = """\
until = time.monotonic() + 1.5
while time.monotonic() < until:
    time.sleep(0.1)
print("through")
told.set()
"""
    thread = IMPORT_THREADS + UNTIL_TOLD + THREADS[kind]
    text = HANDLERS + INSTALL + thread + WAYS_TO_RUN["start"] + own_end

    with running_script(tmp_path, text) as program:
        program.signal(signal.SIGTERM)
        ended = program.wait()

    assert (0, "") == (ended.exit_code, ended.errors)
    assert ["through", "the thread has ended"] == ended.lines[-2:]


def caught(lines, printed):
    """Return lines with a handler of Ctrl-C, which prints something."""
    body = textwrap.indent(lines, "    ")
    return (
        f"try:\n{body}except KeyboardInterrupt:\n    print('{printed}', flush=True)\n"
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("way_to_run", WAYS_TO_RUN)
def test_a_program_may_catch_ctrl_c(way_to_run, number, tmp_path):
    """As without us: there it saves what it has. SIGTERM is no error."""
    if way_to_run == "uvloop":
        require_uvloop()
    text = HANDLERS + INSTALL + caught(WAYS_TO_RUN[way_to_run], "saved")

    with running_script(tmp_path, text) as program:
        program.signal(number)
        ended = program.wait()

    assert (0, "") == (ended.exit_code, ended.errors)
    assert (number == signal.SIGINT) == ("saved" in ended.lines)


def test_a_second_interrupt_ends_the_wait_for_threads(tmp_path):
    """As Python has it."""
    thread = IMPORT_THREADS + FOR_EVER + THREADS["thread"]
    text = HANDLERS + INSTALL + thread + caught(WAYS_TO_RUN["start"], "through")

    with running_script(tmp_path, text) as program:
        program.signal(signal.SIGINT)
        assert program.process.stdout is not None
        assert "through\n" == program.process.stdout.readline()
        while program.process.poll() is None:
            program.signal(signal.SIGINT)
            time.sleep(0.1)
        ended = program.wait()

    assert "KeyboardInterrupt" in ended.errors


OWN_HANDLERS = {
    "signal.signal": """
        def own(*_):
            os.write(1, b"own\\n")  # it may have come in the midst of a print
            sys.exit(7)
        signal.signal(signal.SIGTERM, own)
        signal.signal(signal.SIGINT, own)
        """,
    "add_signal_handler": """
        def own(*_):
            os.write(1, b"own\\n")
            os._exit(7)
        IOLoop.current().asyncio_loop.add_signal_handler(signal.SIGTERM, own)
        IOLoop.current().asyncio_loop.add_signal_handler(signal.SIGINT, own)
        """,
}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("own", OWN_HANDLERS)
def test_handlers_of_the_program_are_left_alone(own, number, tmp_path):
    lines = OWN_HANDLERS[own].splitlines()
    own_handler = "".join(f"{line[8:]}\n" for line in lines)

    text = HANDLERS + INSTALL + own_handler + WAYS_TO_RUN["start"]
    with running_script(tmp_path, text) as program:
        program.signal(number)
        ended = program.wait()

    assert (7, "") == (ended.exit_code, ended.errors)
    assert "own" in ended.lines


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_can_be_left_to_python(number, tmp_path):
    install = 'txloop.install("processes", 2, signals=False)\n'

    with running_script(tmp_path, HANDLERS + install + WAYS_TO_RUN["start"]) as program:
        program.signal(number)
        ended = program.wait()

    assert ended.exit_code != 0


def test_workers_leave_when_the_program_is_killed(tmp_path):
    text = HANDLERS + INSTALL + WAYS_TO_RUN["start"]

    with (
        running_script(tmp_path, text) as program,
        request(program, tmp_path, "/worker"),
    ):
        program.signal(signal.SIGKILL)
        ended = program.wait()

    assert -signal.SIGKILL == ended.exit_code


EXITS_BY_ITSELF = """
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))

def end():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0)

@txloop.transactional
class InEffect(RequestHandler):
    def get(self):
        txloop.on_commit(end)

@txloop.transactional
class InBody(RequestHandler):
    def get(self):
        txloop.inevitable()
        end()

sockets = bind_sockets(0, "127.0.0.1")
server = HTTPServer(Application([("/effect", InEffect), ("/body", InBody)]))
server.add_sockets(sockets)
print("port", sockets[0].getsockname()[1], flush=True)
IOLoop.current().start()
"""


@pytest.mark.parametrize("path", ["/effect", "/body"])
def test_a_signal_handler_of_the_program_that_exits_ends_it(path, tmp_path):
    """Whatever it comes across: it is no error of that."""
    with running_script(tmp_path, HANDLERS + INSTALL + EXITS_BY_ITSELF) as program:
        connection = http.client.HTTPConnection("127.0.0.1", program.port, timeout=40)
        connection.request("GET", path)
        ended = program.wait()
        connection.close()

    assert 7 == ended.exit_code
