"""Collecting: each operation, in turns.

It is timed on the plain object, on the container outside of any transaction, and in
one; then come the other operations, and all again. A slow moment hits all three.
"""

from __future__ import annotations

import timeit
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from txloop.stm.run import run_attempt
from txloop.stm.types import Call, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from bench.cells.operations import Operation

SAMPLE_SECONDS = 0.005
"""At least so long is each operation timed in each repeat, of each sort."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The seconds that one operation took in one repeat."""

    plain: float
    outside: float
    inside: float


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as long as on the plain object: each repeat's own ratio."""

    median: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class CellRow:
    """What the table says about one operation; the seconds are medians."""

    container: str
    name: str
    plain_seconds: float
    outside_seconds: float
    inside_seconds: float
    outside: Ratio
    inside: Ratio


def collect(
    operations: Sequence[Operation],
    repeat: int,
    seconds: float,
    progress: Callable[[str], None],
) -> list[CellRow]:
    """Time each operation `repeat` times, in turns; tell `progress` of each turn.

    `seconds` is how long each sample takes at least. Before the first repeat each is
    run once for nothing, because the first time is slower.
    """
    progress("warming up")
    for operation in operations:
        take_sample(operation, 0.0)
    samples: list[list[Sample]] = [[] for _ in operations]
    for number in range(repeat):
        progress(f"repeat {number + 1} of {repeat}")
        for operation, own in zip(operations, samples, strict=True):
            own.append(take_sample(operation, seconds))
    rows = zip(operations, samples, strict=True)
    return [make_row(operation, own) for operation, own in rows]


def take_sample(operation: Operation, seconds: float) -> Sample:
    """Time one operation, of each sort for so long."""
    statement = operation.statement
    plain = operation.plain_statement or statement
    make_plain, make_shared = operation.make_plain, operation.make_shared
    return Sample(
        plain=_time(plain, make_plain, operation.number, seconds),
        outside=_time(statement, make_shared, operation.number, seconds),
        inside=_time(statement, make_shared, operation.number, seconds, in_attempt),
    )


def in_attempt(function: Callable[[], float]) -> float:
    """Return what the function does in one transaction, which is then thrown away."""
    outcome = run_attempt(Call(function), speculative=True)
    assert isinstance(outcome, Outcome), "it neither waits nor becomes inevitable"
    if outcome.error is not None:
        raise outcome.error
    assert isinstance(outcome.value, float), "what timeit returns"
    return outcome.value


def make_row(operation: Operation, samples: Sequence[Sample]) -> CellRow:
    """Condense the repeats."""
    return CellRow(
        container=operation.container,
        name=operation.name,
        plain_seconds=median(one.plain for one in samples),
        outside_seconds=median(one.outside for one in samples),
        inside_seconds=median(one.inside for one in samples),
        outside=_ratio(one.outside / one.plain for one in samples),
        inside=_ratio(one.inside / one.plain for one in samples),
    )


def _ratio(ratios: Iterable[float]) -> Ratio:
    values = list(ratios)
    return Ratio(median(values), min(values), max(values))


def _directly(function: Callable[[], float]) -> float:
    return function()


def _time(
    statement: str,
    make: Callable[[], Mapping[str, object]],
    number: int,
    seconds: float,
    run: Callable[[Callable[[], float]], float] = _directly,
) -> float:
    total, count = 0.0, 0
    while count == 0 or total < seconds:
        # Made anew, so that what appends does not measure ever longer lists.
        timer = timeit.Timer(statement, globals=dict(make()))
        total += run(lambda timer=timer: timer.timeit(number))  # type: ignore[misc]
        count += number
    return total / count
