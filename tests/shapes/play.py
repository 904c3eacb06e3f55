"""Asks a server of shapes, from four clients at once, and keeps what it answers.

A phase is a number of requests that are under way together; what stock Tornado answers
to them does not depend on their order, so that sorted answers can be compared.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests import warm
from tests.logs import AT_BOUND
from tests.messages import Request, read_answer
from tests.shapes.shape import Kind, load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.shapes.shape import Shape

__all__ = ["FEWER", "FEWEST", "GROUPS", "REQUESTS", "Played", "play"]

ROOT = Path(__file__).parents[2]

CLIENTS = 4
ANSWER_SECONDS = 60.0
LANES = 3  # shapes that are asked at once
REQUESTS = 12
FEWER, FEWEST = 8, 4  # where each costs a new worker, and where nothing is lost
READS = 6
MOST_LOOKS = 200  # until what was stale must be known
MOST_ROUNDS = 300  # of as many requests, until what settles must have settled ...
SETTLE_SECONDS = 0.05  # ... with such breaks: workers are forked anew now and then only

GROUPS = {
    "writing": (
        "names",
        "containers",
        "collected",
        "reaching",
        "classes",
        "singletons",
        "references",
        "objects",
        "operators",
        "functions",
        "hooks",
        "moving",
        "decorators",
        "iterators",
        "application",
        "numbers_of_numpy",
    ),
    "reading": (
        "stale",
        "stale_objects",
        "stale_around",
        "stale_parts",
        "remade",
        "stale_errors",
        "steady",
        "steady_objects",
    ),
    "process": ("outside",),
    "calls": ("process_calls",),
    # What changes of the process holds all that share it.
    "around": ("stale_process",),
    "environment": ("stale_environment",),
    "libraries": ("stale_libraries", "stale_registries"),
    "memory": ("stale_memory",),
    "registries": ("registries",),
    # Workers are not forked anew in a process that has threads, as some above.
    "settling": ("settling",),
}
"""Which modules share a server process; one of each group runs at a time."""


@dataclass
class Told:
    """What was answered about one shape.

    Attributes:
        phases: The answers of each phase, sorted, as status and body.
        totals: What the runs had left behind, by the number of requests before it.
        settled: Whether it was free to run anywhere when its last phase was over.
    """

    phases: list[list[str]] = field(default_factory=list)
    totals: dict[int, str] = field(default_factory=dict)
    settled: bool = True


@dataclass
class Played:
    """What one loop answered.

    Attributes:
        told: By the name of the shape.
        labels: The statistics of each label at the end.
        log: What was logged, each with its level.
    """

    told: dict[str, Told]
    labels: dict[str, dict[str, object]]
    log: list[str]

    def on_loop_because(self, shape: Shape) -> str:
        """Return why a shape stays on the loop thread; empty if it does not."""
        return str(self.labels.get(shape.label, {}).get("on_loop_because", ""))

    def warnings(self, shape: Shape) -> list[str]:
        """Return the warnings that name a shape."""
        named = re.compile(rf"^WARNING: .*\b{re.escape(shape.label)}\b")
        return [
            line
            for line in self.log
            if named.search(line) and not re.search(AT_BOUND, line)
        ]


class Asker:
    """One server, and four connections to it for each lane."""

    def __init__(self, port: int, requests: int, oracle: Played | None) -> None:
        self.port = port
        self.requests = requests
        self.oracle = oracle
        self.told: dict[str, Told] = {}

    async def ask(self, shapes: Sequence[Shape]) -> None:
        """Ask about all shapes, several at once."""
        waiting = iter(shapes)

        async def lane() -> None:
            async with contextlib.AsyncExitStack() as stack:
                clients = [
                    await stack.enter_async_context(Client(self.port))
                    for _ in range(CLIENTS)
                ]
                for shape in waiting:
                    self.told[shape.name] = await self._about(shape, clients)

        await asyncio.gather(*(lane() for _ in range(LANES)))

    async def report(self) -> dict[str, object]:
        """Return the server's own report."""
        async with Client(self.port) as client:
            body = (await client.get("/_report")).partition(" ")[2]
            report: dict[str, object] = json.loads(body)
            return report

    async def _about(self, shape: Shape, clients: Sequence[Client]) -> Told:
        told = Told()
        if shape.kind is Kind.READS:
            await self._read(shape, clients, told)
            return told
        if self.oracle is None:
            await self._in_order(shape, clients[0], told)
            return told
        told.phases.append(await self._phase(shape, clients, self.requests))
        if shape.total is not None:
            total = await clients[0].get(f"/_total/{shape.name}")
            told.totals[self.requests] = total
        if shape.kind is Kind.SETTLES:
            await self._settle(shape, clients, told)
        return told

    async def _in_order(self, shape: Shape, client: Client, told: Told) -> None:
        """Ask stock Tornado, which answers one after another whatever the order is."""
        answers: list[str] = []
        for number in range(REQUESTS):
            answers.append(await client.get(f"/{shape.name}?number={number}"))
            if shape.total is not None and number + 1 in (FEWEST, FEWER, REQUESTS):
                total = await client.get(f"/_total/{shape.name}")
                told.totals[number + 1] = total
        told.phases.append(answers)

    async def _phase(
        self, shape: Shape, clients: Sequence[Client], requests: int
    ) -> list[str]:
        numbers = iter(range(requests))

        async def ask(client: Client) -> list[str]:
            return [
                await client.get(f"/{shape.name}?number={number}") for number in numbers
            ]

        parts = await asyncio.gather(*map(ask, clients))
        return sorted(answer for part in parts for answer in part)

    async def _read(self, shape: Shape, clients: Sequence[Client], told: Told) -> None:
        for changes in (0, 3, 1, 2):
            for _ in range(changes):
                answer = await clients[0].get(f"/_change/{shape.name}")
                assert answer == "200 changed", (shape.name, answer)
            told.phases.append(await self._phase(shape, clients, READS))
            if self._is_stale(shape, told):
                await self._until_held(shape)

    def _is_stale(self, shape: Shape, told: Told) -> bool:
        if self.oracle is None:
            return False
        expected = self.oracle.told[shape.name].phases[len(told.phases) - 1]
        return told.phases[-1] != expected

    async def _until_held(self, shape: Shape) -> None:
        """Wait until the loop has noticed it, or long enough to say it has not."""
        for _ in range(MOST_LOOKS):
            if await self._held(shape):
                return
            await asyncio.sleep(0.005)

    async def _held(self, shape: Shape) -> bool:
        labels = (await self.report())["labels"]
        assert isinstance(labels, dict)
        return bool(labels.get(shape.label, {}).get("on_loop_because"))

    async def _settle(
        self, shape: Shape, clients: Sequence[Client], told: Told
    ) -> None:
        for _ in range(MOST_ROUNDS):
            told.settled = not await self._held(shape)
            if told.settled:
                return
            told.phases.append(await self._phase(shape, clients, self.requests))
            await asyncio.sleep(SETTLE_SECONDS)


