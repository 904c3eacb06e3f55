"""Tornado's own tests pass on the TransactionIOLoop as they do on the stock loop.

Also with every handler that can be one a transaction: its body runs twice, in a thread
or in a front; there, modules that have no handler, or serve nothing, are left out. Each
mode runs once, and what fails is not tried again.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tornado.test.util

from tests.leaks import remaining_children
from tests.loop.tornado_suite import SERVING, WITHOUT_HANDLERS, refusing_port
from tests.processes import children_of
from tests.serving import FRONTS
from txloop.stm.threads import gil_enabled

if TYPE_CHECKING:
    from collections.abc import Iterable

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
SUITE = Path(__file__).with_name("tornado_suite.py")
MODES = ("stock", "loop", "twice", "threads", *["fronts"] * (FRONTS and gil_enabled()))

UNSTABLE = {
    # It gives a whole collection 0.2 s, whatever the suite's other limits are.
    "tornado.test.gen_test.RunnerGCTest.test_gc",
}
"""Tests that depend on how busy the machine is, on the stock loop, too: see below."""

IP_LOCAL_PORT_RANGE = 51
"""An option of sockets, from Linux' `in.h`: the socket module does not name it."""

# The suite mostly sleeps, yet its own limit of 5 s is short for a busy machine. One of
# its tests sends 5,000 messages, each of which goes to a worker and back in some modes,
# while its loop never sleeps: 2 s alone, over 60 s where each core has two of these.
# What it asks of hypothesis is about parsers, which know no loop: a few examples do.
ENVIRONMENT = {
    "ASYNC_TEST_TIMEOUT": "240",
    "EMULATION": "1",  # the suite's own word for a slow machine: longer timeouts
    "HYPOTHESIS_PROFILE": "tornado-quick",
    "PYTHONPATH": str(ROOT),
}


@dataclass(frozen=True, slots=True)
class Run:
    """How the suite ended in one mode.

    Attributes:
        exit_code: Of its process.
        modules: How many tests have ended in each module.
        rehearsed: How many handlers' bodies ran twice, in threads, or in fronts.
        failed: The tests that failed, with their tracebacks.
        skipped: The tests that were skipped, with the reasons.
        output: What it has printed.
    """

    exit_code: int
    modules: dict[str, int]
    rehearsed: int
    failed: dict[str, str]
    skipped: dict[str, str]
    output: str


def run_suite(mode: str, folder: Path, *arguments: str) -> Run:
    """Run the suite in one mode, or only some of its tests."""
    results, output = folder / f"{mode}.json", folder / f"{mode}.txt"
    command = [sys.executable, "-bb", str(SUITE), "--mode", mode]
    with output.open("wb") as stream:
        code = subprocess.run(
            [*command, "--results", str(results), *arguments],
            check=False,
            cwd=folder,
            env={**os.environ, **ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
        ).returncode
    text = output.read_text()
    assert results.exists(), f"the suite broke off:\n{text}"

    return Run(code, output=text, **json.loads(results.read_text()))


@pytest.fixture(scope="module")
def suites(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Run]:
    """Run the suite in each mode that is asked for, two at a time: it mostly sleeps."""
    folder, before = tmp_path_factory.mktemp("tornado"), children_of("self")
    modes = modes_of(request.session.items)
    with ThreadPoolExecutor(2) as pool:
        runs = pool.map(lambda mode: run_suite(mode, folder), modes)
        found = dict(zip(modes, runs, strict=True))
    assert set() == remaining_children(before)  # no test begins before
    return found


def modes_of(items: Iterable[pytest.Item]) -> tuple[str, ...]:
    """Return the modes that some tests are about, and the one they compare with."""
    here = [one for one in items if one.path == Path(__file__)]
    calls = [getattr(one, "callspec", None) for one in here]
    asked = {call.params.get("mode") for call in calls if call is not None}
    every = any(one.name == test_most_handlers_are_rehearsed.__name__ for one in here)
    return tuple(mode for mode in MODES if every or mode in asked | {"stock"})


def belongs(module: str, mode: str) -> bool:
    """Tell whether a mode runs a module."""
    if mode == "fronts":
        return module in SERVING
    return mode == "loop" or module not in WITHOUT_HANDLERS


def test_the_stock_loop_sets_the_mark(suites: dict[str, Run]) -> None:
    """Without this the others could pass by running nothing."""
    stock = suites["stock"]

    assert sum(stock.modules.values()) > 1000, stock.output


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "stock"])
def test_nothing_more_fails_than_on_the_stock_loop(
    mode: str, suites: dict[str, Run]
) -> None:
    # GIVEN
    stock = suites["stock"]

    # WHEN
    run = suites[mode]

    # THEN
    modules, theirs = (
        {one: n for one, n in each.modules.items() if belongs(one, mode)}
        for each in (run, stock)
    )
    assert theirs == modules
    names = tuple(f"{one}." for one in modules)
    skipped, theirs_skipped = (
        {n: why for n, why in each.skipped.items() if n.startswith(names)}
        for each in (run, stock)
    )
    assert theirs_skipped == skipped
    assert run.failed.keys() <= stock.failed.keys() | UNSTABLE, run.output
    if not run.failed:
        # The exit code also tells of log records and of output on stderr.
        assert run.exit_code in (0, stock.exit_code), run.output


@pytest.mark.skipif(not hasattr(gc, "callbacks"), reason="nobody can slow it down")
@pytest.mark.parametrize("name", sorted(UNSTABLE))
def test_what_is_unstable_fails_on_a_slow_stock_loop(name: str, tmp_path: Path) -> None:
    """Without this a test could be listed that only fails here."""
    slow, fast = ("--collection-seconds", "0.5"), ("--collection-seconds", "0")

    assert {name} == run_suite("stock", tmp_path, *slow, name).failed.keys()
    assert {} == run_suite("stock", tmp_path, *fast, name).failed


def can_choose_ports() -> bool:
    """Tell whether the system lets a socket say from which port it connects."""
    with socket.socket() as client:
        try:
            client.getsockopt(socket.IPPROTO_IP, IP_LOCAL_PORT_RANGE)
        except OSError:
            return False
    return sys.platform == "linux"


def connect_from(port: int) -> None:
    """Connect to a port of this machine from the same one."""
    with socket.socket() as client:
        client.settimeout(10)
        one = (port << 16 | port).to_bytes(4, sys.byteorder)
        client.setsockopt(socket.IPPROTO_IP, IP_LOCAL_PORT_RANGE, one)
        client.connect(("127.0.0.1", port))


@pytest.mark.skipif(not can_choose_ports(), reason="since Linux 6.3")
def test_a_client_is_connected_to_itself_on_the_suites_port_only() -> None:
    """Without this our own refusing port would be a change for nothing."""
    for refusing in (tornado.test.util.refusing_port, refusing_port):
        give_back, port = refusing()
        if refusing is refusing_port:
            with pytest.raises(OSError, match=r"refused|assign"):
                connect_from(port)
        else:
            connect_from(port)
        give_back()


def test_most_handlers_are_rehearsed(suites: dict[str, Run]) -> None:
    """Without this the test above could pass by treating no handler as marked."""
    rehearsed = {mode: suites[mode].rehearsed for mode in MODES}

    assert rehearsed["stock"] == rehearsed["loop"] == 0
    assert rehearsed["twice"] > 500
    assert rehearsed["threads"] > 500
    assert rehearsed.get("fronts", 50) >= 50  # most share something with the test
