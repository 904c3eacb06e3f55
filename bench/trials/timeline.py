"""The servers of the trial `memory`: statistics over one big data set in memory.

It is what Stackalytics does: every request goes through many records of a data set that
nobody changes, and counts. The data set is made before any worker is.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import tornado.web

if TYPE_CHECKING:
    from bench.case import Values

__all__ = ["MODULES", "DataSet", "TimelineHandler", "plain", "transactional"]

MODULES = 200
_COMPANIES = 500
_WEEKS = 260


@dataclass(slots=True)
class Record:
    """One commit of somebody's."""

    week: int
    company: str
    lines: int


class DataSet:
    """Records by the module that they changed."""

    def __init__(self, records: int) -> None:
        """Make so many of them, the same each time."""
        chance = random.Random(1)
        self._by_module: dict[str, list[Record]] = {
            f"module{number}": [] for number in range(MODULES)
        }
        lists = list(self._by_module.values())
        for number in range(records):
            company = f"company{chance.randrange(_COMPANIES)}"
            record = Record(chance.randrange(_WEEKS), company, chance.randrange(10_000))
            lists[number % MODULES].append(record)

    def timeline(self, module: str) -> tuple[list[int], str | None]:
        """Return how often a module changed each week, and who changed most of it."""
        weeks = [0] * _WEEKS
        companies: dict[str, int] = {}
        for record in self._by_module[module]:
            weeks[record.week] += 1
            before = companies.get(record.company, 0)
            companies[record.company] = before + record.lines
        top = max(companies, key=companies.__getitem__, default=None)
        return weeks, top


class TimelineHandler(tornado.web.RequestHandler):
    """``GET /MODULE``: the timeline of a module."""

    def initialize(self, data: DataSet) -> None:
        """Take the data set."""
        self._data = data

    def get(self, module: str) -> None:
        """Write the statistics."""
        weeks, top = self._data.timeline(module)
        self.write({"weeks": weeks, "top": top})


def plain(_workers: int, values: Values) -> tornado.web.Application:
    """Return the application for stock Tornado."""
    of_data = {"data": DataSet(values["records"])}
    return tornado.web.Application([("/(.*)", TimelineHandler, of_data)])


def transactional(workers: int, values: Values) -> tornado.web.Application:
    """Return the same with its handler marked."""
    import txloop

    txloop.transactional(TimelineHandler)
    return plain(workers, values)
