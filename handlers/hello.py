"""The shortest handler there is, marked: what a transaction costs when it does nothing.

txloop measures that this is far shorter than a trip to a worker and runs it inline.
"""

from __future__ import annotations

import tornado.web

import txloop


@txloop.transactional
class HelloHandler(tornado.web.RequestHandler):
    """Answer `GET /` without any work."""

    def get(self) -> None:
        """Write a greeting."""
        self.write("Hello, world")


def make_application() -> tornado.web.Application:
    """Return the application."""
    return tornado.web.Application([("/", HelloHandler)])
