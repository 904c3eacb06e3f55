"""The primes server of the 2014 experiment: one CPU-bound handler and a start page.

`PrimesHandler` is plain synchronous Tornado; the decorator is all that makes its
requests run in parallel. The page is not marked, so it runs on the loop thread.
"""

from __future__ import annotations

import pathlib

import tornado.web

import txloop
from handlers.prime_numbers import LIMIT, parse_number, primes_up_to

_HERE = pathlib.Path(__file__).parent


@txloop.transactional
class PrimesHandler(tornado.web.RequestHandler):
    """Answer `GET /NUMBER` with the primes up to that number, as JSON."""

    def get(self, text: str) -> None:
        """Write `{"primes": [...]}`, or 400 and `{"error": ...}` for a bad number."""
        try:
            number = parse_number(text)
        except ValueError as error:
            self.set_status(400)
            self.write({"error": str(error)})
            return
        self.write({"primes": primes_up_to(number)})

    def write_error(self, status_code: int, **kwargs: object) -> None:
        """Write what Tornado itself refuses, such as a wrong method, as JSON too."""
        self.finish({"error": f"{status_code} {self._reason}"})


class IndexHandler(tornado.web.RequestHandler):
    """Answer `GET /` with a page that says what to try."""

    def get(self) -> None:
        """Write the page, with the address by which the visitor came."""
        root = f"{self.request.protocol}://{self.request.host}"
        self.render("primes.html", root=root, limit=LIMIT)

    def get_template_path(self) -> str:
        """Return the directory of this module: the page lies beside it."""
        return str(_HERE)


def make_application() -> tornado.web.Application:
    """Return the application: `/` is the page, everything after the slash a number."""
    return tornado.web.Application([("/", IndexHandler), ("/(.*)", PrimesHandler)])
