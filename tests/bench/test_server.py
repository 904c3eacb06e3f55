"""Real servers, started and stopped. What they leave behind fails the leak check."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

import pytest

from bench import processes
from bench.case import Competitor, Sample, load_case
from bench.errors import ServerError, WrongAnswerError
from bench.measure import check_answers
from bench.server import Server, server_for

pytestmark = pytest.mark.slow

HELLO = load_case("hello")
STOCK = Competitor("stock", "stock", "plain")
PREFORK = Competitor("prefork", "prefork", "plain")

# Ignores SIGTERM, as does its child, and serves nobody after the first request.
STUBBORN = """
import os, signal, socket, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
listener = socket.create_server(("127.0.0.1", 0))
if os.fork():  # two that print at once would mix their lines
    print("http://127.0.0.1:%d" % listener.getsockname()[1], flush=True)
connection, _ = listener.accept()
connection.recv(9999)
connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")
time.sleep(60)
"""
BUSY = """
import os
listener = __import__("socket").create_server(("127.0.0.1", 0))
print("http://127.0.0.1:%d" % listener.getsockname()[1], flush=True)
connection, _ = listener.accept()
connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")
while True:
    pass
"""


def hello(competitor, workers=1):
    return server_for(HELLO, competitor, {}, workers)


@pytest.fixture(scope="module")
def stock():
    with hello(STOCK) as server:
        yield server


def python(program):
    return Server("test", [sys.executable, "-c", program], probe="/")


def test_a_started_server_answers(stock):
    assert (200, b"Hello, world") == stock.get("/")


def test_prefork_runs_the_asked_number_of_workers_counts_all_and_leaves_none():
    with hello(PREFORK, workers=2) as server:
        while len(members := processes.tree(server.pid)) < 3:
            time.sleep(0.01)  # one answers before all are forked
        total = sum(member.cpu_ticks for member in members)

        assert len(members) == 3
        assert server.cpu_seconds() >= total / os.sysconf("SC_CLK_TCK") > 0
    assert processes.alive(members) == []


def test_a_server_that_ignores_sigterm_is_killed_with_its_children(monkeypatch):
    monkeypatch.setattr("bench.server._STOP_SECONDS", 0.1)

    with python(STUBBORN) as server:
        members = processes.tree(server.pid)

        assert len(members) == 2
    while processes.alive(members):  # SIGKILL was sent, and a tenth of a second waited
        time.sleep(0.01)


def test_stop_may_be_repeated():
    with hello(STOCK) as server:
        server.stop()
        server.stop()


def test_a_server_that_does_not_start_says_why():
    with (
        pytest.raises(ServerError, match=r"did not start: .*no function 'nonsense'"),
        hello(Competitor("stock", "stock", "nonsense")),
    ):
        pass


def test_a_server_has_what_is_added_to_its_environment():
    program = 'import os, sys; sys.exit(os.environ["ANSWER"] + os.environ["PATH"])'
    command = [sys.executable, "-c", program]

    with (
        pytest.raises(ServerError, match=f"42{re.escape(os.environ['PATH'])}"),
        Server("test", command, "/", {"ANSWER": "42"}),
    ):
        pass


def test_prefork_listens_in_each_process_if_it_is_to_be_dealt_out():
    dealt = Competitor("prefork", "prefork", "plain", ("--reuse-port",))

    with hello(dealt, workers=2) as server:
        port = f":{int(server.url.rpartition(':')[2]):04X} 00000000:0000 0A"
        while Path("/proc/net/tcp").read_text().count(port) < 2:
            time.sleep(0.01)  # one answers before all listen

        assert (200, b"Hello, world") == server.get("/")


def test_a_server_that_keeps_silent_is_given_up(monkeypatch):
    monkeypatch.setattr("bench.server._START_SECONDS", 0.1)

    with (
        pytest.raises(ServerError, match="test: did not start"),
        python("import time; time.sleep(60)"),
    ):
        pass


def test_an_idle_server_is_seen_to_be_idle(stock):
    stock.wait_until_idle()


def test_a_busy_server_is_seen_to_be_busy(monkeypatch):
    monkeypatch.setattr("bench.server._REST_SECONDS", 0.3)
    monkeypatch.setattr("bench.server._REST_WINDOW_SECONDS", 0.2)

    with python(BUSY) as server, pytest.raises(ServerError, match="still busy"):
        server.wait_until_idle()


def test_a_counter_counts_every_request_in_whichever_process_it_ran():
    case = load_case("counter")
    values = {"number": 50}
    counting = case.select("with")[0]

    with server_for(case, counting, values, 2) as server:
        check_answers(server, case.samples(values))
        _, body = server.get("/count")

    probe = 1
    expected = len(case.samples(values)) + probe
    assert b'{"requests": %d}' % expected == body


def test_right_answers_pass(stock):
    check_answers(stock, HELLO.samples({}))


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (Sample("/", lambda body: body == b"Bye"), "to /: 200 b'Hello, world'"),
        (Sample("/missing", lambda _body: True), "to /missing: 404 b'<html>"),
    ],
)
def test_a_wrong_answer_is_reported_with_what_came(sample, message, stock):
    with pytest.raises(WrongAnswerError, match=f"^wrong answer {message}"):
        check_answers(stock, [sample, *HELLO.samples({})])
