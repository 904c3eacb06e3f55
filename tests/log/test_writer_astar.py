"""The game under load: what was lost has a line, a handler and a cell of its own."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

import conflict_log
from bench.astar.client import MIXES, play
from tests.scripts import ROOT

pytestmark = pytest.mark.slow


@contextmanager
def game(folder):
    """Serve the game with a log; yield its address."""
    options = ["2", "--executor", "processes", "--port", "0"]
    with subprocess.Popen(
        [sys.executable, str(ROOT / "examples/astar.py"), *options],
        cwd=ROOT,
        env={**os.environ, "PYPYSTM": str(folder / "stm.log")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = re.search(r"http://\S+", process.stdout.readline())
        assert address is not None
        try:
            yield address[0]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def test_nearly_all_aborted_time_has_a_line(tmp_path):
    # WHEN
    with game(tmp_path) as url:
        asyncio.run(play(url, MIXES["play"], clients=12, seconds=1.5, seed="1"))

    # THEN
    report = conflict_log.load(tmp_path / "stm.log")
    assert not report.notes
    totals = report.totals
    assert totals.aborts > 0
    lost = [one for one in report.losses if one.aborted_ns]
    with_line = sum(one.aborted_ns for one in lost if one.site and one.site.line)
    assert with_line >= 0.99 * totals.aborted_ns
    for one in lost:
        assert one.site is not None
        assert re.fullmatch(r"handlers/astar\w*\.py", one.site.file)
        assert re.match(r"(GET|POST|PUT|DELETE) \w+Handler", one.site.handler)
    cells = {one.site.cell for one in lost if one.site and one.kind != "inevitable"}
    assert all(
        cell.startswith(("game.", "the keys or length of game.")) for cell in cells
    )
