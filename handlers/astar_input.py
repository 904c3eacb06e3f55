"""What clients send, read with suspicion: no Tornado, no txloop.

Each function returns the value or raises `Refused` with what is wrong with it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from handlers.astar_errors import Refused

if TYPE_CHECKING:
    from handlers.astar_search import Place

__all__ = [
    "LONGEST_TAG",
    "read_object",
    "read_place",
    "read_place_of_text",
    "read_player",
    "read_tag",
    "read_version",
]

LONGEST_TAG = 100

_HUGE = 10**9  # is off every map, and no error message should be longer
_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,8}")
_PLAYER = re.compile(r"[1-9][0-9]{0,17}")
_VERSION = re.compile(r"0|[1-9][0-9]{0,17}")


def read_object(body: bytes) -> dict[str, object]:
    """Read a JSON object; nothing at all stands for an empty one."""
    if not body:
        return {}
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, "the body is not JSON") from None
    if not isinstance(value, dict):
        raise Refused(400, "the body is not a JSON object")
    return value


def read_place(value: object) -> Place:
    """Read a cell from JSON: ``[x, y]``."""
    match value:
        # A bool is an int to Python, and to nobody else.
        case [int(x), int(y)] if type(x) is type(y) is int:
            if max(abs(x), abs(y)) < _HUGE:
                return x, y
    raise Refused(400, '"to" must be two whole numbers: [x, y]')


def read_place_of_text(x: str, y: str) -> Place:
    """Read a cell from the two parts of a path or query."""
    if not (_NUMBER.fullmatch(x) and _NUMBER.fullmatch(y)):
        raise Refused(400, "a cell is two whole numbers, x and y")
    return int(x), int(y)


def read_player(text: str) -> int:
    """Read a player's number; what is no number is no player."""
    if not _PLAYER.fullmatch(text):
        raise Refused(404, "there is no such player")
    return int(text)


def read_version(text: str) -> int:
    """Read a version."""
    if not _VERSION.fullmatch(text):
        raise Refused(400, '"since" must be a version: 0, 1, 2 ...')
    return int(text)


def read_tag(value: object) -> str | None:
    """Read the client's own mark of a change, if there is one."""
    if value is None or (isinstance(value, str) and len(value) <= LONGEST_TAG):
        return value
    raise Refused(400, f'"tag" must be a string of at most {LONGEST_TAG} characters')
