"""The A* game over HTTP while workers are killed.

24 players ask for whatever the benchmark's players ask for. Each request is answered
exactly once, with what was right for the map at that moment: `bench.astar.check` says
so of every answer, from the event log, which is paged while they play. Nobody is told
of the kills, nothing is left of them, and memory stays what it was.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import processes
from bench.astar.check import check
from bench.astar.client import look, play
from bench.connection import NO_ANSWER, connect
from bench.errors import LoadError
from tests.flags import until
from tests.processes import gone
from tests.soak.bank import Report, has_fronts
from tests.soak.watching import (
    Kills,
    Memory,
    Pages,
    Pushes,
    WatchError,
    load,
    until_same,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench.astar.record import Answer, Kind

__all__ = ["JIT", "run"]

ROOT = Path(__file__).parents[2]

HOST = "127.0.0.1"
CLIENTS = 24
WORKERS = 2
KEPT_EVENTS = 2000
KILLS_EVERY_SECONDS = 0.4
PATIENCE_SECONDS = 60.0

# Searches on a small map are so short that they would not be sent away. What a JIT
# compiles takes memory.
JIT = sys.implementation.name == "pypy"
MAP = ["--width", "80", "--height", "55", "--walls", "25"]
GROWTH_BYTES = (16 if JIT else 2) << 20

# The benchmark's players build much and destroy little. On a small map they would soon
# have walled themselves in; here as many walls go as come.
MIX: Mapping[Kind, float] = {
    "move": 80,
    "build": 7,
    "destroy": 7,
    "map": 3,
    "path": 3,
}
SITES = 40
"""Cells on which walls are built: few, so that many are built on where one is."""

LABELS: Mapping[Kind, str] = {
    "map": "GET MapHandler",
    "path": "GET PathHandler",
    "join": "POST PlayersHandler",
    "leave": "DELETE PlayerHandler",
    "move": "POST MoveHandler",
    "build": "PUT WallHandler",
    "destroy": "DELETE WallHandler",
}

# All that the server may say: who died, what it refused, and what conflicts much.
DEATH = re.compile(r"worker \d+ died; (its call runs again on|it was replaced)")
HARMLESS = re.compile(
    r"409 (POST|PUT|DELETE) /|410 GET /events\?since=0 |"
    r".* conflicted 3 times on .+; running it again with other commits held back"
)


def run(seconds: float, seed: int, log: Path) -> Report:
    """Let them play for so long on a server of their own, and return what was seen.

    Args:
        seconds: How long they play.
        seed: Decides who does what, and the pauses between kills.
        log: Gets what the server writes to its standard error.
    """
    report = Report()
    with _serving(log, report) as (process, port):
        try:
            asyncio.run(_Soak(process.pid, port, seed, report).run(seconds))
        except* (WatchError, LoadError, TimeoutError) as group:
            report.wrong += [repr(one) for one in group.exceptions]
    _read(log.read_text(), report)
    return report


@contextmanager
def _serving(log: Path, report: Report) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run the server while the block runs; nothing of it may be left."""
    program = [sys.executable, "-m", "tests.soak.game_server", str(WORKERS)]
    options = ["--executor", "processes", "--port", "0", "--kept", str(KEPT_EVENTS)]
    with (
        log.open("w") as errors,
        subprocess.Popen(
            [*program, *options, *MAP],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r" http://127\.0\.0\.1:(\d+) ", line)
            assert found, f"the server did not start: {line}{log.read_text()}"
            yield process, int(found[1])
            members = processes.tree(process.pid)
            process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
            if process.returncode != 0:
                report.wrong.append(f"the server ended with {process.returncode}")
            if left := processes.alive(members):
                report.wrong.append(f"processes were left behind: {left}")
        finally:
            process.kill()


def _read(log: str, report: Report) -> None:
    """Count what the server wrote, and find what it must not write."""
    deaths = 0
    for line in log.splitlines():
        if found := DEATH.match(line):
            deaths += 1
            report.harm["killed in a call"] += "again" in found[1]
        elif not HARMLESS.match(line):
            report.wrong.append(f"the server wrote: {line}")
    if deaths != report.harm["killed"]:
        report.wrong.append(f"the server wrote of {deaths} deaths")


class _Soak:
    """One game on one server."""

    def __init__(self, pid: int, port: int, seed: int, report: Report) -> None:
        self._pid = pid
        self._port = port
        self._seed = seed
        self._report = report

    async def run(self, seconds: float) -> None:
        """Play, and judge what came of it."""
        # The map makes the server fork its workers.
        await load(HOST, self._port, "/map")
        before = await self._resources({})
        async with asyncio.timeout(seconds + PATIENCE_SECONDS):
            answers, events, memory = await self._play(seconds)
        status, _ = await load(HOST, self._port, "/events?since=0")
        if len(events) > KEPT_EVENTS and status != 410:
            self._wrong("the log has kept all events")
        figures = (await load(HOST, self._port, "/figures"))[1]
        after = await self._resources(before)
        if before != after:
            self._wrong(f"there were {before}, and now there are {after}")
        self._judge(answers, events)
        self._judge_figures(figures, answers, len(events))
        self._judge_memory(memory)

    async def _play(
        self, seconds: float
    ) -> tuple[list[Answer], list[dict[str, Any]], Memory]:
        chance = random.Random(self._seed)
        url = f"http://{HOST}:{self._port}"
        first, last = await connect(HOST, self._port, 2)
        pages, pushes = Pages(first, chance, KEPT_EVENTS), Pushes(url)
        kills = Kills(self._pid, random.Random(self._seed), KILLS_EVERY_SECONDS)
        memory = Memory(self._pid)
        try:
            async with asyncio.TaskGroup() as group:
                watching = [
                    group.create_task(one.go_on()) for one in (pages, pushes, memory)
                ]
                killing = group.create_task(kills.go_on())
                _, answers = await play(
                    url,
                    MIX,
                    clients=CLIENTS,
                    seconds=seconds,
                    seed=str(self._seed),
                    sites=SITES,
                )
                killing.cancel()
                # Whoever has not ended yet would be told of after the end.
                await until(lambda: all(map(gone, kills.victims)))
                answers.append(await look(last))
                version = json.loads(answers[-1].body)["version"]
                await until_same(pages, pushes, version)
                for task in watching:
                    task.cancel()
        finally:
            self._report.harm["killed"] = len(kills.victims)
            for connection in (first, last):
                connection.close()
        self._report.figures |= {"pages": pages.pages, "read again": pages.again}
        return answers, pages.events, memory

    async def _resources(self, wanted: dict[str, object]) -> dict[str, object]:
        """Return how many processes and descriptors there are, once that is settled."""
        deadline = time.monotonic() + PATIENCE_SECONDS / 6
        found: dict[str, object] = {}
        while True:
            await asyncio.sleep(0.1)
            last = found
            generations = [len(one) for one in processes.generations(self._pid)]
            found = {
                "processes": generations,
                "descriptors": len(os.listdir(f"/proc/{self._pid}/fd")),
            }
            groups = 2 if has_fronts() else 1  # workers, and fronts
            settled = found == (wanted or last) and generations == [
                groups,
                groups * WORKERS,
            ]
            if settled or time.monotonic() > deadline:
                return found

    def _judge(self, answers: list[Answer], events: list[dict[str, Any]]) -> None:
        for problem in check(events, answers, json.loads(answers[0].body)):
            self._wrong(problem)
        self._report.answers = Counter(f"{one.kind} {one.status}" for one in answers)
        # The check passes over what was not answered.
        if lost := [one for one in answers if one.status == NO_ANSWER]:
            self._wrong(f"{len(lost)} requests were not answered: {lost[0]} ...")

    def _judge_figures(
        self, figures: Mapping[str, Any], answers: list[Answer], version: int
    ) -> None:
        asked = Counter(LABELS[one.kind] for one in answers)
        asked[LABELS["map"]] += 1  # before they came
        done = {label: figures["labels"].get(label, 0) for label in asked}
        if done != asked:
            self._wrong(f"asked for {dict(asked)}, but committed {done}")
        names = ("executor", "attempts", "commits", "conflicts", "inline", "errors")
        self._report.figures |= {name: figures[name] for name in names}
        self._report.figures["events"] = version

    def _judge_memory(self, memory: Memory) -> None:
        for whose in ("server", "spawner", "worker", *["front"] * has_fronts()):
            middle, end = memory.growth(whose)
            shown = [round(one / (1 << 20), 1) for one in (middle, end)]
            self._report.figures[f"{whose} MiB"] = shown
            if end - middle > GROWTH_BYTES:
                self._wrong(f"the memory of the {whose} grew: {shown} MiB")

    def _wrong(self, text: str) -> None:
        self._report.wrong.append(text)
