"""A hot counter in every request: `GET /NUMBER` of primes, with and without it.

Every request adds to one and the same counter. Adding commutes, so that they run in
parallel as if it were not there.
"""

from __future__ import annotations

from dataclasses import replace

import tornado.web

import txloop
from bench.case import Case, Competitor, Values
from bench.cases import primes
from bench.cases.primes import transactional
from handlers.primes import PrimesHandler

__all__ = ["CASE", "counting", "transactional"]

_requests = txloop.TCounter()


class CountedPrimesHandler(PrimesHandler):
    """Answer as without a counter; the mark is inherited."""

    def get(self, text: str) -> None:
        """Count, and write the primes."""
        _requests.add(1)
        super().get(text)


class CountHandler(tornado.web.RequestHandler):
    """Tell how many requests were counted."""

    def get(self) -> None:
        """Write the number."""
        self.write({"requests": _requests.value})


def counting(_workers: int, _values: Values) -> tornado.web.Application:
    """Return the application with requests that are counted."""
    return tornado.web.Application(
        [("/count", CountHandler), ("/(.*)", CountedPrimesHandler)]
    )


CASE: Case = replace(
    primes.CASE,
    name="counter",
    summary="primes, and a counter to which every request adds",
    competitors=(
        Competitor("without", "txloop", "transactional", ("--executor", "processes")),
        Competitor("with", "txloop", "counting", ("--executor", "processes")),
    ),
    baseline="without",
)
