"""The engine without Tornado: a dispatcher on a bare asyncio loop, and its fixture."""

from __future__ import annotations

import asyncio
import functools
import gc
import logging
import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.executors import ScriptedExecutor, register_all
from txloop.engine.dispatcher import Dispatcher
from txloop.engine.events import Conflicted
from txloop.engine.machine import MOST_CONFLICTS
from txloop.engine.profile import Profile
from txloop.executors.processes.crew import ForkedCrew
from txloop.executors.processes.executor import ProcessesExecutor
from txloop.executors.protocol import executor_named
from txloop.executors.threads.executor import ThreadsExecutor
from txloop.loop.patches import patch
from txloop.stm.log_capture import handle
from txloop.stm.primitives import on_commit
from txloop.stm.store import committed
from txloop.stm.types import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from txloop import TVar
    from txloop.engine.events import Event
    from txloop.executors.processes.connection import WorkerConnection
    from txloop.executors.protocol import Executor
    from txloop.executors.worker_protocol import Limits

__all__ = [
    "EXECUTORS",
    "Engine",
    "Gate",
    "Result",
    "bury_the_dead",
    "note",
    "noted",
    "on",
    "running",
]

EXECUTORS = ("serial", "processes", "threads", "rehearsal", "scripted")

HASTE_SECONDS = 1e-5
"""How often threads take turns under the GIL: as often as possible."""

register_all()