class Client:
    """One connection, kept open."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def __aenter__(self) -> Client:
        self._reader, self._writer = await asyncio.open_connection(
            "127.0.0.1", self._port
        )
        return self

    async def __aexit__(self, *error: object) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()

    async def get(self, path: str) -> str:
        """Return the status and the body of an answer."""
        headers = {"Host": f"127.0.0.1:{self._port}"}
        self._writer.write(Request("GET", path, headers).encoded())
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                answer = await read_answer(self._reader, "GET")
        except TimeoutError as error:
            raise TimeoutError(f"no answer to GET {path}") from error
        return f"{answer.status} {answer.body.decode()}"


def play(
    executor: str,
    modules: Sequence[str],
    oracle: Played | None = None,
    requests: int = REQUESTS,
    **environment: str,
) -> Played:
    """Serve the shapes of some modules and ask about all of them.

    Args:
        executor: ``"stock"``, or where transactions run.
        modules: Those that share a process.
        oracle: What stock Tornado answered; None for itself.
        requests: How many each shape gets that does not only read.
        environment: Variables of the server.
    """

    async def talk(port: int) -> Played:
        asker = Asker(port, requests, oracle)
        await asker.ask(load(*modules))
        report = await asker.report()
        return Played(asker.told, report["labels"], report["log"])  # type: ignore[arg-type] # JSON

    with _serving(executor, modules, environment) as port:
        return asyncio.run(talk(port))


@contextlib.contextmanager
def _serving(
    executor: str, modules: Sequence[str], environment: dict[str, str]
) -> Iterator[int]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("TXLOOP_", "PYTHON", "SHAPES_"))
    }
    with (
        tempfile.TemporaryDirectory() as folder,
        (Path(folder) / "errors").open("w+") as errors,
        warm.Popen(
            [sys.executable, "-m", "tests.shapes.server", executor, *modules],
            cwd=folder,
            env={**inherited, "PYTHONPATH": str(ROOT), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line.startswith("port "):
                errors.seek(0)
                raise AssertionError(f"the server of {modules} ended:\n{errors.read()}")
            yield int(line.split()[1])
        except Exception as error:
            errors.seek(0)
            error.add_note(f"the server of {modules} wrote:\n{errors.read()[-3000:]}")
            raise
        finally:
            process.terminate()
