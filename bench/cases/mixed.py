"""Light requests while heavy ones keep all workers busy: who waits for whom?

`GET /light` costs next to nothing and is asked for at a constant rate, its latency
counted from the moment at which it should have been sent. `GET /heavy` takes 100 ms of
processor time; enough users ask for it to keep every worker busy. Stock Tornado answers
a light request when all heavy ones that came before it are done.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

import tornado.web

from bench.burn import burn
from bench.case import TXLOOP, Case, Comparison, Competitor, Parameter, Sample, Values
from bench.loads.mixed import MixedLoad
from bench.rows import percentile
from bench.servers.setup import follow_parent

if TYPE_CHECKING:
    from bench.load import LoadGenerator, Throughput

_HEAVY, _LIGHT = "/heavy", "/light"
_PROCESSES = ("--executor", "processes")


class LightHandler(tornado.web.RequestHandler):
    """Answer without any work, as a health check does."""

    def get(self) -> None:
        """Write a word."""
        self.write("light")


class HeavyHandler(tornado.web.RequestHandler):
    """Compute for a while."""

    def initialize(self, milliseconds: int) -> None:
        """Keep how long."""
        self.milliseconds = milliseconds

    def get(self) -> None:
        """Compute, and write a word."""
        burn(self.milliseconds)
        self.write("heavy")


class PoolHandler(tornado.web.RequestHandler):
    """Compute in a process pool."""

    def initialize(self, executor: ProcessPoolExecutor, milliseconds: int) -> None:
        """Keep the pool, and how long."""
        self._executor = executor
        self._milliseconds = milliseconds

    async def get(self) -> None:
        """Compute elsewhere, and write a word."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._executor, burn, self._milliseconds)
        self.write("heavy")


def plain(_workers: int, values: Values) -> tornado.web.Application:
    """Return the application with both handlers as everybody writes them."""
    settings = {"milliseconds": values["heavy"]}
    return tornado.web.Application(
        [(_HEAVY, HeavyHandler, settings), (_LIGHT, LightHandler)]
    )


def pool(workers: int, values: Values) -> tornado.web.Application:
    """Return the application with a hand-written pool for what is heavy."""
    executor = ProcessPoolExecutor(workers, initializer=follow_parent)
    settings = {"executor": executor, "milliseconds": values["heavy"]}
    return tornado.web.Application(
        [(_HEAVY, PoolHandler, settings), (_LIGHT, LightHandler)]
    )


def transactional(workers: int, values: Values) -> tornado.web.Application:
    """Return the application with both handlers marked."""
    import txloop  # only where txloop serves

    txloop.transactional(LightHandler)
    return light_unmarked(workers, values)


def light_unmarked(workers: int, values: Values) -> tornado.web.Application:
    """Return the application in which only the heavy handler is marked."""
    import txloop

    txloop.transactional(HeavyHandler)
    return plain(workers, values)


def compare(own: Throughput, baseline: Throughput) -> float:
    """Return how many times as long the light requests of the baseline took."""
    return _p99(baseline) / _p99(own)


def _p99(throughput: Throughput) -> float:
    assert throughput.latency is not None, "measured by MixedLoad"
    return percentile(throughput.latency.seconds, 99)


def _load(_values: Values) -> tuple[str, ...]:
    return (_HEAVY, _LIGHT)


def _samples(_values: Values) -> tuple[Sample, ...]:
    return (
        Sample(_HEAVY, lambda body: body == b"heavy"),
        Sample(_LIGHT, lambda body: body == b"light"),
    )


def _generator(values: Values, spare_from: int) -> LoadGenerator:
    return MixedLoad(_HEAVY, _LIGHT, values["rate"], spare_from)


CASE = Case(
    name="mixed",
    summary="light requests while heavy ones keep all workers busy",
    competitors=(
        Competitor("stock", "stock", "plain"),
        Competitor("prefork", "prefork", "plain"),
        Competitor("pool", "stock", "pool"),
        *TXLOOP,
        Competitor("txloop light unmarked", "txloop", "light_unmarked", _PROCESSES),
    ),
    baseline="stock",
    load=_load,
    samples=_samples,
    parameters=(
        Parameter("heavy", 100, "milliseconds of processor time of a heavy request"),
        Parameter("rate", 200, "light requests a second"),
    ),
    generator=_generator,
    clients=8,
    comparison=Comparison("stock's p99 to its own", compare),
    tail=True,
    notes=(
        "req/s: of the heavy requests; p50 .. max: of the n light ones at req/s beside"
        " them, from the intended start",
    ),
)
