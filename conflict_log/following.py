"""A log that is still being written, read again and again: `conflict-log top`."""

from __future__ import annotations

import copy
import os
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conflict_log.errors import FormatError
from conflict_log.files import CHUNK
from conflict_log.framing import same_second
from conflict_log.loading import assemble
from conflict_log.opening import open_reader
from conflict_log.reader import Reader
from conflict_log.slices import cut_off, join

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from conflict_log.ledger import Ledger
    from conflict_log.report import Report

__all__ = ["Follower"]

_SECOND: Final = 1_000_000_000
_SLICES: Final = 30


class Follower:
    """Reads what was added to a log since the last look.

    A log that became shorter, or another file, is read from its beginning.

    Args:
        path: The log.
        numbering: The name of its format, None to find out.
        last_seconds: How much of it to report, up to the last event and rounded up by
            a thirtieth or a second; None is all.
    """

    def __init__(
        self,
        path: str,
        numbering: str | None = None,
        last_seconds: float | None = None,
    ) -> None:
        self._path, self._numbering = path, numbering
        self._last_seconds = last_seconds
        self._open: AbstractContextManager[_SlicingReader] | None = None
        self._reader: _SlicingReader | None = None
        self._identity = (0, 0)
        self._size = 0

    def look(self) -> Report | None:
        """Return the report up to now, None as long as there is nothing to report.

        A log that is not there is about to be: it is written anew when it is full.

        Raises:
            FormatError: It is not an stm.log.
            OSError: It cannot be read.
        """
        try:
            state = os.stat(self._path)
        except FileNotFoundError:
            return None
        identity = state.st_dev, state.st_ino
        if identity != self._identity or state.st_size < self._size:
            self.close()
        self._identity, self._size = identity, state.st_size
        if self._reader is None:
            try:
                self._begin()
            except FileNotFoundError:
                return None
            except FormatError:
                if state.st_size <= 16:
                    return None  # its first event is still to come
                raise
        assert self._reader is not None
        self._reader.advance()
        report = self._reader.report()
        if state.st_size < CHUNK:
            # Too short to be sure of the format: cheap enough to read it all again.
            self.close()
        return report

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._open is not None:
            self._open.__exit__(None, None, None)
        self._open = self._reader = None

    def _begin(self) -> None:
        opened = open_reader(_SlicingReader, self._path, self._numbering)
        self._reader = opened.__enter__()
        self._open = opened
        if self._last_seconds is not None:
            self._reader.keep(round(self._last_seconds * _SECOND))


class _SlicingReader(Reader):
    """Lets go of what is older than it is asked to keep."""

    _kept_ns: int | None = None
    _edge = 0

    def keep(self, kept_ns: int) -> None:
        """Keep so much; called before anything is read."""
        self._kept_ns = kept_ns
        self._slices: deque[Ledger] = deque()

    def add(self, data: bytes, markers: Iterator[tuple[bytes, bytes, int]]) -> None:
        """Add records to the accounts, and begin new ones where a slice ends."""
        if self._kept_ns is None:
            super().add(data, markers)
            return
        size, done = self.form.packet.size, 0
        for second, begin, _ in same_second(data, size):
            if second >= self._edge:
                if self._edge:
                    super().add(data[done:begin], markers)
                    self._cut(second)
                done = begin
                self._edge = second + max(self._kept_ns // _SLICES, _SECOND)
        super().add(data[done:], markers)

    def _cut(self, now: int) -> None:
        assert self._kept_ns is not None
        self._slices.append(cut_off(self.ledger, self.last, now))
        while self._slices and self._slices[0].stop <= now - self._kept_ns:
            self._slices.popleft()

    def report(self) -> Report | None:
        """Return the report of what is kept; the reader goes on."""
        settled = copy.copy(self)
        slices = [] if self._kept_ns is None else list(self._slices)
        settled.ledger = join([*slices, self.ledger], self.last)
        settled.reading = replace(self.reading, ledger=settled.ledger)
        settled.settle()
        if not settled.ledger.events:
            return None
        return assemble([settled.reading], [settled.reading], excerpt=True)