class Result:
    """What became of a call: one answer, or none yet.

    Attributes:
        number: That of its transaction.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.number = 0
        self._answers: list[tuple[object, BaseException | None]] = []

    def settle(self, value: object, error: BaseException | None) -> None:
        """Take the answer; there may be only one."""
        self._answers.append((value, error))
        assert len(self._answers) == 1, f"answered twice: {self._answers}"
        self._loop.stop()

    @property
    def done(self) -> bool:
        """Whether the call has ended."""
        return bool(self._answers)

    @property
    def error(self) -> BaseException | None:
        """What the call raised."""
        return self._answers[0][1]

    @property
    def value(self) -> object:
        """What the call returned; raises what it raised."""
        value, error = self._answers[0]
        if error is not None:
            raise error
        return value


class _Travelling(Profile):
    """The record of a function that is known to be short, and yet always sent away."""

    __slots__ = ()

    def decide_stay(self, transport_seconds: float) -> bool:
        return self.on_loop_because is not None

    def medium(self, transport_seconds: float) -> bool:
        # However long its runs took: where a thread had to wait, the loop would help.
        return False

    def estimate(self) -> float:
        return 1e-5


class Engine:
    """A dispatcher, its executor and its loop, driven by the test's own thread.

    Attributes:
        events: What the dispatcher told its listeners, from the start.
    """

    def __init__(self, executor: Executor, barrier: bool = False) -> None:
        self.loop = asyncio.new_event_loop()
        self.executor = executor
        self.events: list[Event] = []
        self.dispatcher = Dispatcher(executor, self.loop, barrier=barrier)
        self.dispatcher.listeners.append(self.events.append)

    @property
    def scripted(self) -> ScriptedExecutor:
        """The executor, which must be the scripted one."""
        assert isinstance(self.executor, ScriptedExecutor)
        return self.executor

    @property
    def processes(self) -> ProcessesExecutor:
        """The executor, which must be the one with processes."""
        assert isinstance(self.executor, ProcessesExecutor)
        return self.executor

    @property
    def crew(self) -> ForkedCrew[WorkerConnection]:
        """What makes the workers of that."""
        crew = self.processes._crew
        assert isinstance(crew, ForkedCrew)
        return crew

    @property
    def aborts(self) -> int:
        """The number of attempts thrown away in a conflict."""
        # Not from the statistics: they search for the names of contended containers.
        return sum(isinstance(event, Conflicted) for event in self.events)

    def profile(self, label: str = "test") -> Profile:
        """Return the record of a new function, which nothing is known of."""
        return self.dispatcher.profiles.find(object(), label, lambda: ())

    def short(self, label: str = "short") -> Profile:
        """Return the record of a function that takes 10 µs, and is always sent away."""
        profile = _Travelling(label)
        self.dispatcher.profiles._profiles[object()] = profile
        return profile

    def submit(
        self,
        function: Callable[..., object],
        *args: object,
        profile: Profile | None = None,
        ordered: bool = False,
        commits_on: tuple[type[BaseException], ...] = (),
        timeout_seconds: float | None = None,
        guarded: bool = False,
        watched: bool = True,
        at_once: bool = False,
        **kwargs: object,
    ) -> Result:
        """Submit a call of `function` and return what will become of it.

        If it may run `at_once`, it does where its profile says so and nothing listens.
        """
        profile = profile or self.profile()
        call = Call(
            function,
            args,
            kwargs,
            profile.label,
            ordered,
            commits_on,
            timeout_seconds=timeout_seconds,
            guarded=guarded,
            watched=watched,
        )
        result = Result(self.loop)
        asyncio._set_running_loop(self.loop)  # as in a callback of the loop
        submit = self.dispatcher.submit
        if at_once:
            submit = functools.partial(self.dispatcher.submit_ready, ordered=ordered)
        try:
            result.number = submit(call, profile, result.settle)
        finally:
            asyncio._set_running_loop(None)
        return result

    def wait(self, *results: Result) -> None:
        """Run the loop until all of them have ended."""
        self.until(lambda: all(result.done for result in results))

    def until(self, condition: Callable[[], bool]) -> None:
        """Run the loop until `condition` holds."""
        while not condition():
            if isinstance(self.executor, ScriptedExecutor):
                self.turn()
                self.loop.call_soon(self.executor.run_all)
                self.turn()
            else:
                # Results stop the loop, so this only bounds other conditions.
                timer = self.loop.call_later(0.005, self.loop.stop)
                self.loop.run_forever()
                timer.cancel()

    def turn(self) -> None:
        """Run one iteration of the loop, which hands over the round."""
        self.loop.call_soon(self.loop.stop)
        self.loop.run_forever()

    def run(self, function: Callable[..., object], *args: object) -> object:
        """Run one transaction to its end; return its value or raise its error."""
        result = self.submit(function, *args)
        self.wait(result)
        return result.value

    def send(
        self, function: Callable[..., object], *args: object, ordered: bool = False
    ) -> tuple[Result, int]:
        """Hand a call to the scripted executor; return it and its attempt's number."""
        result = self.submit(function, *args, ordered=ordered)
        before = set(self.scripted.waiting)
        self.turn()
        (number,) = self.scripted.waiting.keys() - before
        return result, number

    def make_inevitable(self, number: int, variable: TVar[int]) -> int:
        """Have unmarked code change what an attempt has read, as often as it takes.

        Returns:
            The number of the attempt that nothing can abort.
        """
        for _ in range(MOST_CONFLICTS):
            self.scripted.begin(number)
            variable.value += 100
            self.scripted.finish(number)
            number = max(self.scripted.waiting)
        return number

    def run_in_turn(
        self,
        profile: Profile,
        function: Callable[..., object],
        *args: object,
        times: int = 2,
    ) -> list[Any]:
        """Run calls of one function, one after the other; return their values."""
        results = []
        for _ in range(times):
            results.append(self.submit(function, *args, profile=profile))
            self.wait(results[-1])
        return [result.value for result in results]

    def ask_all_workers(
        self, function: Callable[..., object], folder: Path
    ) -> list[Any]:
        """Run `function` once in every worker, as read-only transactions."""
        meeting = Meeting(folder / f"meeting-{time.monotonic_ns()}", self.workers)
        results = [
            self.submit(_meet_and_ask, meeting, number, function)
            for number in range(self.workers)
        ]
        self.wait(*results)
        return [result.value for result in results]

    @property
    def workers(self) -> int:
        """How many attempts can run at once."""
        return self.executor.workers

    def close(self) -> None:
        """End the workers and the loop."""
        self.dispatcher.close()
        self.loop.close()


def bury_the_dead() -> None:
    """Let go of what nobody refers to; where references are counted, it is gone."""
    if sys.implementation.name != "cpython":
        for _ in range(2):  # what finalizers let go of, too
            gc.collect()


