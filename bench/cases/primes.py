"""CPU-bound requests: `GET /NUMBER`, as in the experiment of 2014.

The handler blocks for its whole request, so stock Tornado uses one core. Prefork and
the process pool are what people do about it today; neither has shared state.
"""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import tornado.web

from bench.case import TXLOOP, Case, Competitor, Parameter, Sample, Values
from bench.errors import UsageError
from bench.servers.setup import follow_parent
from handlers.prime_numbers import LIMIT, parse_number, primes_up_to

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class PlainHandler(tornado.web.RequestHandler):
    """Compute on the loop thread: the handler that everybody writes first."""

    def get(self, text: str) -> None:
        """Write the primes up to the number in the path."""
        self.write({"primes": primes_up_to(parse_number(text))})


class PoolHandler(tornado.web.RequestHandler):
    """Compute in a process pool: what one writes by hand to use more cores."""

    def initialize(self, compute: Callable[[int], Awaitable[list[int]]]) -> None:
        """Keep the function that computes elsewhere."""
        self._compute = compute

    async def get(self, text: str) -> None:
        """Write the primes up to the number in the path."""
        self.write({"primes": await self._compute(parse_number(text))})


def plain(_workers: int, _values: Values) -> tornado.web.Application:
    """Return the application of stock Tornado, of prefork and of nothing else."""
    return tornado.web.Application([("/(.*)", PlainHandler)])


def pool(workers: int, _values: Values) -> tornado.web.Application:
    """Return the application with a hand-written process pool."""
    executor = ProcessPoolExecutor(workers, initializer=follow_parent)

    def compute(number: int) -> Awaitable[list[int]]:
        loop = asyncio.get_running_loop()
        return loop.run_in_executor(executor, primes_up_to, number)

    return tornado.web.Application([("/(.*)", PoolHandler, {"compute": compute})])


def transactional(_workers: int, _values: Values) -> tornado.web.Application:
    """Return the demo server's application, whose handler is marked."""
    from handlers.primes import make_application

    return make_application()


def _load(values: Values) -> tuple[str, ...]:
    try:
        return (f"/{parse_number(str(values['number']))}",)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _samples(values: Values) -> tuple[Sample, ...]:
    numbers = sorted({2, 10, 100, 541, 1000, values["number"]})
    return tuple(
        Sample(f"/{number}", partial(_is_right, primes_up_to(number)))
        for number in numbers
    )


def _is_right(primes: list[int], body: bytes) -> bool:
    return bool(json.loads(body) == {"primes": primes})


CASE = Case(
    name="primes",
    summary="CPU-bound requests: primes by trial division",
    competitors=(
        Competitor("stock", "stock", "plain"),
        Competitor("prefork", "prefork", "plain"),
        Competitor("pool", "stock", "pool"),
        *TXLOOP,
    ),
    baseline="stock",
    load=_load,
    samples=_samples,
    parameters=(
        Parameter("number", 5000, f"ask for the primes up to this (at most {LIMIT})"),
    ),
)
