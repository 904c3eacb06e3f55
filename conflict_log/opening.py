"""From a name, or bytes, to a reader that knows the format."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from conflict_log.errors import FormatError
from conflict_log.files import opened, read_fully
from conflict_log.formats import FORMATS, MAGICS
from conflict_log.grammar import Guess, guess
from conflict_log.ledger import Ledger
from conflict_log.reader import Reader, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conflict_log.files import Progress, Readable

__all__ = ["make_reader", "open_reader", "read_log"]

R = TypeVar("R", bound=Reader)


def read_log(
    path: str,
    numbering: str | None = None,
    begin_seconds: float | None = None,
    end_seconds: float | None = None,
    progress: Progress | None = None,
) -> Reading:
    """Read one log to its end.

    Args:
        path: The log.
        numbering: The name of its format, None to find out.
        begin_seconds: Where to begin, in seconds from the first event, or None.
        end_seconds: Where to end, likewise.
        progress: Told the bytes of each read.

    Raises:
        FormatError: It is not an stm.log.
        OSError: It cannot be read.
    """
    window = begin_seconds, end_seconds
    with open_reader(Reader, path, numbering, *window, progress) as reader:
        reader.read()
        return reader.reading


@contextmanager
def open_reader(
    make: type[R],
    path: str,
    numbering: str | None,
    begin_seconds: float | None = None,
    end_seconds: float | None = None,
    progress: Progress | None = None,
) -> Iterator[R]:
    """Open a log and find out how it is written.

    Raises:
        FormatError: It is not an stm.log.
        OSError: It cannot be read.
    """
    with opened(path, progress) as file:
        yield make_reader(make, path, file, numbering, begin_seconds, end_seconds)


def make_reader(
    make: type[R],
    path: str,
    file: Readable,
    numbering: str | None = None,
    begin_seconds: float | None = None,
    end_seconds: float | None = None,
) -> R:
    """Return what reads an open log; `path` is what notes call it.

    Raises:
        FormatError: It is not an stm.log.
    """
    start = read_fully(file, make.chunk)
    found = _told(path, start, numbering) if numbering else _guessed(path, start)
    reading = Reading(path, found, Ledger(found.format))
    return make(reading, file, start, begin_seconds, end_seconds)


def _guessed(path: str, start: bytes) -> Guess:
    """Return the format that a log seems to have."""
    if not start.startswith(MAGICS):
        raise FormatError(path, _what_it_is(start))
    return guess(start)


def _told(path: str, start: bytes, numbering: str) -> Guess:
    """Return the format that a log is said to have."""
    form = FORMATS[numbering]
    if not start.startswith(MAGICS):
        raise FormatError(path, _what_it_is(start))
    if not start.startswith(form.magic):
        raise FormatError(path, f"not written as {numbering} is")
    return Guess(form, 0.0, 0.0)


def _what_it_is(start: bytes) -> str:
    """Return why a file is not a log."""
    if not start:
        return "an empty file"
    if any(magic.startswith(start) for magic in MAGICS):
        return "cut within the first 16 bytes"
    return "not an stm.log: it does not begin with STMGC-C7-PROF01 or STMGC-C8-PROF01"
