"""What all fronts that are processes have to repeat: written once, read by each.

It is a ring in memory that the owner and its fronts share. The owner puts commits at
its end, packed, and then says where the end is; a front reads on from where it was when
it needs what is newer. So a commit costs the owner the same with two fronts and with
sixteen, and wakes none of them up::

    read by all         the fronts, each at its own position          the end
    ----------------+---------------+-----------+-------------------+---------
    written over    |  commits, in entries: version, length, bytes  |  free
       floor -------+

While the owner sleeps, fronts put there what they commit, one at a time, up to a limit
that it has set; see `CommitLock`.

A position counts bytes since the ring was made. An entry is not written over before all
have read it. What is too long for that, or comes while one of them is far behind, goes
to each by its link instead, and a mark on the board says that there is something to
wait for.
"""

from __future__ import annotations

import mmap
import struct
import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["ABORTED", "Board", "Made", "OverwrittenError"]

ABORTED = -1
"""In the place of a version: nothing was committed, and only the owner has to know."""

_BYTES = 1 << 21
_LONGEST = _BYTES // 8  # what is longer goes by the links
_RESERVE = 1 << 16  # for marks: what goes by the links instead
_ENTRY = 16  # bytes before those of an entry; all lie at multiples of it
_HEAD = 32
_END, _FLOOR, _LIMIT = range(3)  # words of the head
_WRAP, _BY_LINK = -1, -2  # lengths of marks: the next is at the ring's start; by a link
_PART = 0  # in the place of a version: more belongs to it
_BY_FRONT = 1 << 40  # in a length: at the end stands what only the owner has to know
_TELLS = struct.Struct("=q")
_MOST_ALONE = 1 << 16  # bytes that fronts may put there until the owner looks


class OverwrittenError(Exception):
    """What was to be read may have been written over: nobody waited for the reader."""


class Made(NamedTuple):
    """What a front has committed by itself, or aborted.

    Attributes:
        version: The one that it has made, or `ABORTED`.
        packed: What was written; or why it was aborted.
        kind: What the transaction was.
    """

    version: int
    packed: bytes
    kind: int


