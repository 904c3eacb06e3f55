"""Bodies that overlap truly: all read before any commits, or one pauses for others.

On the scripted executor the steps interleave exactly, on processes and threads the
attempts wait for each other by files in mid-body. On the other executors nothing
overlaps, and the results must be serial too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.engine import Gate, Meeting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.engine import Engine, Result

    Body = Callable[[], Iterator[object]]
    Outer = Callable[[Callable[[], object]], object]

__all__ = ["OVERLAPPING", "conflicts", "during", "together"]

PARALLEL = ("processes", "threads", "dask")

OVERLAPPING = ("scripted", *PARALLEL)


@dataclass(frozen=True)
class Pause:
    """Stops a body in its middle, the first time, until the test lets it go on."""

    started: Gate
    gate: Gate

    def __call__(self) -> None:
        self.started.open()
        self.gate.wait()


def together(engine: Engine, folder: Path, *bodies: Body) -> list[Any]:
    """Run transactions that have all read before any of them commits."""
    name = engine.executor.name
    meeting = Meeting(folder / "meeting", len(bodies) if name in PARALLEL else 0)
    calls = [(body, meeting, number) for number, body in enumerate(bodies)]
    if name == "scripted":
        sent = [engine.send(meet, *call) for call in calls]
        for _, number in sent:
            engine.scripted.begin(number)
        for _, number in sent:
            engine.scripted.finish(number)
        results = [result for result, _ in sent]
    else:
        results = [engine.submit(meet, *call) for call in calls]
    engine.wait(*results)
    return results


def meet(body: Body, meeting: Meeting, number: int) -> object:
    """Run a body in two steps, with all the others between them."""
    steps = body()
    found = next(steps, None)
    meeting.attend(number)
    for found in steps:  # noqa: B007
        pass
    return found


def during(
    engine: Engine, folder: Path, outer: Outer, inner: list[Callable[[], object]]
) -> Result:
    """Run `outer`, which pauses, and commit the transactions `inner` in its pause."""
    if engine.executor.name in PARALLEL:
        pause = Pause(Gate(folder / "started"), Gate(folder / "gate"))
        result = engine.submit(outer, pause)
        engine.until(lambda: pause.started.is_open)
        for body in inner:
            engine.wait(engine.submit(body))
        pause.gate.open()
    elif engine.executor.name == "scripted":
        bodies = list(inner)

        def run_inner() -> None:
            while bodies:
                _, number = engine.send(bodies.pop(0))
                engine.scripted.begin(number)
                engine.scripted.finish(number)

        result, number = engine.send(outer, run_inner)
        # The loop turns within the body of the outer attempt.
        engine.scripted.begin(number)
        engine.scripted.finish(number)
    else:
        result = engine.submit(outer, do_nothing)
        engine.wait(result, *[engine.submit(body) for body in inner])
    engine.wait(result)
    return result


def do_nothing() -> None:
    pass


def conflicts(engine: Engine, expected: int) -> bool:
    """Tell whether as many conflicts came as must, where transactions overlap."""
    if engine.executor.name in OVERLAPPING:
        return expected == engine.aborts
    return 0 == engine.aborts
