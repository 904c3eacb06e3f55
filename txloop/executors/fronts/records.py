"""Log records that are made in fronts: the owner's loggers get them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from txloop.executors.codec.frames import loads
from txloop.stm.attempt import current
from txloop.stm.log_capture import handle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["emit", "keep_records", "records_of"]

_log = logging.getLogger("txloop")


def records_of(packed: bytes) -> Sequence[logging.LogRecord]:
    """Return the log records of a frame."""
    return loads(packed) if packed else ()


def keep_records(sink: Callable[[logging.LogRecord], object]) -> Callable[..., None]:
    """Return what takes the place of `Logger.handle` in a front's process.

    Args:
        sink: Takes the records that are made outside attempts.
    """

    def handle_in_front(self: logging.Logger, record: logging.LogRecord) -> None:
        if current() is None:
            sink(record)
        else:
            handle(self, record)

    return handle_in_front


def emit(record: logging.LogRecord) -> None:
    """Let a record that was made in a front be logged here."""
    try:
        logging.getLogger(record.name).handle(record)
    except Exception:  # the program's handlers; what else has come goes on
        _log.exception("a log handler failed")
