"""The load that plays: its client runs as a program, its answers are checked here."""

from __future__ import annotations

import http.client
import json
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING

from bench.astar.check import check
from bench.astar.client import MIXES
from bench.astar.judge import CONFLICT
from bench.astar.record import Answer, read_answers
from bench.astar.world import int_of
from bench.builtin_load import run_client
from bench.errors import LoadError, WrongAnswerError
from bench.load import Checked, Load, Throughput
from bench.machine import available_cores, pinned
from bench.servers.stats import STATS

if TYPE_CHECKING:
    from bench.astar.world import Json

_REQUEST_SECONDS = 60.0
_SHOWN = 3


class GameLoad:
    """Players who ask for the requests of one of `bench.astar.client.MIXES`."""

    def __init__(self, mix: str, seed: int, spare_from: int) -> None:
        """Run on the cores from position `spare_from`, where there are any."""
        self._mix = mix
        self._seed = seed
        self._prefix = pinned(range(spare_from, available_cores()))
        self._answers: list[Answer] = []

    @property
    def title(self) -> str:
        """What the players do."""
        shares = [f"{share:g} % {kind}" for kind, share in MIXES[self._mix].items()]
        return f"the players of bench.astar (closed loop: {', '.join(shares)})"

    def run(self, load: Load) -> Throughput:
        """Let `load.clients` players play; `load.paths` are not asked for."""
        with tempfile.TemporaryDirectory(prefix="astar-") as home:
            record = Path(home) / "answers.jsonl"
            program = [sys.executable, "-m", "bench.astar.client", load.url]
            # A fast server gets further in what the players ask for. Were that the same
            # in each repeat, so would be who gets the longer searches.
            seed = f"{self._seed}-{load.repeat}"
            options = ["--mix", self._mix, "--seed", seed]
            amount = ["--clients", str(load.clients), "--seconds", str(load.seconds)]
            command = [*self._prefix, *program, str(record), *options, *amount]
            throughput = run_client(command, load)
            self._answers = read_answers(record)
        return throughput

    def check(self, load: Load) -> Checked:
        """Fetch the event log and compare; see `bench.astar.check`."""
        answers, self._answers = self._answers, []
        initial = json.loads(answers[0].body)
        with _Asking(load.url) as server:
            last, events = (
                server.newest_map(),
                server.events(int_of(initial["version"])),
            )
            conflicts = server.conflicts()
        problems = check(events, [*answers, last], initial)
        if problems:
            raise WrongAnswerError(
                f"{len(problems)} of {len(answers)} answers are wrong: "
                + "; ".join(problems[:_SHOWN])
            )
        refused = sum(answer.status == CONFLICT for answer in answers)
        return Checked(len(answers), refused, conflicts)


class _Asking:
    """A connection on which the checker asks for what it needs besides."""

    def __init__(self, url: str) -> None:
        address = urllib.parse.urlsplit(url)
        self._connection = http.client.HTTPConnection(
            address.hostname or "", address.port, timeout=_REQUEST_SECONDS
        )

    def __enter__(self) -> _Asking:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def newest_map(self) -> Answer:
        """Return the map, as an answer to be checked with the others."""
        sent = time.monotonic()
        status, body = self._get("/map")
        return Answer("map", sent, time.monotonic(), status, body.decode())

    def events(self, since: int) -> list[Json]:
        """Return all events since a version, page after page."""
        newest = int_of(json.loads(self._get("/map")[1])["version"])
        events: list[Json] = []
        while since < newest:
            status, body = self._get(f"/events?since={since}")
            page = json.loads(body)["events"] if status == 200 else []
            if not page:
                raise LoadError(f"no events since {since}, but the map is of {newest}")
            events += page
            since = int_of(page[-1]["version"])
        return events

    def conflicts(self) -> int | None:
        """Return how many attempts the server threw away, if it says so."""
        status, body = self._get(STATS)
        return int_of(json.loads(body)["conflicts"]) if status == 200 else None

    def _get(self, path: str) -> tuple[int, bytes]:
        try:
            self._connection.request("GET", path)
            response = self._connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise LoadError(f"no answer to {path}: {error!r}") from None
