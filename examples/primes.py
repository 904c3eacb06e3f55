"""Serve primes on all cores: python examples/primes.py 4, then open the page."""

from __future__ import annotations

import pathlib
import sys

# The handlers are not installed; they lie in the root of the repository.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from examples.program import make_parser, run
from handlers.primes import make_application


def main() -> None:
    """Parse the options and serve."""
    parser = make_parser(__doc__)
    run("primes", parser, parser.parse_args(), make_application)


if __name__ == "__main__":
    main()
