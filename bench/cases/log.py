"""What a conflict log costs: `GET /NUMBER` of primes, without one and with one.

Every request leaves four events in the log: it waits for a worker, starts, and commits.
"""

from __future__ import annotations

from dataclasses import replace

from bench.case import Case, Competitor
from bench.cases import primes
from bench.cases.primes import transactional

__all__ = ["CASE", "transactional"]

_PROCESSES = ("--executor", "processes")

CASE: Case = replace(
    primes.CASE,
    name="log",
    summary="primes, and a conflict log of it",
    competitors=(
        Competitor("log off", "txloop", "transactional", _PROCESSES),
        Competitor("log on", "txloop", "transactional", (*_PROCESSES, "--log")),
    ),
    baseline="log off",
)
