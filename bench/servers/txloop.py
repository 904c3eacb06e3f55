"""Tornado on the TransactionIOLoop, with the executor that the command line names."""

from __future__ import annotations

import asyncio

import txloop
from bench.case import load_application
from bench.servers.setup import bind, follow_parent, make_parser, serve


def main() -> None:
    """Serve the application that the command line names."""
    parser = make_parser(__doc__)
    parser.add_argument("--executor", default="processes", help="serial or processes")
    options = parser.parse_args()
    follow_parent()
    try:
        txloop.install(executor=options.executor, workers=options.workers)
    except txloop.errors.TxConfigurationError as error:
        parser.error(str(error))
    application = load_application(options.application)(options.workers)
    asyncio.run(serve(application, bind(options.port)))


if __name__ == "__main__":
    main()
