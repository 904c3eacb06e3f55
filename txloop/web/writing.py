"""`RequestHandler.write`, and JSON, take containers as they take what is in them."""

from __future__ import annotations

import functools
import json
from typing import Any

from tornado.web import RequestHandler

from txloop.cells.encoding import default, has_json
from txloop.loop.patches import patch
from txloop.stm.container import Container

__all__ = ["write_containers"]

_stock_write = RequestHandler.write


@functools.wraps(_stock_write)
def _write(self: RequestHandler, chunk: Any) -> None:
    if isinstance(chunk, Container) and has_json(chunk):
        chunk = chunk._tx_as_json()  # a TDict or TObject is written, a list refused
    _stock_write(self, chunk)


def write_containers() -> None:
    """Let handlers write a `TDict` or `TObject` as they write a dict.

    And every JSON encoder take containers; those with a `default` keep their own.
    """
    patch(RequestHandler, "write", _write)
    patch(json.JSONEncoder, "default", default)
