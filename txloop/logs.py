"""Logging inside an attempt: records wait for the commit, with the effects.

A record of an aborted attempt never reaches a handler; one of a committed attempt
reaches the program's handlers once, on the loop thread, filters included.
"""

from __future__ import annotations

import logging

from txloop.attempt import current

__all__ = ["capture_records"]

_stock_handle = logging.Logger.handle


def _handle(self: logging.Logger, record: logging.LogRecord) -> None:
    attempt = current()
    if attempt is None:
        _stock_handle(self, record)
    else:
        attempt.records.append(record)


def capture_records() -> None:
    """Make loggers keep what is logged inside attempts; again does nothing."""
    logging.Logger.handle = _handle  # type: ignore[method-assign] # see above
