"""Serve the game of the story in docs/from-one-core-to-all.md: examples/story.py 2."""

from __future__ import annotations

import pathlib
import sys
from typing import TYPE_CHECKING

# The handlers are not installed; they lie in the root of the repository.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from examples.program import make_parser, run
from handlers.astar import make_application
from handlers.astar_game import make_walls
from handlers.astar_story import FIXES, StoryGame

if TYPE_CHECKING:
    import tornado.web


def main() -> None:
    """Parse the options and serve."""
    parser = make_parser(__doc__)
    parser.add_argument(
        "--fixed", type=int, default=0, help=f"of {FIXES} lines (default: 0)"
    )
    options = parser.parse_args()
    if not 0 <= options.fixed <= FIXES:
        parser.error(f"fixed must be 0..{FIXES}, not {options.fixed}")

    def make() -> tornado.web.Application:
        walls = make_walls(width=200, height=200, percent=30, seed=1)
        return make_application(StoryGame(walls, options.fixed))

    run("A* game (as first written)", parser, options, make)


if __name__ == "__main__":
    main()
