"""The kinds of attempts that do more than a plain one: for the log, and to wait.

Each takes the place of a plain `Attempt` only while that is wanted, so that other
attempts do not pay for it.

A *traced* one remembers the lines: which one read, wrote or gave up.

A *late* one settles what it reads only when it reads for the first time. What a
function does before that, to compute or to wait, takes its time, but depends on nothing
that others commit meanwhile. So an attempt that moves on to a newer version there reads
what it would have read if it had begun then, and conflicts only with what is committed
from then on. It is the extension of a snapshot of Riegel, Felber and Fetzer ("A lazy
snapshot algorithm with eager validation", 2006) where it needs no validation, since
nothing was read. Each read asks whether it is the first; so only calls of functions
that conflict are run by attempts of these kinds.

A *reading* one notes nothing. It is for who knows that nothing is committed while it
runs, and that nothing it may read is there in name only: then what it has read needs no
validation, unless it writes, too. As soon as it would, it is given up, and what it ran
has to run again. Reading takes a third of the time so.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Never

from txloop.stm.attempt import Attempt
from txloop.stm.origin import Owner, owner_of
from txloop.stm.sets import ClosedWrites
from txloop.stm.types import Key, Trace

if TYPE_CHECKING:
    import contextvars
    from collections.abc import Callable, Collection, Hashable, Iterable
    from types import FrameType

    from txloop.stm.container import Container
    from txloop.stm.types import Cell, Site

__all__ = [
    "LateAttempt",
    "LateTracedAttempt",
    "ReadingAttempt",
    "TracedAttempt",
    "here",
]

_MANY = 16  # cells of a list written at once; of more, the list as a whole is noted

_PROGRAM, _LIBRARY = Owner.PROGRAM, Owner.LIBRARY  # an enum looks its members up slowly


def here() -> Site | None:
    """Return the program's line that has led to this call.

    It is the innermost one of the program's own, as `random.choice` is not what a
    reader looks for; if there is none, the innermost one outside txloop.
    """
    frame: FrameType | None = sys._getframe(1)
    outside: FrameType | None = None
    while frame is not None:
        code = frame.f_code
        owner = owner_of(code.co_filename)
        if owner is _PROGRAM:
            return code.co_filename, frame.f_lineno, code.co_name
        if owner is _LIBRARY and outside is None:
            outside = frame
        frame = frame.f_back
    if outside is None:
        return None
    return outside.f_code.co_filename, outside.f_lineno, outside.f_code.co_name


class _Noted(set["Cell"]):
    """Cells that were read; of each, the line that read it first is noted."""

    __slots__ = ("sites",)

    def __init__(self, sites: dict[Cell, Site | None]) -> None:
        super().__init__()
        self.sites = sites

    def add(self, cell: Cell) -> None:
        if cell not in self.sites:
            self.sites[cell] = here()
        set.add(self, cell)


class _NotedSpans(dict[int, tuple[int, int]]):
    """Spans that were read; of each, the line that made it longer is noted."""

    __slots__ = ("sites",)

    def __init__(self, sites: dict[Cell, Site | None]) -> None:
        super().__init__()
        self.sites = sites

    def __setitem__(self, number: int, span: tuple[int, int]) -> None:
        if (number, span) not in self.sites:
            self.sites[number, span] = here()
        super().__setitem__(number, span)


class TracedAttempt(Attempt):
    """Belongs to the thread that runs it, as any attempt."""

    __slots__ = ("_began_ns", "_read_at", "_stopped_at", "_written_at")

    traced = True

    def __init__(
        self,
        snapshot: int,
        speculative: bool,
        context: contextvars.Context | None = None,
    ) -> None:
        super().__init__(snapshot, speculative, context)
        self._read_at: dict[Cell, Site | None] = {}
        self._written_at: dict[Cell, Site | None] = {}
        self._stopped_at: Site | None = None
        self.values = _Noted(self._read_at)
        self.presences = _Noted(self._read_at)
        self.spans = _NotedSpans(self._read_at)
        self._began_ns = time.monotonic_ns()

    def write(self, container: Container, key: Hashable, value: object) -> None:
        super().write(container, key, value)
        cell = (container._tx_number, key)
        if cell not in self._written_at:
            self._written_at[cell] = here()

    def clear(self, container: Container) -> None:
        super().clear(container)
        self.note_write(container, ())

    def note_write(self, container: Container, keys: Collection[Hashable]) -> None:
        number, site = container._tx_number, here()
        for key in keys if 0 < len(keys) <= _MANY else (Key.ALL,):
            self._written_at.setdefault((number, key), site)

    def roll_back(self) -> None:
        super().roll_back()
        self._written_at.clear()

    def abandon(self, reason: str) -> Never:
        self._stopped_at = here()
        super().abandon(reason)

    def retry(self, timeout_seconds: float | None) -> Never:
        self._stopped_at = here()
        super().retry(timeout_seconds)

    def trace(self, worker: int) -> Trace:
        ended_ns = time.monotonic_ns()
        sites: dict[Site, int] = {}
        # Where reads do not matter, or were widened, they have been forgotten.
        read = self.values_read() | self.presences
        read_at = [(cell, self._read_at.get(cell)) for cell in read]
        return Trace(
            worker,
            self._began_ns,
            ended_ns,
            reads=_indexed(read_at, sites),
            writes=_indexed(self._written_at.items(), sites),
            stop=self._stopped_at,
            sites=tuple(sites),
        )


def _indexed(
    places: Iterable[tuple[Cell, Site | None]], sites: dict[Site, int]
) -> dict[Cell, int]:
    """Return the index of each cell's place, with new ones put into `sites`."""
    return {
        cell: sites.setdefault(site, len(sites))
        for cell, site in places
        if site is not None
    }


