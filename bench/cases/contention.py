"""Everybody adds to the same number: the worst that transactions can be asked for.

Each request computes for 5 ms and adds one to one `TVar`, so that each conflicts with
each. It can be no faster than one after another; how much slower is it? No addition may
be lost: the number at the end is compared with the answers. Prefork and pools cannot
take part: their processes share nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol

import tornado.web

from bench.burn import burn
from bench.case import TXLOOP, Case, Comparison, Competitor, Parameter, Sample, Values
from bench.loads.counted import CountedLoad
from bench.servers.stats import STATS, StatsHandler

if TYPE_CHECKING:
    from bench.load import LoadGenerator, Throughput

_ADD, _VALUE = "/add", "/value"


class Number(Protocol):
    """What is added to: a `TVar`, or what looks like one."""

    value: int


class PlainNumber:
    """A number in one process with one thread."""

    def __init__(self, value: int) -> None:
        self.value = value


class NumberHandler(tornado.web.RequestHandler):
    """What both handlers have."""

    def initialize(self, number: Number, milliseconds: int) -> None:
        """Keep the number, and how long adding takes."""
        self.number = number
        self.milliseconds = milliseconds


class AddHandler(NumberHandler):
    """Compute, and add."""

    def get(self) -> None:
        """Compute for a while, add one, and write the number."""
        burn(self.milliseconds)
        self.number.value += 1
        self.write({"value": self.number.value})


class ValueHandler(NumberHandler):
    """Tell the number."""

    def get(self) -> None:
        """Write the number."""
        self.write({"value": self.number.value})


def plain(_workers: int, values: Values) -> tornado.web.Application:
    """Return the application with a plain number, for one thread."""
    return _application(PlainNumber(0), values)


def transactional(_workers: int, values: Values) -> tornado.web.Application:
    """Return the application with a `TVar` and the handler that adds marked."""
    import txloop  # only where txloop serves

    txloop.transactional(AddHandler)
    application = _application(txloop.TVar(0), values)
    application.add_handlers(".*", [(STATS, StatsHandler)])
    return application


def compare(own: Throughput, baseline: Throughput) -> float:
    """Return how many times as long as the baseline it took."""
    return own.elapsed_seconds / baseline.elapsed_seconds


def _application(number: Number, values: Values) -> tornado.web.Application:
    settings = {"number": number, "milliseconds": values["cpu"]}
    return tornado.web.Application(
        [(_ADD, AddHandler, settings), (_VALUE, ValueHandler, settings)]
    )


def _load(_values: Values) -> tuple[str, ...]:
    return (_ADD,)


def _samples(_values: Values) -> tuple[Sample, ...]:
    return (Sample(_VALUE, lambda body: json.loads(body).get("value", -1) >= 0),)


def _generator(values: Values, workers: int) -> LoadGenerator:
    return CountedLoad(_ADD, _VALUE, values["cpu"], workers)


CASE = Case(
    name="contention",
    summary="every request adds to the same number: all conflict",
    competitors=(
        Competitor("stock", "stock", "plain"),
        *TXLOOP,
    ),
    baseline="txloop serial",
    load=_load,
    samples=_samples,
    parameters=(Parameter("cpu", 5, "milliseconds of processor time of a request"),),
    generator=_generator,
    clients=16,
    comparison=Comparison("its time to that of txloop serial", compare),
    notes=(
        "answers: of all repeats; wrong: the number at the end was exactly theirs;"
        " conflicts: attempts thrown away",
    ),
)
