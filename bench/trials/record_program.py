"""The program of the trial `records`: a list of dicts, as in many small services.

``record_program.py SIZE`` serves it by stock Tornado. It knows nothing of txloop, which
is told to run it by ``python -m txloop --auto --share``.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import tornado.web

from bench.servers.setup import bind, follow_parent, serve

records: list[dict[str, Any]] = [
    {"number": number, "name": f"record {number}"} for number in range(int(sys.argv[1]))
]


class FindHandler(tornado.web.RequestHandler):
    """``GET /find/NUMBER``."""

    def get(self, number: str) -> None:
        """Write the record of that number."""
        found = [each for each in records if each["number"] == int(number)]
        self.write(found[0])


class SumHandler(tornado.web.RequestHandler):
    """``GET /sum/NUMBER``."""

    def get(self, number: str) -> None:
        """Write what two items of each record tell."""
        total = 0
        for each in records:
            total += each["number"]
            if each.get("name") == number:
                total += 1
        self.write(str(total))


class DumpHandler(tornado.web.RequestHandler):
    """``GET /dump/NUMBER``."""

    def get(self, number: str) -> None:
        """Write all as JSON."""
        self.write(json.dumps(records))


class SwapHandler(tornado.web.RequestHandler):
    """``GET /swap/NUMBER``."""

    def get(self, number: str) -> None:
        """Put another record of that number to the end, in the place of one."""
        found = [each for each in records if each["number"] == int(number)]
        records.remove(found[0])
        records.append({"number": int(number), "name": "another record"})
        self.write(number)


def main() -> None:
    """Serve until the process is told to end."""
    follow_parent()
    application = tornado.web.Application(
        [
            (r"/find/(\d+)", FindHandler),
            (r"/sum/(\d+)", SumHandler),
            (r"/dump/(\d+)", DumpHandler),
            (r"/swap/(\d+)", SwapHandler),
        ]
    )
    asyncio.run(serve(application, bind(0)))


if __name__ == "__main__":
    main()
