"""Programs that become other processes: reloaded, forked, daemons."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import pytest

from tests.processes import children_of, descendants
from tests.scripts import ROOT, run_script, running_script

pytestmark = pytest.mark.slow

WAIT_SECONDS = 30  # what never comes fails the test

SERVER = """\
import asyncio, os, sys, time
from pathlib import Path
import txloop
from tornado import autoreload
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop, PeriodicCallback
from tornado.netutil import bind_sockets
from tornado.process import fork_processes, task_id
from tornado.web import Application, RequestHandler

count = txloop.TDict(n=0)

@txloop.transactional
class Counting(RequestHandler):
    def get(self):
        count["n"] += 1
        time.sleep(0.001)  # long enough to be sent away
        loop = self.settings["loop"]
        self.write({"n": count["n"], "worker": os.getpid(), "loop": loop})

def children():
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()

def listen(sockets):
    HTTPServer(make_application()).add_sockets(sockets)

def make_application():
    return Application([("/", Counting)], loop=os.getpid())

def say_port(sockets):
    print("port", sockets[0].getsockname()[1], flush=True)
"""


def until(done):
    """Wait until `done` returns something true, and return it."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not (result := done()):
        if time.monotonic() > deadline:
            raise TimeoutError(done)
        time.sleep(0.005)
    return result


def get(port):
    """Return what the server's counter says, or None where nobody answers."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as client:
        client.settimeout(WAIT_SECONDS)
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        received = b""
        while data := client.recv(65536):
            received += data
        if received.startswith(b"HTTP/1.1 200"):
            return json.loads(received.partition(b"\r\n\r\n")[2])
    return None


def is_alive(pid):
    """Tell whether there is such a process, be it a zombie."""
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


RELOADED = (
    SERVER
    + """
async def main():
    print("children", children(), flush=True)
    sockets = bind_sockets(int(os.environ["PORT"]), "127.0.0.1")
    listen(sockets)
    autoreload.watch("watched")
    autoreload.start(check_time=20)
    # It finds a change once it has looked; timers ring in the order of their times.
    looked = asyncio.Event()
    PeriodicCallback(looked.set, 40).start()
    await looked.wait()
    say_port(sockets)
    await asyncio.Event().wait()

txloop.install("processes", 2)
asyncio.run(main())
"""
)


@contextmanager
def free_port():
    """Keep a port from others; the program must bind it again and again."""
    with socket.socket() as placeholder:
        placeholder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        placeholder.bind(("127.0.0.1", 0))
        yield placeholder.getsockname()[1]


@pytest.mark.timeout(90)
def test_autoreload_ends_the_workers_and_the_new_program_serves(tmp_path):
    watched = tmp_path / "watched"
    watched.touch()

    with (
        free_port() as port,
        running_script(tmp_path, RELOADED, PORT=str(port)) as program,
    ):
        output = program.process.stdout
        assert output is not None
        old: set[int] = set()
        for number in range(1, 4):
            answer = get(port)
            old |= descendants(program.process.pid)
            assert 1 == answer["n"]
            assert answer["worker"] in old
            assert answer["loop"] == program.process.pid
            os.utime(watched, (number, number))
            said: list[str] = []
            while not said or "port" not in said[-1]:
                said.append(output.readline())
            assert "children []\n" in said
            until(lambda old=tuple(old): not any(map(is_alive, old)))
        program.signal(signal.SIGTERM)
        ended = program.wait()

    assert (0, "") == (ended.exit_code, ended.errors)


SCRIPT_THAT_ENDS = (
    SERVER
    + """
async def main():
    print("result", await txloop.atomically(os.getpid) != os.getpid(), flush=True)
    print("children", before, flush=True)

before = children()
print("pid", os.getpid(), flush=True)
txloop.install("processes", 2)
IOLoop.current().run_sync(main)
"""
)


@pytest.mark.timeout(90)
def test_python_m_autoreload_runs_a_program_again_and_again(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(SCRIPT_THAT_ENDS)

    with subprocess.Popen(
        [sys.executable, "-m", "tornado.autoreload", "-m", "program"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        runs = []
        for _ in range(3):
            runs.append([process.stdout.readline() for _ in range(3)])
            workers = until(lambda: descendants(process.pid))
            until(lambda workers=workers: touched(script, workers))
        # A signal would be the end of one more run, if that has begun just now.
        process.kill()
        process.communicate(timeout=WAIT_SECONDS)

    expected = [f"pid {process.pid}\n", "result True\n", "children []\n"]
    assert [expected] * 3 == runs


def touched(script, workers):
    """Change a script again, and tell whether that has ended the workers."""
    now = time.time_ns()
    os.utime(script, ns=(now, now))
    return not any(map(is_alive, workers))


WAYS_TO_INSTALL = {
    "before the fork": ("txloop.install('processes', 2)", ""),
    "after the fork": ("", "txloop.install('processes', 2)"),
    "workers early": (
        "txloop.install('processes', 2); txloop.start_workers()",
        "",
    ),
}

FORKED = (
    SERVER
    + """
