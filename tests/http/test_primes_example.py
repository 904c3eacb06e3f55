"""examples/primes.py as a user meets it: a program."""

from __future__ import annotations

import json
import re
import signal
import socket
import urllib.request

import pytest

from bench import processes
from tests.examples import run_example, running_example

pytestmark = pytest.mark.slow


@pytest.fixture
def taken_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--port", "65536"], "port must be 0..65535, not 65536"),
        (["--port", "-1"], "port must be 0..65535, not -1"),
        (["--port", "http"], "invalid int value: 'http'"),
        (["--address", "192.0.2.1", "--port", "0"], "cannot listen on 192.0.2.1:0"),
        (["--executor", "magic"], "magic"),
        (["0"], "workers"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
    ],
)
def test_a_bad_option_is_one_line_and_exit_code_2(arguments, message):
    finished = run_example("primes.py", *arguments)

    assert (2, "") == (finished.returncode, finished.stdout)
    assert finished.stderr.count("\n") == 1
    assert finished.stderr.startswith("primes.py: ")
    assert message in finished.stderr


def test_a_port_in_use_is_one_line_and_exit_code_2(taken_port):
    finished = run_example("primes.py", "--port", str(taken_port))

    assert (2, "") == (finished.returncode, finished.stdout)
    assert finished.stderr.count("\n") == 1
    assert f"cannot listen on 127.0.0.1:{taken_port}: " in finished.stderr
    assert "in use" in finished.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(
    ("arguments", "described"),
    [
        (["--executor", "serial"], r"executor serial, \d workers?"),
        (["2", "--executor", "processes"], "executor processes, 2 workers"),
    ],
)
def test_it_says_where_it_serves_and_leaves_nothing(arguments, described, number):
    with running_example("primes.py", *arguments) as (process, line):
        found = re.fullmatch(rf"primes server on (http:\S+:\d+)  \({described}\)", line)
        assert found, line
        with urllib.request.urlopen(f"{found[1]}/30") as response:
            primes = json.load(response)["primes"]
        members = processes.tree(process.pid)
        process.send_signal(number)

        _, errors = process.communicate(timeout=40)

    assert primes[-1] == 29
    assert (0, "") == (process.returncode, errors)
    assert processes.alive(members) == []
