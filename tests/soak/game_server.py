"""``examples/astar.py`` with slow requests and its figures; run by `game`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import tornado.web

import txloop
from examples.astar import make_game_parser
from examples.program import run
from handlers.astar import make_application, make_game
from handlers.astar_events import KEPT_EVENTS
from handlers.astar_game import make_walls
from handlers.astar_requests import GameHandler

if TYPE_CHECKING:
    from tornado.web import Application


LAG_SECONDS = 0.005
"""How long each request waits: so that it runs in a worker, which may be killed."""


class FiguresHandler(tornado.web.RequestHandler):
    """``GET /figures``: what the loop has done; unmarked."""

    def get(self) -> None:
        """Write the figures, and the commits of each handler verb."""
        stats = txloop.stats()
        self.write(
            {
                "executor": stats.executor,
                "attempts": stats.attempts,
                "commits": stats.commits,
                "conflicts": stats.aborts,
                "inline": stats.inline,
                "errors": stats.errors,
                "waiting": stats.waiting,
                "labels": {one.label: one.commits for one in stats.labels},
            }
        )


def _lag(_handler: GameHandler) -> None:
    time.sleep(LAG_SECONDS)


def main() -> None:
    """Parse the example's options, and how many events are kept, and serve."""
    parser = make_game_parser()
    parser.add_argument("--kept", type=int, default=KEPT_EVENTS, help="events")
    options = parser.parse_args()
    GameHandler.prepare = _lag  # type: ignore[assignment, method-assign] # of all its requests

    def make() -> Application:
        walls = make_walls(options.width, options.height, options.walls, options.seed)
        application = make_application(make_game(walls, options.kept))
        application.add_handlers(".*", [("/figures", FiguresHandler)])
        return application

    run("A* game", parser, options, make)


if __name__ == "__main__":
    main()
