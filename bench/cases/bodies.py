"""Requests that compute for a given time: from when on is a second core of use?

Each body computes for as long, in processor time; the case is measured for each of ten
times, one after the other. What is short costs more to send to a worker than to run, so
txloop must never be slower than stock Tornado there, and faster where it can be.
"""

from __future__ import annotations

import tornado.web

from bench.burn import burn
from bench.case import PROCESSES, Case, Competitor, Parameter, Sample, Values
from bench.errors import UsageError

_BODY = b"done"


class BodyHandler(tornado.web.RequestHandler):
    """Compute for a while."""

    def initialize(self, microseconds: int) -> None:
        """Keep how long."""
        self.microseconds = microseconds

    def get(self) -> None:
        """Compute, and write a word."""
        burn(self.microseconds / 1000)
        self.write(_BODY)


def plain(_workers: int, values: Values) -> tornado.web.Application:
    """Return the application as everybody writes it."""
    settings = {"microseconds": values["microseconds"]}
    return tornado.web.Application([("/", BodyHandler, settings)])


def transactional(workers: int, values: Values) -> tornado.web.Application:
    """Return the application with the handler marked."""
    import txloop  # only where txloop serves

    txloop.transactional(BodyHandler)
    return plain(workers, values)


def _load(values: Values) -> tuple[str, ...]:
    if values["microseconds"] < 0:
        raise UsageError("a body cannot take less than no time")
    return ("/",)


def _samples(_values: Values) -> tuple[Sample, ...]:
    return (Sample("/", lambda body: body == _BODY),)


CASE = Case(
    name="bodies",
    summary="requests that compute for 0 to 50 ms",
    competitors=(
        Competitor("stock", "stock", "plain"),
        Competitor("prefork", "prefork", "plain"),
        PROCESSES,
    ),
    baseline="stock",
    load=_load,
    samples=_samples,
    parameters=(
        Parameter("microseconds", 5000, "processor time of a body; all if left out"),
    ),
    clients=32,
    fronts=True,
    sweep=(0, 300, 600, 1000, 2000, 3000, 5000, 10_000, 20_000, 50_000),
)
