"""Four times the load that the server can take, for as long as the load lasts.

The capacity is measured first, on the same server. Then requests come at a multiple of
that rate, whether they are answered or not. A server that queues them all keeps its
users waiting ever longer; with `max_queue`, txloop answers at once with 503 and
Retry-After what it could not answer soon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tornado.web

from bench.burn import burn
from bench.case import Case, Column, Competitor, Parameter, Sample, Values
from bench.loads.overload import OverloadLoad

if TYPE_CHECKING:
    from bench.load import LoadGenerator

_MAX_QUEUE = 50
_PROCESSES = ("--executor", "processes")


class WorkHandler(tornado.web.RequestHandler):
    """Compute for a while."""

    def initialize(self, milliseconds: int) -> None:
        """Keep how long."""
        self.milliseconds = milliseconds

    def get(self) -> None:
        """Compute, and write a word."""
        burn(self.milliseconds)
        self.write("done")


def plain(_workers: int, values: Values) -> tornado.web.Application:
    """Return the application of stock Tornado."""
    settings = {"milliseconds": values["cpu"]}
    return tornado.web.Application([("/", WorkHandler, settings)])


def transactional(workers: int, values: Values) -> tornado.web.Application:
    """Return the application with the handler marked."""
    import txloop  # only where txloop serves

    txloop.transactional(WorkHandler)
    return plain(workers, values)


def _load(_values: Values) -> tuple[str, ...]:
    return ("/",)


def _samples(_values: Values) -> tuple[Sample, ...]:
    return (Sample("/", lambda body: body == b"done"),)


def _generator(values: Values, workers: int) -> LoadGenerator:
    return OverloadLoad(values["times"], _MAX_QUEUE, workers)


CASE = Case(
    name="overload",
    summary="more requests than the server can answer",
    competitors=(
        Competitor("stock", "stock", "plain"),
        Competitor("txloop unbounded", "txloop", "transactional", _PROCESSES),
        Competitor(
            f"txloop max_queue={_MAX_QUEUE}",
            "txloop",
            "transactional",
            (*_PROCESSES, "--max-queue", str(_MAX_QUEUE)),
        ),
    ),
    baseline="stock",
    load=_load,
    samples=_samples,
    parameters=(
        Parameter("cpu", 50, "milliseconds of processor time of a request"),
        Parameter("times", 4, "the capacity is offered"),
    ),
    generator=_generator,
    clients=16,
    columns=(
        Column("bound ms", "bound"),
        Column("capacity", "capacity", 1),
        Column("of capacity", "share", 2),
        Column("503", "refused", condense=sum),
        Column("MB before", "before"),
        Column("MB after", "after"),
    ),
    notes=(
        "req/s: answered with 200 while too much was offered; capacity: of a closed"
        " loop, just before that",
        "p50, p99: of all that were answered with 200, from the intended start;"
        " bound: what is ahead of the last in a full queue, at its req/s",
        "MB: all processes of the server, before the overload and after it",
    ),
)
