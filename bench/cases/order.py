"""What an order costs: primes in two sizes, whose commits come as they are asked to.

In the order of arrival an answer waits for those of all requests that came before it;
with a barrier no request begins before all those of the last round have ended, as in
the loop of 2014. Both cost most where requests differ in length, so half of these take
several times as long as the others.
"""

from __future__ import annotations

from dataclasses import replace

from bench.case import Case, Competitor, Values
from bench.cases import primes
from bench.cases.primes import transactional
from bench.errors import UsageError
from handlers.prime_numbers import parse_number

__all__ = ["CASE", "transactional"]

_TIMES_LARGER = 4

_PROCESSES = ("--executor", "processes")


def _load(values: Values) -> tuple[str, ...]:
    try:
        small = parse_number(str(values["number"]))
        large = parse_number(str(_TIMES_LARGER * small))
    except ValueError as error:
        raise UsageError(str(error)) from None
    return f"/{small}", f"/{large}"


CASE: Case = replace(
    primes.CASE,
    name="order",
    summary="primes in two sizes: by completion, in the order of arrival, in rounds",
    competitors=(
        Competitor("completion", "txloop", "transactional", _PROCESSES),
        Competitor(
            "arrival", "txloop", "transactional", (*_PROCESSES, "--order", "arrival")
        ),
        Competitor(
            "barrier", "txloop", "transactional", (*_PROCESSES, "--rounds", "barrier")
        ),
    ),
    baseline="completion",
    load=_load,
)
