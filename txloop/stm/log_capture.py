"""Logging inside an attempt: records wait for the commit, with the effects.

A record of an aborted attempt never reaches a handler; one of a committed attempt
reaches the program's handlers once, on the loop thread, filters included. All filters
run there: one that counts, counts what happened. They find the context variables of the
moment at which the record was made, and the text that it had then.

What txloop itself has to say must never keep it from what it has to do: a handler that
raises (no space is left on its disk) loses the record, and nothing else.

Nor may it change what an unchanged program does: one that keeps its own log, and shows
it, was not written for more lines in it. See `spare_the_program`.
"""

from __future__ import annotations

import contextvars
import copy
import io
import logging
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from txloop.stm.attempt import current
from txloop.stm.immutability import CHANGEABLE, CONSTANTS
from txloop.stm.origin import own_module_of
from txloop.stm.types import Effect
from txloop.stm.variables import Variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["emission", "emit_here", "handle", "send_records", "spare_the_program"]

_stock_handle = logging.Logger.handle

_ours = logging.getLogger("txloop")

_VARIABLES = "_txloop_variables"

_spared = False


class _Here(threading.local):
    sink: Callable[[logging.LogRecord], object] | None = None


_here = _Here()


def send_records(sink: Callable[[logging.LogRecord], object] | None) -> None:
    """Let `sink` take the records that this thread makes outside attempts.

    Args:
        sink: Takes each; None: they are handled here, as usual.
    """
    _here.sink = sink


def spare_the_program() -> None:
    """Keep our own lines from where the program itself would find them.

    That is from handlers of its own classes, and from texts in memory. Files, terminals
    and what libraries send elsewhere get them, and so does each handler that was given
    to the logger `txloop` itself. Where nothing else gets them, warnings are printed.
    """
    global _spared
    _spared = True


def handle(self: logging.Logger, record: logging.LogRecord) -> None:
    """Keep what is logged inside an attempt; in the place of `Logger.handle`."""
    attempt = current()
    if attempt is not None:
        _fix(record)
        vars(record)[_VARIABLES] = Variables(
            attempt.variables.base, contextvars.copy_context()
        )
        attempt.records.append(record)
    elif _here.sink is not None:
        _fix(record)
        _here.sink(record)
    elif self is _ours:
        with suppress(Exception):  # nothing is left that could be told
            (_tell if _spared else _stock_handle)(self, record)
    else:
        _stock_handle(self, record)


def _tell(ours: logging.Logger, record: logging.LogRecord) -> None:
    """Do as `Logger.handle`, for handlers that the program does not read itself."""
    if ours.disabled or not ours.filter(record):
        return
    handlers = [*ours.handlers, *filter(_leads_out, _handlers_above(ours))]
    if not handlers and logging.lastResort is not None:
        handlers = [logging.lastResort]
    for each in handlers:
        if record.levelno >= each.level:
            each.handle(record)


def _handlers_above(logger: logging.Logger) -> Iterator[logging.Handler]:
    while logger.propagate and logger.parent is not None:
        logger = logger.parent
        yield from logger.handlers


def _leads_out(handler: logging.Handler) -> bool:
    """Tell whether what it is given is for others than the program."""
    stream = getattr(handler, "stream", None)
    if isinstance(stream, io.StringIO):
        return False
    return not any(own_module_of(type(one)) for one in (handler, stream))


def _fix(record: logging.LogRecord) -> None:
    """Make a record independent of what its arguments may become."""
    args = record.args
    fixed = type(args) is tuple and all(type(one) in CONSTANTS for one in args)
    if type(record.msg) is not str or (args and not fixed):
        with suppress(Exception):  # they do not fit; the program's handlers will say so
            record.msg, record.args = record.getMessage(), ()
    for name, value in vars(record).items():
        if type(value) in CHANGEABLE and name != "args":
            with suppress(Exception):  # whatever the objects in it raise
                setattr(record, name, copy.deepcopy(value))


def emission(record: logging.LogRecord) -> Effect:
    """Return what hands a record to its logger."""
    variables = vars(record).pop(_VARIABLES, None)
    return Effect(_emit, (record,), {}, record.name, variables)


def emit_here(record: logging.LogRecord) -> None:
    """Let a record be logged that another process or thread has sent to this one."""
    try:
        _emit(record)
    except Exception:  # the program's handlers; what else has come goes on
        _ours.exception("a log handler failed")


def _emit(record: logging.LogRecord) -> None:
    logging.getLogger(record.name).handle(record)
