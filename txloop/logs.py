"""Logging inside an attempt: records wait for the commit, with the effects.

A record of an aborted attempt never reaches a handler; one of a committed attempt
reaches the program's handlers once, on the loop thread, filters included.

What txloop itself has to say must never keep it from what it has to do: a handler that
raises (no space is left on its disk) loses the record, and nothing else.
"""

from __future__ import annotations

import logging
from contextlib import suppress

from txloop.attempt import current

__all__ = ["capture_records"]

_stock_handle = logging.Logger.handle

_ours = logging.getLogger("txloop")


def _handle(self: logging.Logger, record: logging.LogRecord) -> None:
    attempt = current()
    if attempt is not None:
        attempt.records.append(record)
    elif self is _ours:
        with suppress(Exception):  # there is nobody left to tell
            _stock_handle(self, record)
    else:
        _stock_handle(self, record)


def capture_records() -> None:
    """Make loggers keep what is logged inside attempts; again does nothing."""
    logging.Logger.handle = _handle  # type: ignore[method-assign] # see above
