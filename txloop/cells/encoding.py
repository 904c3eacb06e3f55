"""Containers as JSON: for Tornado's `json_encode` and `write`, and for `json` itself.

`json` asks `JSONEncoder.default` about what it does not know. All of Tornado's encoding
ends there, so that is the one place to answer, and what was an error there is all that
changes.
"""

from __future__ import annotations

import json

from txloop.container import Container

__all__ = ["encode_containers"]

_stock_default = json.JSONEncoder.default


def _default(self: json.JSONEncoder, value: object) -> object:
    if isinstance(value, Container):
        return value._as_json()  # the encoder asks again for what is in it
    return _stock_default(self, value)


def encode_containers() -> None:
    """Let every JSON encoder take containers; those with a `default` keep their own.

    A `TSet` becomes a list, a `TVar` or `TCounter` its value, a `TObject` an object.
    """
    json.JSONEncoder.default = _default  # type: ignore[method-assign,assignment] # in place
