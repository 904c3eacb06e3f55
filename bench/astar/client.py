"""Players: each on a connection of its own, asking when its last answer is there.

It runs as a program, as `bench.client` does and for the same reasons: what it sees is
written to a file when the load is over, and checked by whoever reads that.

play    as the clients of the experiment of 2014: mostly a step on the shortest path to
        a goal, some walls built, few destroyed, now and then a look at the map. Each
        step has a goal by chance: on the way to one goal searches would get shorter,
        and servers that have come differently far could not be compared.
paths   nothing but questions for a path, which change nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
import urllib.parse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from bench.astar.record import Answer, write_answers
from bench.client import Result
from bench.connection import NO_ANSWER, connect
from bench.errors import LoadError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.astar.record import Cell, Kind
    from bench.astar.world import Json
    from bench.connection import Connection

MIXES: Mapping[str, Mapping[Kind, float]] = {
    "play": {"move": 85, "build": 10.5, "destroy": 0.5, "map": 4},
    "paths": {"path": 100},
}
"""How many of a hundred requests are of each kind."""

_GOALS = 20  # of all players together, which spares the check of them much time


class Ground:
    """What the clients know of the map: shared by all players of one program."""

    def __init__(self, snapshot: Json, seed: str, sites: int | None = None) -> None:
        rows = snapshot["rows"]
        assert isinstance(rows, list), "of the answer to GET /map"
        cells = [
            ((x, y), letter)
            for y, row in enumerate(rows)
            for x, letter in enumerate(row)
        ]
        self.free = [cell for cell, letter in cells if letter == "."]
        self.walls = [cell for cell, letter in cells if letter != "."]
        chance = random.Random(seed)
        self.goals = chance.choices(self.free, k=_GOALS)
        self.sites = self.free if sites is None else chance.choices(self.free, k=sites)


class Player:
    """One connection and what it does; `answers` has what it saw, in order."""

    def __init__(
        self,
        name: str,
        connection: Connection,
        ground: Ground,
        answers: list[Answer],
    ) -> None:
        self._name = name
        self._connection = connection
        self._ground = ground
        self._answers = answers
        self._random = random.Random(name)
        self._count = 0
        self._id: str | None = None

    async def join(self) -> None:
        """Enter the map.

        Raises:
            LoadError: that was refused.
        """
        tag = self._tag()
        answer = await self._ask("join", "POST", "/players", {"tag": tag}, tag=tag)
        if answer.status != 201:
            raise LoadError(f"a player could not join: {answer.status}")
        self._id = str(json.loads(answer.body)["id"])

    async def leave(self) -> None:
        """Leave the map."""
        await self._ask("leave", "DELETE", f"/players/{self._id}", player=self._id)

    async def play(self, mix: Mapping[Kind, float], deadline: float) -> None:
        """Ask until then, or until an answer fails to come."""
        kinds, weights = list(mix), list(mix.values())
        actions = {
            "move": self._move,
            "build": self._build,
            "destroy": self._destroy,
            "map": self._look,
            "path": self._query,
        }
        while time.monotonic() < deadline:
            kind = self._random.choices(kinds, weights)[0]
            answer = await actions[kind]()
            if answer.status == NO_ANSWER:
                return

    async def _move(self) -> Answer:
        tag, goal = self._tag(), self._random.choice(self._ground.goals)
        return await self._ask(
            "move",
            "POST",
            f"/players/{self._id}/move",
            {"to": goal, "tag": tag},
            tag=tag,
            player=self._id,
            cell=goal,
        )

    async def _build(self) -> Answer:
        cell, tag = self._random.choice(self._ground.sites), self._tag()
        target = "/walls/{}/{}".format(*cell)
        answer = await self._ask(
            "build", "PUT", target, {"tag": tag}, tag=tag, cell=cell
        )
        if answer.status == 200:
            self._ground.walls.append(cell)
        return answer

    async def _destroy(self) -> Answer:
        walls = self._ground.walls
        if not walls:
            return await self._look()
        cell, tag = self._random.choice(walls), self._tag()
        target = "/walls/{}/{}?tag={}".format(*cell, tag)
        answer = await self._ask("destroy", "DELETE", target, tag=tag, cell=cell)
        if answer.status == 200 and cell in walls:
            walls.remove(cell)
        return answer

    async def _look(self) -> Answer:
        return await self._ask("map", "GET", "/map")

    async def _query(self) -> Answer:
        start = self._random.choice(self._ground.free)
        goal = self._random.choice(self._ground.goals)
        target = "/path?from={},{}&to={},{}".format(*start, *goal)
        return await self._ask("path", "GET", target, start=start, cell=goal)

    async def _ask(
        self,
        kind: Kind,
        method: str,
        target: str,
        body: Json | None = None,
        *,
        tag: str | None = None,
        player: str | None = None,
        start: Cell | None = None,
        cell: Cell | None = None,
    ) -> Answer:
        request = make_request(method, target, body)
        sent = time.monotonic()
        status, received = await self._connection.ask(request)
        answer = Answer(
            kind=kind,
            sent=sent,
            received=time.monotonic(),
            status=status,
            body=received.decode(),
            tag=tag,
            player=player,
            start=start,
            cell=cell,
        )
        self._answers.append(answer)
        return answer

    def _tag(self) -> str:
        self._count += 1
        return f"{self._name}-{self._count}"


def make_request(method: str, target: str, body: Json | None = None) -> bytes:
    """Return an HTTP request with a JSON body, or with none."""
    head = f"{method} {target} HTTP/1.1\r\nHost: bench\r\n"
    if body is None:
        return f"{head}\r\n".encode()
    text = json.dumps(body)
    head += f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n"
    return f"{head}\r\n{text}".encode()


async def play(
    url: str,
    mix: Mapping[Kind, float],
    *,
    clients: int,
    seconds: float,
    seed: str,
    sites: int | None = None,
) -> tuple[Result, list[Answer]]:
    """Play for so long; return what was achieved, and every answer.

    The first answer is the map before any of it. The players leave when it is over;
    only the requests between joining and leaving are counted. Walls are built on
    `sites` of the free cells, where players meet; on any of them if it is None.

    Raises:
        LoadError: the server does not accept connections, or players.
    """
    address = urllib.parse.urlsplit(url)
    host, port = address.hostname or "", address.port or 80
    connections = await connect(host, port, clients)
    try:
        first = await look(connections[0])
        if first.status != 200:
            raise LoadError(f"no map: {first.status}")
        answers = [first]
        ground = Ground(json.loads(first.body), seed, sites)
        players = [
            Player(f"{seed}-{number}", connection, ground, answers)
            for number, connection in enumerate(connections)
        ]
        joins = "move" in mix
        if joins:
            await asyncio.gather(*(player.join() for player in players))
        result = await _play(players, mix, seconds, answers)
        if joins:
            await asyncio.gather(*(player.leave() for player in players))
        return result, answers
    finally:
        for connection in connections:
            connection.close()


async def look(connection: Connection) -> Answer:
    """Return the map, as an answer to be checked."""
    sent = time.monotonic()
    status, body = await connection.ask(make_request("GET", "/map"))
    return Answer("map", sent, time.monotonic(), status, body.decode())


async def _play(
    players: list[Player],
    mix: Mapping[Kind, float],
    seconds: float,
    answers: list[Answer],
) -> Result:
    before, start = len(answers), time.monotonic()
    await asyncio.gather(*(player.play(mix, start + seconds) for player in players))
    failed = sum(answer.status == NO_ANSWER for answer in answers[before:])
    return Result(
        completed=len(answers) - before - failed,
        failed=failed,
        # To the last answer: until then the server worked for these requests.
        elapsed_seconds=time.monotonic() - start,
        cpu_seconds=time.process_time(),
    )


def main() -> None:
    """Play as the command line says, write the answers, print the result as JSON."""
    parser = argparse.ArgumentParser(description="Play; print what was achieved.")
    parser.add_argument("url", help="http://HOST:PORT")
    parser.add_argument("record", type=Path, help="the file for the answers")
    parser.add_argument("--mix", choices=sorted(MIXES), default="play")
    parser.add_argument("--clients", type=int, default=24, help="players")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--seed", default="1", help="of what the players do")
    options = parser.parse_args()
    result, answers = asyncio.run(
        play(
            options.url,
            MIXES[options.mix],
            clients=options.clients,
            seconds=options.seconds,
            seed=options.seed,
        )
    )
    write_answers(options.record, answers)
    print(json.dumps(asdict(result)))


if __name__ == "__main__":
    main()
