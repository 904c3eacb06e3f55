"""Serve a chat on all cores: python examples/chat.py, then open the page twice."""

from __future__ import annotations

import pathlib
import sys

# The handlers are not installed; they lie in the root of the repository.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from examples.program import make_parser, run
from handlers.chat import make_application


def main() -> None:
    """Parse the options and serve."""
    parser = make_parser(__doc__)
    run("chat", parser, parser.parse_args(), make_application)


if __name__ == "__main__":
    main()
