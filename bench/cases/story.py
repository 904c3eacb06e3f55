"""The game with three habits that make conflicts, given up one after another.

The load and the check of every answer are those of `astar`; the story is told in
docs/from-one-core-to-all.md.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from bench.case import Case, Competitor
from bench.cases import astar
from bench.cases.astar import plain
from bench.servers.stats import STATS, StatsHandler

if TYPE_CHECKING:
    import tornado.web

    from bench.case import Values

__all__ = ["CASE", "fixed_0", "fixed_1", "fixed_2", "fixed_3", "plain"]


def _fixed(number: int, _workers: int, values: Values) -> tornado.web.Application:
    """Return the story's game with so many habits given up."""
    from handlers.astar import make_application
    from handlers.astar_game import make_walls
    from handlers.astar_story import StoryGame

    names = ("width", "height", "walls", "seed")
    walls = make_walls(*(values[name] for name in names))
    application = make_application(StoryGame(walls, number))
    application.add_handlers(".*", [(STATS, StatsHandler)])
    return application


fixed_0, fixed_1, fixed_2, fixed_3 = (partial(_fixed, number) for number in range(4))

_PROCESSES = ("--executor", "processes")

CASE: Case = replace(
    astar.CASE,
    name="story",
    summary="the game as first written, and with its three lines fixed",
    competitors=(
        Competitor("stock", "stock", "plain"),
        Competitor("as first written", "txloop", "fixed_0", _PROCESSES),
        Competitor("one line fixed", "txloop", "fixed_1", _PROCESSES),
        Competitor("two lines fixed", "txloop", "fixed_2", _PROCESSES),
        Competitor("three lines fixed", "txloop", "fixed_3", _PROCESSES),
    ),
)
