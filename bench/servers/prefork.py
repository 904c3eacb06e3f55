"""Stock Tornado forked into several processes, which share nothing but the port."""

from __future__ import annotations

import asyncio

import tornado.process

from bench.case import load_application
from bench.servers.setup import bind, follow_parent, make_parser, serve


def main() -> None:
    """Serve the application that the command line names, in `--workers` processes."""
    options = make_parser(__doc__).parse_args()
    follow_parent()
    sockets = bind(options.port)
    # The first process stays in this call and only waits for the others.
    tornado.process.fork_processes(options.workers)
    follow_parent()
    application = load_application(options.application)(options.workers)
    asyncio.run(serve(application, sockets))


if __name__ == "__main__":
    main()
