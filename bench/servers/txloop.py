"""Tornado on the TransactionIOLoop, with the executor that the command line names."""

from __future__ import annotations

import asyncio
import tempfile

import txloop
from bench.servers.setup import (
    bind,
    follow_parent,
    make_application,
    make_parser,
    serve,
)


def main() -> None:
    """Serve the application that the command line names."""
    parser = make_parser(__doc__)
    parser.add_argument("--executor", default="processes", help="serial or processes")
    parser.add_argument("--max-queue", type=int, help="of calls; default: no bound")
    parser.add_argument("--order", default="completion", help="of commits, or arrival")
    parser.add_argument("--rounds", default="overlapping", help="or barrier")
    parser.add_argument("--log", action="store_true", help="write a conflict log")
    options = parser.parse_args()
    follow_parent()
    with tempfile.TemporaryDirectory(prefix="bench-log-") as folder:
        try:
            txloop.install(
                executor=options.executor,
                workers=options.workers,
                order=options.order,
                rounds=options.rounds,
                max_queue=options.max_queue,
                log=f"{folder}/stm.log" if options.log else None,
            )
        except txloop.errors.TxConfigurationError as error:
            parser.error(str(error))
        application = make_application(options)
        asyncio.run(serve(application, bind(options.port)))


if __name__ == "__main__":
    main()
