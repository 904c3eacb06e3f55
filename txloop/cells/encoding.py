"""Containers as JSON: for Tornado's `json_encode` and `write`, and for `json` itself.

`json` asks `JSONEncoder.default` about what it does not know. All of Tornado's encoding
ends there, so that is the one place to answer, and what was an error there is all that
changes.
"""

from __future__ import annotations

import json

from txloop.stm.container import Container

__all__ = ["default"]

_stock_default = json.JSONEncoder.default


def default(self: json.JSONEncoder, value: object) -> object:
    """Return what JSON has for a container; in the place of `JSONEncoder.default`.

    A `TSet` becomes a list, a `TVar` or `TCounter` its value, a `TObject` an object.
    """
    if isinstance(value, Container):
        return value._as_json()  # the encoder asks again for what is in it
    return _stock_default(self, value)
