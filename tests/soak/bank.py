"""Bank transfers over HTTP while workers are killed and clients leave.

The total never differs in any audit. Every transfer that was answered with 200 is in
the books exactly once, no refused (409) or failed (500, 503) one is, and one whose
client left may be, at most once.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tests.messages import Answer, Request, read_answer
from tests.processes import descendants, gone, state
from tests.soak.bank_server import ACCOUNTS, MONEY
from tests.soak.faults import Harm
from tests.soak.watching import Memory

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["FAILED", "DoesHarm", "Report", "run"]

ROOT = Path(__file__).parents[2]

CLIENTS = 8
LEAVES = 10
ANSWER_SECONDS = 30.0  # what takes longer counts as lost
HARM_EVERY_SECONDS = 0.25
LEAVE_SECONDS = 10.0  # for workers, once the server has ended

TOTAL = ACCOUNTS * MONEY

FAILED = "failed"
"""What ended with a status that nothing but harm explains."""


@dataclass
class Report:
    """What was seen.

    Attributes:
        wrong: Each thing that must not happen, in words.
        answers: How many answers of which status, and how many clients left.
        harm: What was done to the workers.
        figures: The server's own.
    """

    wrong: list[str] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    harm: Counter[str] = field(default_factory=Counter)
    figures: dict[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [
            f"answers: {dict(sorted(self.answers.items()))}",
            f"harm: {dict(sorted(self.harm.items()))}",
            f"server: {self.figures}",
            *(f"WRONG: {one}" for one in self.wrong),
        ]
        return "\n".join(lines)


class Bank:
    """The clients of one server, and what they were told."""

    def __init__(
        self, port: int, chance: random.Random, report: Report, harm: DoesHarm
    ) -> None:
        self._port = port
        self._harm = harm
        self._chance = chance
        self._report = report
        self._resting = asyncio.Event()
        self._number = 0
        self._fates: dict[str, str] = {}  # by transfer: a status, or "left"
        self._failing: set[str] = set()  # transfers that were asked to fail

    async def epoch(self, seconds: float) -> None:
        """Let clients do what they do for some time, then compare the books."""
        self._resting.clear()
        async with asyncio.TaskGroup() as clients:
            for _ in range(CLIENTS):
                clients.create_task(self._until_rest(self._transfer))
            for _ in range(2):
                clients.create_task(self._until_rest(self._leave_often))
            clients.create_task(self._until_rest(self._audit))
            clients.create_task(self._until_rest(self._glance))
            await asyncio.sleep(seconds)
            self._resting.set()
        await self._look_at("/audit")
        await self._compare()

    async def figures(self) -> dict[str, object]:
        """Return what the server says of itself."""
        answer = await self._ask_owner(Request("GET", "/figures"))
        return dict(json.loads(answer.body))

    async def _until_rest(self, act: Callable[[], Awaitable[None]]) -> None:
        while not self._resting.is_set():
            try:
                await act()
            except (OSError, EOFError, TimeoutError) as error:
                self._wrong(f"no answer: {error!r}")
                return

    def _wrong(self, text: str) -> None:
        self._report.wrong.append(text)

    def _new_transfer(self) -> tuple[str, Request]:
        self._number += 1
        name = f"t{self._number}"
        giver, taker = self._chance.sample(range(ACCOUNTS), 2)
        # Now and then more than there is.
        amount = self._chance.choice([1, 5, 20, 100, 50 * MONEY])
        how = "fail" if self._chance.random() < 0.05 else "do"
        if how == "fail":
            self._failing.add(name)
        body = json.dumps([f"a{giver}", f"a{taker}", amount, how]).encode()
        return name, Request("POST", f"/transfer/{name}", {}, body)

    async def _transfer(self) -> None:
        name, request = self._new_transfer()
        self._fates[name] = "lost"
        try:
            answer = await self._ask(request)
        except (OSError, EOFError):
            if not has_fronts():
                raise
            self._fates[name] = "left"  # as if the client had left
            self._report.answers["cut off"] += 1
            return
        self._fates[name] = str(answer.status)
        self._report.answers[str(answer.status)] += 1
        if answer.status >= 500 and name not in self._failing:
            self._report.answers[FAILED] += 1

    async def _leave_often(self) -> None:
        for _ in range(LEAVES):
            await self._transfer_and_leave()
        await self._transfer()  # or the server would have ever more to do

    async def _transfer_and_leave(self) -> None:
        name, request = self._new_transfer()
        self._fates[name] = "left"
        self._report.answers["left"] += 1
        sent = request.encoded()
        if self._chance.random() < 0.2:
            sent = sent[: self._chance.randrange(1, len(sent))]
        _, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(sent)
        await writer.drain()
        await asyncio.sleep(self._chance.choice([0, 0.001, 0.003, 0.01]))
        if self._chance.random() < 0.5:
            writer.transport.abort()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async def _audit(self) -> None:
        await self._look_at("/audit")

    async def _glance(self) -> None:
        await self._look_at("/glance")
        await asyncio.sleep(0.005)

    async def _look_at(self, path: str) -> None:
        try:
            answer = await self._ask(Request("GET", path))
        except (OSError, EOFError):
            if not has_fronts():
                raise
            self._report.answers["cut off"] += 1
            return
        if answer.status != 200:
            # An audit may have killed three workers by being there when they died.
            self._report.answers[f"{path} {answer.status}"] += 1
            self._report.answers[FAILED] += 1
            return
        self._report.answers[path] += 1
        total = json.loads(answer.body)["total"]
        if total != TOTAL:
            self._wrong(f"{path} found {total} instead of {TOTAL}")

    async def _compare(self) -> None:
        """Hold what clients were told against the books."""
        fates, self._fates = self._fates, {}
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                while await self._is_busy():  # with those whose clients have left
                    pass
        except TimeoutError:
            self._wrong(f"it is still busy, {ANSWER_SECONDS:g} s after the last client")
            return
        answer = await self._ask_owner(Request("POST", "/books", {}, b""))
        books = json.loads(answer.body)
        for which in ("ledger", "told"):
            times = books[which]
            for name, fate in fates.items():
                count = times.pop(name, 0)
                allowed = {"200": (1,), "left": (0, 1)}.get(fate, (0,))
                if count not in allowed:
                    self._wrong(f"{which}: {name} ({fate}) is in it {count} times")
            for name in times:
                self._wrong(f"{which}: nobody knows of {name}")

    async def _is_busy(self) -> bool:
        before = await self.figures(), Counter(self._harm.done)
        await asyncio.sleep(0.1)  # by then the server has read what was sent to it
        after = await self.figures(), self._harm.done
        # One that is stopped may have read a request of which the owner knows nothing.
        stopped = any(state(pid) == "T" for pid in self._harm.workers)
        return bool(after[0]["pending"]) or after != before or stopped

    async def _ask_owner(self, request: Request) -> Answer:
        """Ask what runs on the loop thread only.

        The connection may end in a front on its way there; then nothing has run.
        """
        for _ in range(20 if has_fronts() else 0):
            with suppress(OSError, EOFError):
                return await self._ask(request)
        return await self._ask(request)

    async def _ask(self, request: Request) -> Answer:
        async with asyncio.timeout(ANSWER_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            try:
                writer.write(request.encoded())
                return await read_answer(reader, request.method)
            finally:
                writer.close()


def has_fronts() -> bool:
    """Tell whether a process that is killed may take connections along."""
    return os.environ["TXLOOP_FRONTS"] != "0"


class DoesHarm(Protocol):
    """What is done to the workers of a server.

    Attributes:
        done: How often it did what.
        workers: All processes that have to be gone when the server is.
        epoch_seconds: For how long clients are at work until books are compared.
    """

    done: Counter[str]
    workers: set[int]
    epoch_seconds: float

    async def go_on(self) -> None:
        """Do harm until cancelled, and be called again."""


def harm_workers(pid: int, seed: int) -> DoesHarm:
    """Return what kills and stops the forked workers of a server."""
    return Harm(pid, random.Random(seed + 1), HARM_EVERY_SECONDS)


def run(
    seconds: float,
    seed: int,
    log: Path,
    least: int = 0,
    executor: str = "processes",
    make_harm: Callable[[int, int], DoesHarm] = harm_workers,
) -> Report:
    """Run a server for so long, do harm, and return what was seen.

    Args:
        seconds: How long clients are at work.
        seed: Decides who does what, though not how the threads of chance interlace.
        log: Gets what the server writes to its standard error.
        least: How many requests have to succeed, however long that takes.
        executor: The server's.
        make_harm: Makes what does harm, of the server's process number and the seed.
    """
    report = Report()
    with (
        log.open("w") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "tests.soak.bank_server", executor],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline().split()[1])
            harm = make_harm(process.pid, seed)
            memory = Memory(process.pid)
            clients = _clients(port, harm, memory, seconds, seed, report, least)
            asyncio.run(clients)
            family = {*descendants(process.pid), *harm.workers}
            process.send_signal(signal.SIGTERM)
            if process.wait(timeout=20):
                report.wrong.append(f"the server ended with {process.returncode}")
            deadline = time.monotonic() + LEAVE_SECONDS
            while left := [pid for pid in family if not gone(pid)]:
                if time.monotonic() > deadline:
                    report.wrong.append(f"processes were left behind: {left}")
                    break
                time.sleep(0.05)
        finally:
            process.kill()
    text = log.read_text()
    report.wrong += [word for word in ("TxInternalError", "BUG") if word in text]
    return report


async def _clients(
    port: int,
    harm: DoesHarm,
    memory: Memory,
    seconds: float,
    seed: int,
    report: Report,
    least: int,
) -> None:
    bank = Bank(port, random.Random(seed), report, harm)
    deadline = time.monotonic() + seconds
    measuring = asyncio.create_task(memory.go_on())
    while not report.wrong:
        left = deadline - time.monotonic()
        if report.answers["200"] < least:
            left = harm.epoch_seconds
        elif left <= 0.5:
            break
        doing_harm = asyncio.create_task(harm.go_on())
        try:
            await bank.epoch(min(left, harm.epoch_seconds))
        finally:
            doing_harm.cancel()
            with suppress(asyncio.CancelledError):
                await doing_harm
    measuring.cancel()
    report.harm = harm.done
    with suppress(OSError, EOFError, TimeoutError):  # what is wrong says why
        report.figures = await bank.figures() | memory.figures()