class _Late(Attempt):
    """Reads the version at which it began, or what `renew` gives at its first read."""

    # No slots: two lines of descent could not both have them.
    _at: int
    _renew: Callable[[], int] | None

    def renew_by(self, renew: Callable[[], int]) -> None:
        """Have the first read happen at the version that `renew` returns.

        Args:
            renew: Called once at most, on the thread that runs the attempt. The
                version is the one at which it began, or newer, and readable.
        """
        self._renew = renew

    def stop_renewing(self) -> None:
        """Stay at the version that it is at, as it has ended."""
        self._renew = None

    @property
    def snapshot(self) -> int:
        """The version that it reads."""
        if self._renew is not None:
            self._settle()
        return self._at

    @snapshot.setter
    def snapshot(self, version: int) -> None:
        self._at, self._renew = version, None

    def _settle(self) -> None:
        renew, self._renew = self._renew, None
        if renew is not None:
            self._at = renew()

    # All else that reads asks for the snapshot first.

    def read(self, container: Container, key: Hashable) -> object:
        if self._renew is not None:
            self._settle()
        return super().read(container, key)

    def has(self, container: Container, key: Hashable) -> bool:
        if self._renew is not None:
            self._settle()
        return super().has(container, key)


class LateAttempt(_Late):
    """Belongs to the thread that runs it, as any attempt."""


class LateTracedAttempt(_Late, TracedAttempt):
    """A `LateAttempt` that notes lines, as a `TracedAttempt` does."""


class ReadingAttempt(Attempt):
    """Belongs to the thread that runs it, as any attempt; no other one runs any."""

    __slots__ = ("_closed",)

    notes = False

    def __init__(
        self, snapshot: int, context: contextvars.Context | None = None
    ) -> None:
        super().__init__(snapshot, True, context)
        self.writes = self._closed = ClosedWrites()

    @property
    def has_to_note(self) -> bool:
        """Whether it does more than read, so that it counts for nothing."""
        return self._closed.asked

    def retry(self, timeout_seconds: float | None) -> Never:
        self._closed.refuse()