sockets = bind_sockets(0, "127.0.0.1")
say_port(sockets)
{before}
fork_processes(2)
{after}
async def main():
    listen(sockets)
    Path(f"ready{{task_id()}}").write_text(str(os.getpid()))
    await asyncio.Event().wait()
asyncio.run(main())
"""
)


@pytest.mark.parametrize("way", WAYS_TO_INSTALL)
def test_each_forked_process_has_workers_of_its_own(way, tmp_path):
    before, after = WAYS_TO_INSTALL[way]
    early = way == "workers early"
    text = SERVER + FORKED[len(SERVER) :].format(before=before, after=after)

    with running_script(tmp_path, text) as program:
        ready = [tmp_path / f"ready{number}" for number in range(2)]
        loops = {int(until(lambda file=file: read(file))) for file in ready}
        workers: dict[int, set[int]] = {pid: set() for pid in loops}

        def all_have_answered():
            answer = get(program.port)
            if answer["worker"] != answer["loop"]:  # and not tried there
                workers[answer["loop"]].add(answer["worker"])
            return all(workers.values())

        until(all_have_answered)
        families = {pid: descendants(pid) for pid in loops}
        for pid in loops:
            os.kill(pid, signal.SIGTERM)
        ended = program.wait()

    first, second = loops
    for pid in loops:
        assert workers[pid] <= families[pid]
    assert families[first].isdisjoint(families[second])
    assert 0 == ended.exit_code
    warned = ended.errors.count("txloop.start_workers() came before a fork")
    assert (2 if early else 0) == warned


def read(file):
    return file.read_text() if file.exists() else ""


SERVER_START = (
    SERVER
    + """
application = make_application()
server = HTTPServer(application)
server.bind(0, "127.0.0.1")
say_port(server._pending_sockets)
txloop.install("processes", 2)
server.start(2)
application.settings["loop"] = os.getpid()
ready = Path(f"ready{task_id()}")
IOLoop.current().add_callback(ready.write_text, str(os.getpid()))
IOLoop.current().start()
"""
)


@pytest.mark.filterwarnings("default")
def test_server_start_forks_as_ever(tmp_path):
    with running_script(tmp_path, SERVER_START) as program:
        ready = [tmp_path / f"ready{number}" for number in range(2)]
        loops = {int(until(lambda file=file: read(file))) for file in ready}
        answer = until(lambda: get(program.port))
        children = children_of(program.process.pid)
        for pid in loops:
            os.kill(pid, signal.SIGTERM)
        ended = program.wait()

    assert children == loops
    assert answer["loop"] in loops
    assert answer["worker"] not in loops
    assert 0 == ended.exit_code


DAEMON = (
    SERVER
    + """
sockets = bind_sockets(0, "127.0.0.1")
txloop.install("processes", 2)
{early}
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
async def main():
    listen(sockets)
    Path("pid").write_text(str(os.getpid()))
    Path("port").write_text(str(sockets[0].getsockname()[1]))
    await asyncio.Event().wait()
asyncio.run(main())
"""
)


@pytest.mark.parametrize("early", ["", "txloop.start_workers()"])
def test_a_daemon_has_workers_and_takes_them_along(early, tmp_path):
    text = SERVER + DAEMON[len(SERVER) :].replace("{early}", early)

    ended = None
    try:
        with running_detached(tmp_path, text):
            port = int(until(lambda: read(tmp_path / "port")))
            pid = int(read(tmp_path / "pid"))
            answer = get(port)
            family = descendants(pid)
            os.kill(pid, signal.SIGTERM)
            until(lambda: is_gone(pid))
            ended = True
    finally:
        if ended is None and (tmp_path / "pid").exists():
            os.kill(int(read(tmp_path / "pid")), signal.SIGKILL)

    assert answer["worker"] in family
    assert not any(map(is_alive, family))


def is_gone(pid):
    """Tell whether a daemon has ended; the test process adopts and reaps it."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    return not is_alive(pid)


@contextmanager
def running_detached(folder, text):
    """Run a program that leaves its parent."""
    script = folder / "script.py"
    script.write_text(text)
    with (folder / "output").open("w") as output:
        subprocess.run(
            [sys.executable, str(script)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            check=True,
            timeout=WAIT_SECONDS,
        )
    yield


def test_asyncio_run_again_after_a_fork_in_between(tmp_path):
    """A child that was forked while workers ran must not end its parent's."""
    ended = run_script(
        tmp_path,
        SERVER
        + """
async def main():
    return await txloop.atomically(place) != os.getpid()

def place():
    time.sleep(0.05)  # long enough to be sent away always
    return os.getpid()

async def fork_within():
    here = await main()
    if os.fork() == 0:
        os._exit(0)
    _, status = os.wait()
    return here, status, await main()

txloop.install("processes", 2)
print(asyncio.run(fork_within()), asyncio.run(main()))
""",
    )

    assert (0, "") == (ended.exit_code, ended.errors)
    assert ["(True, 0, True) True"] == ended.lines
