"""Containers as JSON: for Tornado's `json_encode` and `write`, and for `json` itself.

`json` asks `JSONEncoder.default` about what it does not know. All of Tornado's encoding
ends there, so that is the one place to answer, and what was an error there is all that
changes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from txloop.stm.container import Container

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["default", "encode_like_plain", "has_json"]

_stock_default = json.JSONEncoder.default
_stock_iterencode = json.JSONEncoder.iterencode

_like_plain = False


def default(self: json.JSONEncoder, value: object) -> object:
    """Return what JSON has for a container; in the place of `JSONEncoder.default`.

    A `TSet` becomes a list, a `TVar` or `TCounter` its value, a `TObject` an object.
    """
    if isinstance(value, Container) and has_json(value):
        return value._tx_as_json()  # the encoder asks again for what is in it
    return _stock_default(self, value)


def has_json(container: Container) -> bool:
    """Tell whether JSON takes a container: all, or those that pass for dict or list."""
    return not _like_plain or isinstance(container, dict | list)


def encode_like_plain() -> None:
    """Let JSON take containers just where it takes the types they replace.

    A `default` of the program's own is not asked about a dict or a list, and about all
    others it is.
    """
    global _like_plain
    _like_plain = True
    json.JSONEncoder.iterencode = _iterencode  # type: ignore[method-assign] # wraps it


def _iterencode(
    self: json.JSONEncoder, o: Any, _one_shot: bool = False
) -> Iterator[str]:
    asked = self.default
    if getattr(asked, "__func__", None) is default:
        return _stock_iterencode(self, o, _one_shot)

    def first(value: Any) -> Any:
        if isinstance(value, Container) and has_json(value):
            return value._tx_as_json()
        return asked(value)

    before = vars(self).get("default")
    its: Any = self  # its constructor sets the method, too
    its.default = first
    try:
        return _stock_iterencode(self, o, _one_shot)
    finally:
        if before is None:
            del its.default
        else:
            its.default = before
