"""Primes while workers are killed, one every 100 ms: what is left, and what fails?

A killed worker takes its call along; txloop runs that again on another one. Prefork
loses the connections of its dead process. A pool of `concurrent.futures` cannot take
part: when one of its processes dies, it refuses everything from then on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bench.case import Case, Column, Parameter
from bench.cases import primes
from bench.cases.primes import plain, transactional
from bench.loads.kills import KillsLoad

if TYPE_CHECKING:
    from bench.case import Values
    from bench.load import LoadGenerator

__all__ = ["CASE", "plain", "transactional"]

_NUMBER = 1500  # some 10 ms: a killed worker's call ends on the next one


def _generator(values: Values, workers: int) -> LoadGenerator:
    return KillsLoad(values["interval"], workers)


CASE: Case = replace(
    primes.CASE,
    name="kills",
    summary="primes, while workers are killed",
    # Without fronts, which take their connections along: this is about workers.
    competitors=tuple(
        replace(one, fronts=0) for one in primes.CASE.select("prefork,txloop processes")
    ),
    baseline="prefork",
    parameters=(
        replace(primes.CASE.parameters[0], default=_NUMBER),
        Parameter("interval", 100, "milliseconds from one kill to the next"),
    ),
    generator=_generator,
    columns=(
        Column("undisturbed", "undisturbed", 1),
        Column("of undisturbed", "share", 2),
        Column("kills", "kills", condense=sum),
        Column("failed", "failed", condense=sum),
    ),
    notes=(
        "req/s: while a worker is killed again and again; undisturbed: before that, on"
        " the same server; failed: requests that got no answer, or not 200",
    ),
)
