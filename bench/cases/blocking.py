"""Handlers that wait: each sleeps 50 ms, and there are far more workers than cores.

What blocks for a file, a database or another server needs no core meanwhile. The ideal
is what the workers could answer if nothing but the sleeping took time.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import tornado.web

from bench.builtin_load import BuiltInLoad
from bench.case import (
    PROCESSES,
    THREADS,
    Case,
    Column,
    Competitor,
    Parameter,
    Sample,
    Values,
)
from bench.servers.setup import follow_parent

if TYPE_CHECKING:
    from bench.load import Load, LoadGenerator, Throughput

_BODY = b"awake"
_WORKERS = 16


class PlainHandler(tornado.web.RequestHandler):
    """Block the loop thread: the handler that everybody writes first."""

    def initialize(self, seconds: float) -> None:
        """Keep how long."""
        self.seconds = seconds

    def get(self) -> None:
        """Sleep, and write a word."""
        time.sleep(self.seconds)
        self.write(_BODY)


class PoolHandler(tornado.web.RequestHandler):
    """Block a thread or a process of a pool."""

    def initialize(self, executor: Executor, seconds: float) -> None:
        """Keep the pool, and how long."""
        self._executor = executor
        self._seconds = seconds

    async def get(self) -> None:
        """Sleep elsewhere, and write a word."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._executor, time.sleep, self._seconds)
        self.write(_BODY)


class IdealLoad(BuiltInLoad):
    """The built-in client, whose figure is the share of the ideal that was reached."""

    def __init__(self, ideal_rate: float, spare_from: int) -> None:
        """Compare with `ideal_rate` requests a second."""
        super().__init__(spare_from)
        self._ideal_rate = ideal_rate

    def run(self, load: Load) -> Throughput:
        """Load the server and divide."""
        throughput = super().run(load)
        share = throughput.rate / self._ideal_rate
        return replace(throughput, figures={"share": share})


def plain(_workers: int, values: Values) -> tornado.web.Application:
    """Return the application of stock Tornado and of prefork."""
    return tornado.web.Application([("/", PlainHandler, {"seconds": _seconds(values)})])


def threads(workers: int, values: Values) -> tornado.web.Application:
    """Return the application with a hand-written pool of threads."""
    return _pooled(ThreadPoolExecutor(workers), values)


def processes(workers: int, values: Values) -> tornado.web.Application:
    """Return the application with a hand-written pool of processes."""
    return _pooled(ProcessPoolExecutor(workers, initializer=follow_parent), values)


def transactional(workers: int, values: Values) -> tornado.web.Application:
    """Return the application with the handler marked."""
    import txloop  # only where txloop serves

    txloop.transactional(PlainHandler)
    return plain(workers, values)


def _pooled(executor: Executor, values: Values) -> tornado.web.Application:
    settings = {"executor": executor, "seconds": _seconds(values)}
    return tornado.web.Application([("/", PoolHandler, settings)])


def _seconds(values: Values) -> float:
    return values["sleep"] / 1000


def _load(_values: Values) -> tuple[str, ...]:
    return ("/",)


def _samples(_values: Values) -> tuple[Sample, ...]:
    return (Sample("/", lambda body: body == _BODY),)


def _generator(values: Values, spare_from: int) -> LoadGenerator:
    workers = spare_from  # the cores before that are the workers'
    return IdealLoad(workers / _seconds(values), spare_from)


CASE = Case(
    name="blocking",
    summary="handlers that wait, and workers for many of them at once",
    competitors=(
        Competitor("stock", "stock", "plain"),
        Competitor("prefork", "prefork", "plain"),
        Competitor("pool of threads", "stock", "threads"),
        Competitor("pool of processes", "stock", "processes"),
        PROCESSES,
        THREADS,
    ),
    baseline="stock",
    load=_load,
    samples=_samples,
    parameters=(Parameter("sleep", 50, "milliseconds that a request sleeps"),),
    generator=_generator,
    clients=64,
    workers=_WORKERS,
    columns=(Column("of ideal", "share", 3),),
    notes=("of ideal: req/s to workers / sleep, as if nothing else took time",),
)
