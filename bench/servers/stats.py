"""What a server tells of itself to those who ask, where txloop serves."""

from __future__ import annotations

import tornado.web

STATS = "/bench/stats"
"""Where a server may tell `{"conflicts": NUMBER}`."""


class StatsHandler(tornado.web.RequestHandler):
    """What txloop counts."""

    def get(self) -> None:
        """Write how many attempts were thrown away."""
        import txloop  # a stock server imports this module, too

        self.write({"conflicts": txloop.stats().aborts})
