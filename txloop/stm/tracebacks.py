"""Tracebacks as they would be of plain objects.

A container's methods are Python, those of a dict are C: they have frames, and what they
catch inside is the context of what they raise. Nothing of that is the program's, which
shows tracebacks in its answers: Tornado in debug mode, or its own code.
"""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

from txloop.errors import TxInternalError
from txloop.stm.origin import Owner, owner_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

__all__ = ["format_as_plain", "hide_own_frames"]


def hide_own_frames(error: BaseException, *, of_containers: bool = False) -> None:
    """Remove txloop's frames from the tracebacks of an error, and of its contexts.

    Args:
        error: What was caught. It is changed.
        of_containers: Whether only those go which the program's code has called.
    """
    errors = [error]
    for one in errors:  # it grows
        if not isinstance(one, TxInternalError):
            _hide(one.__traceback__, of_containers)
            while one.__context__ is not None and _is_own(one.__context__):
                one.__context__ = one.__context__.__context__
        for other in (one.__cause__, one.__context__):
            if other is not None and all(other is not one for one in errors):
                errors.append(other)


def _hide(trace: TracebackType | None, of_containers: bool) -> None:
    entry, seen = trace, not of_containers
    while entry is not None and entry.tb_next is not None:
        seen = seen or _owner(entry) is Owner.PROGRAM
        if seen and _owner(entry.tb_next) is Owner.TXLOOP:
            entry.tb_next = entry.tb_next.tb_next
        else:
            entry = entry.tb_next


def _is_own(context: BaseException) -> bool:
    """Tell whether an error came and went inside of txloop."""
    owners = [_owner(entry) for entry in _entries(context.__traceback__)]
    return owners[:1] == [Owner.TXLOOP] and Owner.PROGRAM not in owners


def _entries(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _owner(entry: TracebackType) -> Owner:
    return owner_of(entry.tb_frame.f_code.co_filename)


def format_as_plain() -> None:
    """Have Python's module `traceback` show no frames of containers."""
    traceback.TracebackException = _Plain  # type: ignore[misc] # it is looked up there
    traceback.extract_tb = _extract_plain


_stock_extract = traceback.extract_tb


class _Plain(traceback.TracebackException):
    def __init__(
        self,
        exc_type: type[BaseException],
        exc_value: BaseException,
        *arguments: Any,
        **named: Any,
    ) -> None:
        if isinstance(exc_value, BaseException):
            hide_own_frames(exc_value, of_containers=True)
        super().__init__(exc_type, exc_value, *arguments, **named)


def _extract_plain(
    tb: TracebackType | None, limit: int | None = None
) -> traceback.StackSummary:
    _hide(tb, True)
    return _stock_extract(tb, limit)
