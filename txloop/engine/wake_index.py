"""Which transactions wait for which cells, and so which of them a commit concerns.

It belongs to the loop thread and knows transactions by their numbers only.

Each cell that is waited for has a **watch**. In a watch, transactions that found the
cell in the same state stand in one line, in the order in which they came::

    cell (7, "open") --> watch --> found False: 3, 8, 12     <- passed over while False
                               --> found 4711:  5            <- ... while that value

So a commit costs nothing for those that would see again what they have seen already, be
it ten thousand: their line is passed over as a whole. Of the others, one is woken: it
may take what the next one would find. When it has ended, its watches are looked at
again; if the container was not written to meanwhile, those that wait do not take, and
twice as many are woken at once from then on. A line that was formed earlier goes first:
those that saw a newer state yield to those that did not.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

from txloop.stm.container import Operation, same_stamp
from txloop.stm.joining import Follower
from txloop.stm.types import Key

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from txloop.stm.container import Write
    from txloop.stm.store import Store
    from txloop.stm.types import Cell, Retry

__all__ = ["Watches"]

_MOST = 1024  # more do not run at once, whatever the executor


class _Line:
    """Transactions that found a cell in the same state."""

    __slots__ = ("_gone", "_numbers", "stamp")

    def __init__(self, stamp: object) -> None:
        self.stamp = stamp  # keeps alive the object that `state` identifies
        self._numbers: list[int] = []  # sorted
        self._gone = 0  # how many of the first ones have left

    def __len__(self) -> int:
        return len(self._numbers) - self._gone

    @property
    def first(self) -> int:
        """The one that came first."""
        return self._numbers[self._gone]

    def add(self, number: int) -> None:
        """Let one stand in it."""
        bisect.insort(self._numbers, number, self._gone)

    def remove(self, number: int) -> None:
        """Let one go from there; the first one without the others having to move up."""
        numbers, gone = self._numbers, self._gone
        if numbers[gone] != number:
            del numbers[bisect.bisect_left(numbers, number, gone)]
            return
        self._gone = gone + 1
        if 2 * gone >= len(numbers):
            del numbers[: gone + 1]
            self._gone = 0


class _Watch:
    """A cell that is waited for.

    Attributes:
        cell: Its container's number and its key.
        presence: Whether only the coming and going of the key counts.
        lines: By the state in which they found it; the oldest line first.
        awake: How many of those woken by it have not ended.
        most: How many may be awake at once, as far as the cell knows.
        version: The stamp of its whole container when it was last looked at.
    """

    __slots__ = ("awake", "cell", "lines", "most", "presence", "version")

    def __init__(self, cell: Cell, presence: bool) -> None:
        self.cell = cell
        self.presence = presence
        self.lines: dict[Hashable, _Line] = {}
        self.awake = 0
        self.most = 1
        self.version: object = None

    def enter(self, number: int, stamp: object) -> Hashable:
        """Let a transaction stand in the line of those that found the same."""
        state = stamp if type(stamp) is int else (id(stamp),)
        line = self.lines.get(state)
        if line is None:
            line = self.lines[state] = _Line(stamp)
        line.add(number)
        return state

    def leave(self, number: int, state: Hashable) -> None:
        """Let it go from there."""
        line = self.lines[state]
        line.remove(number)
        if not line:
            del self.lines[state]

    def candidate(self, stamp: object) -> int | None:
        """Return the first that has not seen the cell as it is, or None."""
        for line in self.lines.values():
            if not same_stamp(line.stamp, stamp):
                return line.first
        return None


class Watches(Follower):
    """Which transactions wait for which cells; follows the store while some do."""

    hears_births = False  # nothing waits for what is new
    grows = False

    def __init__(self, store: Store, on_change: Callable[[], object]) -> None:
        """Begin without any.

        Args:
            store: What they have read.
            on_change: Called when `wake` may find some.
        """
        self._store = store
        self._on_change = on_change
        self._watches: dict[int, dict[tuple[Hashable, bool], _Watch]] = {}
        self._places: dict[int, list[tuple[_Watch, Hashable]]] = {}
        self._suspects: dict[_Watch, None] = {}  # in the order of their changes
        self._awake: dict[int, list[tuple[_Watch, Hashable]]] = {}

    def __len__(self) -> int:
        return len(self._places)

    @property
    def changed(self) -> bool:
        """Whether `wake` may find some."""
        return bool(self._suspects)

    def enter(self, number: int, retry: Retry) -> None:
        """Let a transaction wait for a change of what it has read, just now."""
        if not self._places:
            self._store.follow(self)
        places = self._places[number] = []
        for presence, cells in ((False, retry.values), (True, retry.presences)):
            for cell in cells:
                watch = self._watch(cell, presence)
                state = watch.enter(number, self._store.stamp(*cell, presence))
                places.append((watch, state))

    def leave(self, number: int) -> None:
        """Take out a transaction that has entered."""
        for watch, state in self._places.pop(number):
            watch.leave(number, state)
            self._discard_unused(watch)
        self._unfollow()

    def _unfollow(self) -> None:
        """Follow the store no more, if nothing waits."""
        if not self._places:
            # A new list: the store may be going through this one.
            self._store.followers = [
                one for one in self._store.followers if one is not self
            ]

    def wake(self, most: Callable[[int], int]) -> list[int]:
        """Take out those that may find something to do now, in the order of arrival.

        Each of them has to be given back to `ended` when it has committed or waits
        again: until then others that wait for the same cell may be kept back.

        Args:
            most: Tells how many like this one may be awake at once, at least 1.
        """
        woken: list[int] = []
        while self._suspects:
            watch = next(iter(self._suspects))
            del self._suspects[watch]
            stamp = self._store.stamp(*watch.cell, watch.presence)
            self._note_version(watch)
            number = watch.candidate(stamp)
            while number is not None:
                awake = watch.awake
                if awake and (awake >= watch.most or awake >= most(number)):
                    break  # `ended` comes back to it
                places = self._awake[number] = self._places.pop(number)
                for one, state in places:
                    one.leave(number, state)
                    one.awake += 1
                woken.append(number)
                number = watch.candidate(stamp)
        if woken:
            self._unfollow()
        return sorted(woken)

    def _note_version(self, watch: _Watch) -> bool:
        """Look at its container; return whether it is as it was the last time."""
        version = self._store.stamp(watch.cell[0], Key.ALL, False)
        if same_stamp(version, watch.version):
            return True
        watch.version, watch.most = version, 1
        return False

    def ended(self, number: int) -> None:
        """Take note that one that `wake` has named is awake no more."""
        for watch, _ in self._awake.pop(number, ()):
            watch.awake -= 1
            if self._note_version(watch):
                watch.most = min(2 * watch.most, _MOST)
            self._suspects[watch] = None
            self._discard_unused(watch)

    def clear(self) -> None:
        """Forget all."""
        for number in list(self._places):
            self.leave(number)
        self._watches.clear()
        self._suspects.clear()
        self._awake.clear()

    # What the store tells

    def installed(self, version: int, writes: Sequence[Write], direct: bool) -> None:
        """Take note of the watches that a commit concerns."""
        touched = False
        for container, key, value in writes:
            watches = self._watches.get(container._tx_number)
            if watches is None:
                continue
            if isinstance(value, Operation):  # it changes whatever it changes
                names: Iterable[tuple[Hashable, bool]] = watches
            else:
                names = ((key, False), (key, True), _KEYS, _ALL)
            for name in names:
                if name in watches:
                    self._suspects[watches[name]] = None
                    touched = True
        if touched:
            self._on_change()

    def dropped(self, number: int) -> None:
        """Do nothing: what is dead does not change any more."""

    # Watches

    def _watch(self, cell: Cell, presence: bool) -> _Watch:
        """Return the watch of a cell, made if there is none."""
        number, key = cell
        watches = self._watches.setdefault(number, {})
        watch = watches.get((key, presence))
        if watch is None:
            watch = watches[key, presence] = _Watch(cell, presence)
        return watch

    def _discard_unused(self, watch: _Watch) -> None:
        """Forget a watch that no transaction needs."""
        if watch.lines or watch.awake:
            return
        self._suspects.pop(watch, None)
        number, key = watch.cell
        watches = self._watches[number]
        del watches[key, watch.presence]
        if not watches:
            del self._watches[number]


_KEYS = (Key.KEYS, False)
_ALL = (Key.ALL, False)
