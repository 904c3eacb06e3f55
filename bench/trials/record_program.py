"""The program of the trial `records`: a list of dicts, as in many small services.

``record_program.py SIZE`` serves it by stock Tornado. It knows nothing of txloop, which
is told to run it by ``python -m txloop --auto --share``.
"""

from __future__ import annotations

import asyncio
import copy
import json
import sys
from typing import Any

import tornado.web

from bench.servers.setup import bind, follow_parent, serve

records: list[dict[str, Any]] = [
    {"number": number, "name": f"record {number}"} for number in range(int(sys.argv[1]))
]


others: list[dict[str, Any]] = [*map(dict, records)]


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


class MarkHandler(tornado.web.RequestHandler):
    """``GET /mark/NUMBER``."""

    def get(self, number: str) -> None:
        """Set an item of the record of that number."""
        for each in records:
            if each["number"] == int(number):
                each["marked"] = not each.get("marked", False)
                break
        self.write(number)


class FieldHandler(tornado.web.RequestHandler):
    """``GET /field/NUMBER``."""

    def get(self, number: str) -> None:
        """Set an item of the record at that place."""
        record = records[int(number)]
        record["asked"] = record.get("asked", 0) + 1
        self.write(str(record["asked"]))


class EditHandler(tornado.web.RequestHandler):
    """``GET /edit/NUMBER``."""

    def get(self, number: str) -> None:
        """Put a changed copy of a record in its place."""
        for place, each in enumerate(records):
            if each["number"] == int(number):
                records[place] = {**each, "name": "an edited record"}
                break
        self.write(number)


class FrontHandler(tornado.web.RequestHandler):
    """``GET /front/NUMBER``."""

    def get(self, number: str) -> None:
        """Move the record at that place to the front."""
        records.insert(0, records.pop(int(number)))
        self.write(number)


class KeepHandler(tornado.web.RequestHandler):
    """``GET /keep/NUMBER``."""

    def get(self, number: str) -> None:
        """Keep all but one, in a new list, and add another one of that number."""
        global others
        others = [each for each in others if each["number"] != int(number)]
        others.append({"number": int(number), "name": "another record"})
        self.write(number)


class CopyHandler(tornado.web.RequestHandler):
    """``GET /copy/NUMBER``."""

    def get(self, number: str) -> None:
        """Write a deep copy of ten records."""
        few = copy.deepcopy(records[:10])
        few[0]["asked"] = number
        self.write(json.dumps(few))


def main() -> None:
    """Serve until the process is told to end."""
    follow_parent()
    application = tornado.web.Application(
        [
            (r"/find/(\d+)", FindHandler),
            (r"/sum/(\d+)", SumHandler),
            (r"/dump/(\d+)", DumpHandler),
            (r"/swap/(\d+)", SwapHandler),
            (r"/mark/(\d+)", MarkHandler),
            (r"/field/(\d+)", FieldHandler),
            (r"/edit/(\d+)", EditHandler),
            (r"/front/(\d+)", FrontHandler),
            (r"/keep/(\d+)", KeepHandler),
            (r"/copy/(\d+)", CopyHandler),
        ]
    )
    asyncio.run(serve(application, bind(0)))


if __name__ == "__main__":
    main()