class Board:
    """The ring; made before fronts are forked, written by who may commit.

    Attributes:
        version: Up to which all commits are on it; the owner's.
    """

    def __init__(self, size: int = _BYTES) -> None:
        """Make one; what is never written takes no memory.

        Args:
            size: Of the ring, in bytes: a multiple of 16.
        """
        self.version = 0
        self._size = size
        self._memory = mmap.mmap(-1, _HEAD + size)
        self._words = memoryview(self._memory).cast("q")
        self._free_until = size
        self._lock = threading.Lock()
        self._lock.acquire()

    @property
    def end(self) -> int:
        """The position of what comes next."""
        return self._words[_END]

    # The owner's

    def put(
        self, version: int, groups: Sequence[bytes], readers: Callable[[], list[int]]
    ) -> bool:
        """Put packed commits at the end; return whether there was room.

        Args:
            version: The one that they lead to.
            groups: The commits after `self.version`.
            readers: Tells the positions of all who will read them.
        """
        sizes = [_ENTRY + len(group) + -len(group) % _ENTRY for group in groups]
        needed = sum(sizes) + max(sizes)  # at the ring's end, there may be a gap
        if needed > min(_LONGEST, self._size // 8):
            return False
        if not self._has_room(needed + min(_RESERVE, self._size // 8), readers):
            return False
        end = self.end
        for group, size in zip(groups, sizes, strict=True):
            last = end = self._place_for(size, end)
            self._write(end, _PART, len(group), group)
            end += size
        self._mark(last, version, len(groups[-1]))
        self.publish(end)
        self.version = version
        return True

    def skip(
        self, version: int, readers: Callable[[], list[int]]
    ) -> tuple[int, int] | None:
        """Put a mark for commits that go by the links; None if there is no room left.

        Returns:
            The position up to which one has to have read to apply them, and that from
            which to read on.
        """
        if not self._has_room(2 * _ENTRY, readers):
            return None
        start = self._place_for(_ENTRY, self.end)
        self._mark(start, version, _BY_LINK)
        self.publish(start + _ENTRY)
        self.version = version
        return start, start + _ENTRY

    def open(self, readers: Callable[[], list[int]]) -> bool:
        """Set the limit for fronts, from here on; see `put` for the argument.

        Returns:
            Whether they have room, and no reader is far behind.
        """
        needed, end = min(_MOST_ALONE, self._size // 8), self.end
        has_room = self._has_room(needed, readers)
        self._words[_LIMIT] = min(self._free_until, end + needed)
        return has_room and end - min(readers(), default=end) <= needed

    def read_made(self, position: int, end: int) -> list[Made]:
        """Return what fronts have put there between two positions; the owner's."""
        self._fence()
        found = []
        for version, length, start, _ in self._entries(position, end):
            (kind,) = _TELLS.unpack_from(self._memory, start + length)
            found.append(Made(version, self._memory[start : start + length], kind))
        return found

    def _has_room(self, needed: int, readers: Callable[[], list[int]]) -> bool:
        if self.end + needed > self._free_until:
            floor = min(readers(), default=self.end)
            self._words[_FLOOR] = floor
            self._free_until = floor + self._size
            self._fence()
        return self.end + needed <= self._free_until

    def _place_for(self, size: int, end: int) -> int:
        left = self._size - end % self._size
        if size > left:
            self._mark(end, _PART, _WRAP)
            end += left
        return end

    def _write(self, position: int, version: int, length: int, body: bytes) -> None:
        self._mark(position, version, length)
        start = _HEAD + position % self._size + _ENTRY
        self._memory[start : start + len(body)] = body

    def _mark(self, position: int, version: int, length: int) -> None:
        word = (_HEAD + position % self._size) >> 3
        self._words[word] = version
        self._words[word + 1] = length

    # A front's

    def read(self, position: int, newest: int) -> tuple[int, int, list[bytes]]:
        """Return what there is to repeat from a position on.

        Args:
            position: Where the last call has ended.
            newest: The newest version that may be known: later ones stay unread.

        Returns:
            The position to go on from, the version to which the commits lead, 0 if
            there are none, and these, packed.

        Raises:
            OverwrittenError: if the owner did not wait for this reader any more.
        """
        words, end = self._words, self.end
        self._fence()
        reached, last = 0, position
        found: list[bytes] = []
        parts: list[bytes] = []
        for version, length, start, after in self._entries(position, end):
            if length == _BY_LINK or version > newest or position < words[_FLOOR]:
                break
            if version == ABORTED:  # never amid the parts of something
                last = after
                continue
            parts.append(self._memory[start : start + length])
            if version != _PART:
                found += parts
                parts = []
                reached, last = version, after
        self._fence()
        if position < words[_FLOOR]:
            raise OverwrittenError
        return last, reached, found

    def put_alone(self, made: Made, end: int) -> int | None:
        """Put one commit there while the owner sleeps; it counts with `publish`.

        Args:
            made: The commit, or what was aborted; of the kind only the owner is told.
            end: Where to put it: at the end, or behind another one.

        Returns:
            Where it ends; None if there is no room.
        """
        version, packed, kind = made
        body = packed + _TELLS.pack(kind)
        size = _ENTRY + len(body) + -len(body) % _ENTRY
        if end + 2 * size > self._words[_LIMIT]:
            return None
        end = self._place_for(size, end)
        self._write(end, version, len(packed) | _BY_FRONT, body)
        return end + size

    def publish(self, end: int) -> None:
        """Let all read what was put there up to `end`."""
        self._fence()
        self._words[_END] = end

    def _entries(self, position: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield version, length, first byte and following position of each entry."""
        words, size, at = self._words, self._size, position
        while at < end:
            start = _HEAD + at % size
            version, length = words[start >> 3], words[(start >> 3) + 1]
            if length == _WRAP:
                at += size - at % size
                continue
            at += _ENTRY
            if length & _BY_FRONT and length > 0:
                length -= _BY_FRONT
                at += _TELLS.size
            at += length + -(at + length) % _ENTRY
            yield version, length, start + _ENTRY, at

    def _fence(self) -> None:
        """Keep what is written or read before this from moving behind it.

        A lock does that, on processors that would not by themselves: what comes before
        its release is done by then, what comes after its acquisition is not begun. The
        two concern one word, whose own order holds.
        """
        self._lock.release()
        self._lock.acquire()
