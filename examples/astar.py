"""Serve the A* game on all cores: python examples/astar.py 4, then open the page."""

from __future__ import annotations

import pathlib
import sys
from typing import TYPE_CHECKING

# The handlers are not installed; they lie in the root of the repository.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from examples.program import make_parser, run
from handlers.astar import make_application, make_game
from handlers.astar_game import make_walls

if TYPE_CHECKING:
    import tornado.web

    from examples.program import OneLineParser

LARGEST = 1000
"""Of width and height; an answer with such a map is a megabyte."""


def make_game_parser() -> OneLineParser:
    """Return the parser of the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--width", type=int, default=80, help="in cells (default: 80)")
    parser.add_argument("--height", type=int, default=50, help="in cells (default: 50)")
    parser.add_argument(
        "--walls", type=int, default=20, help="percent of the cells (default: 20)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="the same one makes the same map"
    )
    return parser


def main() -> None:
    """Parse the options and serve."""
    parser = make_game_parser()
    options = parser.parse_args()
    for name in ("width", "height"):
        if not 1 <= getattr(options, name) <= LARGEST:
            parser.error(f"{name} must be 1..{LARGEST}, not {getattr(options, name)}")
    if not 0 <= options.walls <= 100:
        parser.error(f"walls must be 0..100 percent, not {options.walls}")

    def make() -> tornado.web.Application:
        walls = make_walls(options.width, options.height, options.walls, options.seed)
        return make_application(make_game(walls))

    run("A* game", parser, options, make)


if __name__ == "__main__":
    main()
