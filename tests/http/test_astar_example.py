"""examples/astar.py as a user meets it: a program."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager

import pytest

from bench import processes
from handlers.astar_game import make_walls
from tests.examples import EXAMPLES, run_example, running_example

pytestmark = pytest.mark.slow


@contextmanager
def serving(*arguments):
    """Yield the running program and the address that it printed."""
    with running_example("astar.py", *arguments) as (process, line):
        found = re.fullmatch(
            r"A\* game server on (http:\S+:\d+)  \(executor \w+, \d workers?\)", line
        )
        assert found, line
        yield process, found[1]


def load(url):
    """Return the JSON at an address."""
    with urllib.request.urlopen(url) as response:
        return json.load(response)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--width", "0"], "width must be 1..1000, not 0"),
        (["--height", "1001"], "height must be 1..1000, not 1001"),
        (["--walls", "101"], "walls must be 0..100 percent, not 101"),
        (["--walls", "-1"], "walls must be 0..100 percent, not -1"),
        (["--seed", "x"], "invalid int value: 'x'"),
        (["--port", "65536"], "port must be 0..65535, not 65536"),
        (["--executor", "magic"], "magic"),
    ],
)
def test_a_bad_option_is_one_line_and_exit_code_2(arguments, message):
    finished = run_example("astar.py", *arguments)

    assert (2, "") == (finished.returncode, finished.stdout)
    assert finished.stderr.count("\n") == 1
    assert finished.stderr.startswith("astar.py: ")
    assert message in finished.stderr


def test_the_map_is_what_the_options_say():
    options = ["--width", "30", "--height", "7", "--walls", "35", "--seed", "5"]

    with serving("--executor", "serial", *options) as (_, url):
        answer = load(f"{url}/map")

    walls = make_walls(30, 7, 35, seed=5)
    assert ["".join(".#"[cell] for cell in row) for row in walls] == answer["rows"]
    assert (0, 30, 7) == (answer["version"], answer["width"], answer["height"])


@pytest.mark.parametrize("arguments", [["--executor", "serial"], ["2"]])
def test_it_ends_at_once_and_answers_who_waits_for_events(arguments):
    with serving(*arguments) as (process, url):
        load(f"{url}/map")
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=40)
        connection.request("GET", "/events")
        load(f"{url}/map")  # by now it waits
        members = processes.tree(process.pid)
        process.send_signal(signal.SIGTERM)
        answer = json.load(connection.getresponse())
        _, errors = process.communicate(timeout=40)
        connection.close()

    assert {"events": []} == answer
    assert (0, "") == (process.returncode, errors)
    assert processes.alive(members) == []


def test_every_request_to_the_game_runs_in_parallel():
    finished = subprocess.run(
        [sys.executable, "-m", "txloop", "check", str(EXAMPLES / "astar.py")],
        capture_output=True,
        text=True,
        check=False,
        timeout=40,
        cwd=EXAMPLES.parent,
    )

    verdicts = re.findall(r"^(\S+ \S+) +(.*)$", finished.stdout, re.MULTILINE)
    parallel = [name for name, verdict in verdicts if verdict == "in parallel"]
    assert 0 == finished.returncode
    assert finished.stderr.startswith("A* game server on ")  # as it says of itself
    assert [
        "GET MapHandler",
        "POST PlayersHandler",
        "DELETE PlayerHandler",
        "POST MoveHandler",
        "GET PathHandler",
        "DELETE WallHandler",
        "PUT WallHandler",
        "GET EventsHandler",
    ] == parallel
