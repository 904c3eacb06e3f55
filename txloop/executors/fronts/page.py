"""One page of memory that the owner and all fronts share, be they processes or threads.

The owner writes in it what fronts have to know before they begin a transaction, and may
not ask for: the newest version, and the epoch of the watch. Fronts write what the owner
wants to know of them without being told: what they run and since when, what they have
done. Each word has one writer: that of the version is who may commit just now. It is
eight bytes long and lies at a multiple of eight, so that it is read whole, as it was
written.
"""

from __future__ import annotations

import mmap
import time
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from txloop.stm.measuring import BOUNDS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LAG_COMMITS", "MOST_FRONTS", "MOST_KINDS", "Done", "Page", "Slot"]

LAG_COMMITS = 100
"""After this many commits a front without connections is told of them, and the owner
is told where a front's replica is."""

MOST_FRONTS = 64
"""How many fronts there can be at once."""

MOST_KINDS = 1000
"""How many kinds of transactions fronts can run."""

_WORD = 8
_GENERAL = 8  # words that belong to none of the fronts
_VERSION, _EPOCH, _SETTLED, _OPEN = range(4)
_OF_FRONT = 8  # words of each front
_RUNNING, _SINCE_NS, _GONE, _BEGUN, _READ = range(5)
_BUCKETS = len(BOUNDS) + 1
_OF_KIND = 1 + _BUCKETS  # words of each kind of transaction, for each front
_SECONDS, _COUNTS = range(2)


class Done(NamedTuple):
    """What one front has done of one kind, since the page was made.

    Attributes:
        counts: How many transactions have ended there, by how long the bodies took, as
            in a `Histogram`.
        seconds: How long the bodies took together.
    """

    counts: Sequence[int] = (0,) * (len(BOUNDS) + 1)
    seconds: float = 0.0


class Page:
    """The page; made before fronts are forked."""

    def __init__(self) -> None:
        """Make one with zeros in it."""
        counts = MOST_FRONTS * MOST_KINDS * _OF_KIND
        words = _GENERAL + MOST_FRONTS * _OF_FRONT + counts
        # What is never written takes no memory.
        memory = memoryview(mmap.mmap(-1, words * _WORD))
        self._words = memory.cast("q")
        self._floats = memory.cast("d")

    @property
    def version(self) -> int:
        """The newest version that may be known outside; see `CommitLock`."""
        return self._words[_VERSION]

    @version.setter
    def version(self, version: int) -> None:
        self._words[_VERSION] = version

    @property
    def epoch(self) -> int:
        """The epoch of the watch (`txloop.watch.watch`); written by the owner."""
        return self._words[_EPOCH]

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self._words[_EPOCH] = epoch

    @property
    def known(self) -> tuple[int, int]:
        """The version and the epoch."""
        words = self._words
        return words[_VERSION], words[_EPOCH]

    @property
    def settled(self) -> int:
        """The newest version from between two callbacks of the owner; written by it.

        For fronts that are threads: a process has the version of its replica.
        """
        return self._words[_SETTLED]

    @settled.setter
    def settled(self, version: int) -> None:
        self._words[_SETTLED] = version

    @property
    def open(self) -> int:
        """Whether fronts may try to commit by themselves; written by the owner."""
        return self._words[_OPEN]

    @open.setter
    def open(self, is_open: int) -> None:
        self._words[_OPEN] = is_open

    def slot(self, place: int) -> Slot:
        """Return the part of the front at `place`, from 1."""
        return Slot(self._words, self._floats, place - 1)


class Slot:
    """What one front writes, and the owner reads; one after the other has it."""

    __slots__ = ("_counts", "_floats", "_start", "_words")

    def __init__(
        self, words: memoryview[int], floats: memoryview[float], index: int
    ) -> None:
        self._words = words
        self._floats = floats
        self._start = _GENERAL + index * _OF_FRONT
        counts = _GENERAL + MOST_FRONTS * _OF_FRONT
        self._counts = counts + index * MOST_KINDS * _OF_KIND

    def begin(self, kind: int) -> None:
        """Note that a transaction of a kind begins."""
        self._words[self._start + _BEGUN] += 1
        self._words[self._start + _SINCE_NS] = time.monotonic_ns()
        self._words[self._start + _RUNNING] = kind + 1

    def end(self) -> None:
        """Note that it has ended."""
        self._words[self._start + _RUNNING] = 0

    def running(self) -> tuple[int, int] | None:
        """Return what kind runs, and since when (`time.monotonic_ns`); or None."""
        kind = self._words[self._start + _RUNNING]
        return (kind - 1, self._words[self._start + _SINCE_NS]) if kind else None

    @property
    def begun(self) -> int:
        """How many transactions have begun, since the page was made."""
        return self._words[self._start + _BEGUN]

    @property
    def gone(self) -> int:
        """How many connections have left the front, since the page was made."""
        return self._words[self._start + _GONE]

    @gone.setter
    def gone(self, number: int) -> None:
        self._words[self._start + _GONE] = number

    @property
    def read(self) -> int:
        """Up to which position the front has read the board.

        The owner writes where it begins, before it tells the front.
        """
        return self._words[self._start + _READ]

    @read.setter
    def read(self, position: int) -> None:
        self._words[self._start + _READ] = position

    def count(self, kind: int, seconds: float) -> None:
        """Count a transaction that has ended here."""
        start = self._counts + kind * _OF_KIND
        self._floats[start + _SECONDS] += seconds
        self._words[start + _COUNTS + bisect_left(BOUNDS, seconds)] += 1

    def done(self, kind: int) -> Done:
        """Return what was done of a kind."""
        start = self._counts + kind * _OF_KIND
        first = start + _COUNTS
        counts = tuple(self._words[first : first + _BUCKETS].tolist())
        return Done(counts, self._floats[start + _SECONDS])
