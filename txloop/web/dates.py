"""The header ``Date``: formatted once in each second, not once for each answer.

Tornado's handlers begin with it, and to format it takes some 3 % of the processor time
of a request that does nothing.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from tornado import httputil

from txloop.loop.patches import patch

if TYPE_CHECKING:
    import datetime
    import time

__all__ = ["format_dates_once"]

_SECOND_IS_CERTAIN = 0.999
"""From here on, a part of a second is so near to the next that it may be rounded."""

_stock_format_timestamp = httputil.format_timestamp
_last = (-1, "")  # a whole second, and what it is called; replaced at once


@functools.wraps(_stock_format_timestamp)
def _format_timestamp(
    ts: float | tuple[int, ...] | time.struct_time | datetime.datetime,
) -> str:
    global _last
    if type(ts) is not float or not ts > 0 or ts % 1 > _SECOND_IS_CERTAIN:
        return _stock_format_timestamp(ts)
    second, text = _last
    if second != int(ts):
        second, text = _last = int(ts), _stock_format_timestamp(ts)
    return text


def format_dates_once() -> None:
    """Have Tornado format the time of a second once."""
    patch(httputil, "format_timestamp", _format_timestamp)
