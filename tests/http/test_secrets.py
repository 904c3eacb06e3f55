"""What strangers may not reach, and what logs may not show."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import pickle
import socket
import threading
import time
from pathlib import Path

import pytest
from tornado.web import Application, RequestHandler

import txloop
from tests.logs import EXPECTED, Collector
from tests.messages import Request
from tests.processes import children_of
from tests.serving import serving
from txloop import on_commit, transactional

SECRET = "swordfish"

touched: list[str] = []


class Bomb:
    """Explodes when unpickled."""

    def __reduce__(self):
        return touched.append, ("a client's pickle was loaded",)


@transactional(trust=True)  # nothing ever writes to `touched`
class Echo(RequestHandler):
    """Takes in whatever comes, in every way in which it may come."""

    def post(self, *args):
        seen = [*touched]
        self.write({"touched": seen, "size": len(self.request.body)})

    def get(self, *args):
        self.get_arguments("x")
        self.get_cookie("x")
        self.get_secure_cookie("x")
        self.write({"touched": [*touched]})


@transactional
class Careless(RequestHandler):
    """Has a secret in every place from which one might get into a log."""

    def initialize(self, password, fault):
        self.password = password
        self.fault = fault

    def get(self):
        secret = self.password
        on_commit(functools.partial(fail, secret), secret, key=secret)
        txloop.TVar({"secret": secret})
        if self.fault == "unpicklable effect":
            on_commit(functools.partial(Callable(secret), secret))
        elif self.fault == "unpicklable result":
            self.set_header("X-Lock", 1)
            self.lock = threading.Lock()
            on_commit(fail, threading.Lock(), secret)
        elif self.fault == "error":
            raise ValueError("without it")
        elif self.fault == "slow":
            time.sleep(0.01)


class Callable:
    """An object that can be called, and shows what it holds."""

    def __init__(self, secret):
        self.secret = secret

    def __repr__(self):
        return f"Callable({self.secret!r})"

    def __call__(self, *args):
        raise ValueError("called")


def fail(*args, **kwargs):
    raise ValueError("an effect")


FAULTS = ("none", "unpicklable effect", "unpicklable result", "error", "slow")


def make_application():
    return Application(
        [
            ("/echo/?(.*)", Echo),
            *(
                (
                    f"/careless/{fault.replace(' ', '-')}",
                    Careless,
                    {"password": SECRET, "fault": fault},
                )
                for fault in FAULTS
            ),
        ],
        cookie_secret=SECRET,
        own_setting=SECRET,
    )


@pytest.fixture(scope="module")
def server(kind):
    with serving(kind, make_application, early=True) as server:
        yield server


@pytest.mark.parametrize("fault", FAULTS)
def test_no_secret_of_the_program_reaches_the_log(fault, kind):
    """Each on a server of its own: after some faults all stays on the loop thread."""
    collector = Collector()
    root = logging.getLogger()
    root.addHandler(collector)
    try:
        with serving(kind, make_application) as server:
            for _ in range(3):
                server.get(f"/careless/{fault.replace(' ', '-')}")
    finally:
        root.removeHandler(collector)

    formatter = logging.Formatter()
    for record in collector.records:
        setattr(record, EXPECTED, True)
        assert SECRET not in formatter.format(record)
    assert any("an effect failed" in one.getMessage() for one in collector.records) or (
        fault == "error"
    )


PICKLES = [pickle.dumps(Bomb(), protocol) for protocol in range(6)]


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    "content_type",
    [
        "application/octet-stream",
        "application/x-python-pickle",
        "application/x-www-form-urlencoded",
        "application/json",
        "multipart/form-data; boundary=b",
    ],
)
def test_a_clients_pickle_is_never_loaded(protocol, content_type, server):
    body = PICKLES[protocol]
    if content_type.startswith("multipart"):
        head = b'--b\r\nContent-Disposition: form-data; name="x"; filename="y"\r\n\r\n'
        body = head + body + b"\r\n--b--\r\n"

    answer = server.fetch("POST", "/echo", {"Content-Type": content_type}, body)

    assert (200, []) == (answer.status, touched)
    assert b'"touched": []' in answer.body


def test_nor_one_in_a_url_or_a_header(server):
    bomb = PICKLES[0].decode("latin1").replace("\n", "%0A").replace(" ", "%20")
    request = Request("GET", f"/echo/{bomb}?x={bomb}", {"Cookie": f"x={bomb}"})

    [answer] = server.fetch_together([request])

    assert (200, b'{"touched": []}') == (answer.status, answer.body)


@pytest.fixture
def working():
    """Serve by workers that are ready and have been at work."""
    with serving("processes", make_application) as server:
        server.get("/echo")  # for which one of them was enough
        while not are_ready(server):
            server.run(server.pause)
        yield server


def are_ready(server):
    return all(one.ready for one in server.loop.dispatcher.executor._workers)


def sockets_of(pid):
    targets = {}
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the one that lists them
            targets[int(link.name)] = os.readlink(link)
    return {
        number: target
        for number, target in targets.items()
        if number > 2 and target.startswith("socket:")
    }


def test_only_a_pair_of_sockets_leads_to_workers(working):
    """No port, no file, no name: only who is forked has an end."""
    executor = working.loop.dispatcher.executor
    descriptors = {worker._connection.fileno() for worker in executor._workers}
    controls = {executor._crew.spawner.control.fileno()}

    assert len(descriptors) == 2
    for descriptor in descriptors | controls:
        with socket.socket(fileno=os.dup(descriptor)) as one:
            assert socket.AF_UNIX == one.family
            assert (b"", b"") == (
                encoded(one.getsockname()),
                encoded(one.getpeername()),
            )
            assert not one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
            assert not os.get_inheritable(descriptor)


def encoded(name):
    return name.encode() if isinstance(name, str) else name


def test_workers_listen_to_nobody_and_have_no_sockets_of_the_program(working):
    """The listening socket and those of clients are closed in workers."""
    ours = sockets_of(os.getpid())
    spawner = working.loop.dispatcher.executor._crew.spawner.pid
    workers = children_of(spawner)

    assert len(workers) == 2
    for pid in (spawner, *workers):
        theirs = set(sockets_of(pid).values())
        # The spawner has its own, and keeps those that it has handed on.
        assert len(theirs) == (3 if pid == spawner else 1), theirs
        assert theirs.isdisjoint(ours.values())
        assert {target[8:-1] for target in theirs}.isdisjoint(listening_inodes())


def listening_inodes():
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return {line.split()[9] for line in lines if line.split()[3] == "0A"}