def executor_of(
    name: str,
    workers: int = 2,
    limits: Limits | None = None,
    clock: Callable[[], float] | None = None,
) -> Executor:
    """Return a new executor; one with workers may have a test's limits and clock."""
    if name == "processes":
        return ProcessesExecutor(workers, limits, clock or time.monotonic)
    if name == "dask":
        from txloop.executors.dask.executor import DaskExecutor

        return DaskExecutor(workers, limits, clock or time.monotonic)
    if name == "threads":
        return ThreadsExecutor(workers, limits, clock or time.monotonic)
    return executor_named(name, workers)


@contextmanager
def running(
    name: str,
    workers: int = 2,
    *,
    barrier: bool = False,
    limits: Limits | None = None,
    clock: Callable[[], float] | None = None,
) -> Iterator[Engine]:
    """Give an engine on that executor; afterwards, nothing of it may be left."""
    patch(logging.Logger, "handle", handle)
    noted.clear()
    followers = list(committed.followers)
    engine = Engine(executor_of(name, workers, limits, clock), barrier)
    switch_seconds = sys.getswitchinterval()
    if name == "threads":
        sys.setswitchinterval(HASTE_SECONDS)
    try:
        yield engine
    finally:
        engine.close()
        sys.setswitchinterval(switch_seconds)
        snapshots, superseded = dict(committed._snapshots), len(committed._superseded)
        committed._snapshots.clear()  # the next test is not to blame
        committed.trim()
    assert ({}, 0) == (snapshots, superseded), "snapshots stayed open"
    assert followers == committed.followers
    assert set() == committed.readers
    assert committed.owner is None


def on(*names: str) -> pytest.MarkDecorator:
    """Run a test on these executors only."""
    return pytest.mark.parametrize("engine", names, indirect=True)


noted: list[object] = []
"""What `note` was called with, in order; a new engine starts with none."""


def note(*things: object) -> None:
    """Note down: an effect that can be found by name."""
    noted.append(things[0] if len(things) == 1 else things)


def note_on_commit(*things: object) -> None:
    """Ask for the effect `note`."""
    on_commit(note, *things)


@dataclass(frozen=True)
class Gate:
    """A door between processes: a file that is there once somebody has opened it."""

    path: Path

    def open(self) -> None:
        """Let everybody through, now and later."""
        self.path.touch()

    @property
    def is_open(self) -> bool:
        """Whether somebody has opened it."""
        return self.path.exists()

    def wait(self) -> None:
        """Wait until it is open."""
        deadline = time.monotonic() + 30
        while not self.path.exists():
            if time.monotonic() > deadline:
                raise TimeoutError(f"nobody opened {self.path.name}")
            time.sleep(0.001)


@dataclass(frozen=True)
class Meeting:
    """Several attempts that wait for each other, in as many workers."""

    path: Path
    parties: int

    def attend(self, name: object) -> None:
        """Wait until all are there; who comes again (a retry) finds them there."""
        Gate(self.path.with_suffix(f".{name}")).open()
        for party in range(self.parties):
            Gate(self.path.with_suffix(f".{party}")).wait()


@dataclass(frozen=True)
class Tally:
    """Counts the runs of a body, in whichever process."""

    path: Path

    def mark(self, word: object = "") -> None:
        """Note down one run."""
        with self.path.open("a") as file:
            file.write(f"{os.getpid()} {word}\n")

    def is_first(self, word: object) -> bool:
        """Return whether nobody has asked for that word before, in any process."""
        try:
            self.path.with_name(f"{self.path.name} {word}").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    @property
    def count(self) -> int:
        """The number of runs so far."""
        return len(self.lines)

    @property
    def pids(self) -> list[int]:
        """The processes of the runs so far, in order."""
        return [int(line.split()[0]) for line in self.lines]

    @property
    def lines(self) -> list[str]:
        """What was noted down so far."""
        return self.path.read_text().splitlines() if self.path.exists() else []


def _meet_and_ask(
    meeting: Meeting, number: int, function: Callable[[], object]
) -> object:
    meeting.attend(number)
    return function()
