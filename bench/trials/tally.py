"""The servers of the trials `light` and `cores`: a thousand cells, read and counted up.

Most handlers do next to nothing, so that what is measured is the way to them.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import tornado.web

from bench.burn import burn

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from bench.case import Values
    from bench.cases.contention import Number

__all__ = ["CELLS", "HELLO", "SAME", "TOTAL", "plain", "transactional"]

CELLS = 1000
SAME, HELLO, TOTAL = "/same", "/hello", "/total"


class TallyHandler(tornado.web.RequestHandler):
    """What the handlers have that look at the cells."""

    def initialize(self, cells: MutableMapping[int, int], same: Number) -> None:
        """Keep the cells, and the number to which everybody adds."""
        self.cells = cells
        self.same = same


class ReadHandler(TallyHandler):
    """``GET /read/KEY``."""

    def get(self, key: str) -> None:
        """Write what is in a cell."""
        self.write(str(self.cells[int(key)]))


class AddHandler(TallyHandler):
    """``GET /add/KEY``."""

    def get(self, key: str) -> None:
        """Add one to a cell, and write what is in it."""
        number = self.cells[int(key)] + 1
        self.cells[int(key)] = number
        self.write(str(number))


class SameHandler(TallyHandler):
    """``GET /same``."""

    def get(self) -> None:
        """Add one to the same number as all others, and write it."""
        number = self.same.value + 1
        self.same.value = number
        self.write(str(number))


class BurnHandler(tornado.web.RequestHandler):
    """``GET /burn/MICROSECONDS``."""

    def get(self, microseconds: str) -> None:
        """Compute for so long."""
        burn(int(microseconds) / 1000)
        self.write("done")


class HelloHandler(tornado.web.RequestHandler):
    """``GET /hello``, never marked."""

    def get(self) -> None:
        """Write a greeting."""
        self.write("Hello, world")


class TotalHandler(TallyHandler):
    """``GET /total``, never marked."""

    def get(self) -> None:
        """Write how often anything was added."""
        self.write({"total": sum(self.cells.values()) + self.same.value})


def plain(_workers: int, _values: Values) -> tornado.web.Application:
    """Return the application for stock Tornado, over a plain dict."""
    return _application(dict.fromkeys(range(CELLS), 0), SimpleNamespace(value=0))


def transactional(_workers: int, _values: Values) -> tornado.web.Application:
    """Return the same over containers, with the handlers marked that have work."""
    import txloop  # only where txloop serves

    for handler in ReadHandler, AddHandler, SameHandler, BurnHandler:
        txloop.transactional(handler)
    return _application(txloop.TDict(dict.fromkeys(range(CELLS), 0)), txloop.TVar(0))


def _application(
    cells: MutableMapping[int, int], same: Number
) -> tornado.web.Application:
    shared = {"cells": cells, "same": same}
    return tornado.web.Application(
        [
            (r"/read/(\d+)", ReadHandler, shared),
            (r"/add/(\d+)", AddHandler, shared),
            (SAME, SameHandler, shared),
            (r"/burn/(\d+)", BurnHandler),
            (HELLO, HelloHandler),
            (TOTAL, TotalHandler, shared),
        ]
    )
