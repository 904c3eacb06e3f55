"""The game as one would write it first: three habits that cost nothing on one core.

Each is right, on any number of cores, and each keeps the cores waiting for one another.
``fixed`` says how many of them have been given up, in the order in which the log named
them; `docs/from-one-core-to-all.md` tells the story.
"""

from __future__ import annotations

import txloop
from handlers.astar_events import EventLog
from handlers.astar_game import Game
from handlers.astar_search import Path, Place, Walls, find_path

__all__ = ["FIXES", "StoryGame"]

FIXES = 3
"""How many habits there are to give up."""

_RECENT = 10


class StoryGame(Game):
    """A game that counts its searches and remembers what the last ones cost."""

    def __init__(self, walls: Walls, fixed: int) -> None:
        """Start a game with so many of its habits given up."""
        log = EventLog(txloop.TList, txloop.TDict)
        super().__init__(walls, txloop.TList, txloop.TDict, txloop.on_commit, log)
        self._fixed = fixed
        self._numbers["searches"] = 0
        self._searches = txloop.TCounter()
        self._recent = txloop.TList[float]()

    def find_path(self, start: Place, goal: Place) -> Path | None:
        """Return a shortest path, and take note of it."""
        self._check(start)
        self._check(goal)
        self._count()
        path = self._search(start, goal)
        if path is not None:
            self._remember(path.cost)
        return path

    def _count(self) -> None:
        if self._fixed < 1:
            self._numbers["searches"] += 1
        else:
            self._searches.add(1)

    def _remember(self, cost: float) -> None:
        self._recent.append(cost)
        if self._fixed < 3:
            forget_old_ones(self._recent)
        else:
            txloop.on_commit(forget_old_ones, self._recent)

    def _search(self, start: Place, goal: Place) -> Path | None:
        if self._fixed < 2:
            walls = [list(row) for row in self._rows]
            return find_path(walls, start, goal)
        return find_path(self._rows, start, goal)


def forget_old_ones(recent: txloop.TList[float]) -> None:
    """Keep the newest ones only."""
    if len(recent) > _RECENT:
        del recent[0]
