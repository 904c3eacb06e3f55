"""Requests that cost nothing: what the loop itself adds to each.

The marked handler is far shorter than its transport to a worker, so txloop runs it
inline; the unmarked one runs as in stock Tornado.
"""

from __future__ import annotations

import tornado.web

from bench.case import Case, Competitor, Sample, Values

_BODY = b"Hello, world"


class PlainHandler(tornado.web.RequestHandler):
    """Answer without any work."""

    def get(self) -> None:
        """Write a greeting."""
        self.write("Hello, world")


def plain(_workers: int, _values: Values) -> tornado.web.Application:
    """Return the application without any mark."""
    return tornado.web.Application([("/", PlainHandler)])


def transactional(_workers: int, _values: Values) -> tornado.web.Application:
    """Return the same application with the handler marked."""
    from handlers.hello import make_application

    return make_application()


def _load(_values: Values) -> tuple[str, ...]:
    return ("/",)


def _samples(_values: Values) -> tuple[Sample, ...]:
    return (Sample("/", lambda body: body == _BODY),)


CASE = Case(
    name="hello",
    summary="requests that cost nothing: what the loop adds",
    competitors=(
        Competitor("stock", "stock", "plain"),
        Competitor("prefork", "prefork", "plain"),
        Competitor("txloop unmarked", "txloop", "plain", ("--executor", "processes")),
        Competitor(
            "txloop transactional",
            "txloop",
            "transactional",
            ("--executor", "processes"),
        ),
    ),
    baseline="stock",
    load=_load,
    samples=_samples,
    fronts=True,
)
