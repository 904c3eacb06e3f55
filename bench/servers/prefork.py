"""Stock Tornado forked into several processes, which share nothing but the port.

With ``--early`` the application is made before the fork, so that the processes share
the memory of what is in it until they write to it; that CPython counts references is
writing. ``--freeze`` keeps at least the garbage collector away from it.

The process that wakes up first accepts all connections that wait, which for a few that
live long can be all there are. ``--reuse-port`` lets the kernel deal them out.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys

import tornado.process

from bench.servers.setup import (
    bind,
    follow_parent,
    listen_beside,
    make_application,
    make_parser,
    serve,
)


def main() -> None:
    """Serve the application that the command line names, in `--workers` processes."""
    parser = make_parser(__doc__)
    parser.add_argument("--early", action="store_true", help="load before the fork")
    parser.add_argument("--freeze", action="store_true", help="gc.freeze() before it")
    parser.add_argument("--reuse-port", action="store_true", help="one socket each")
    options = parser.parse_args()
    follow_parent()
    sockets = bind(options.port, options.reuse_port)
    application = make_application(options) if options.early else None
    if options.freeze and hasattr(gc, "freeze"):
        gc.collect()
        gc.freeze()
    # The first process stays in this call and only waits for the others.
    parent = os.getpid()
    number = tornado.process.fork_processes(options.workers, max_restarts=sys.maxsize)
    follow_parent(parent)
    if options.reuse_port and number:  # the first one has what its parent opened
        sockets = listen_beside(sockets)
    application = application or make_application(options)
    asyncio.run(serve(application, sockets))


if __name__ == "__main__":
    main()
