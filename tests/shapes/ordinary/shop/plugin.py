"""A plugin, of which `sys.modules` does not know."""

from __future__ import annotations

from typing import ClassVar

from tornado.web import RequestHandler

hits: list[int] = []


class Plugin(RequestHandler):
    seen: ClassVar[dict[int, int]] = {}

    def hit(self):
        hits.append(1)
        self.seen[len(self.seen)] = 1
        return f"{len(hits)} {len(self.seen)}"
