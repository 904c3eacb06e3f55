"""Stock Tornado in one process; a case's application may add a pool of its own."""

from __future__ import annotations

import asyncio

from bench.servers.setup import (
    bind,
    follow_parent,
    make_application,
    make_parser,
    serve,
)


def main() -> None:
    """Serve the application that the command line names."""
    options = make_parser(__doc__).parse_args()
    follow_parent()
    application = make_application(options)
    asyncio.run(serve(application, bind(options.port)))


if __name__ == "__main__":
    main()
