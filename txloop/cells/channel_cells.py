"""How the things of a channel lie in cells, and how they are put there and taken.

Each thing has a cell of its own, by a number that counts up, and `Key.KEYS` has the two
ends: the number of the first thing, and that of the next one to come. Cells are never
written directly: a transaction, or unmarked code, makes one `Pass` of all that it takes
and puts, which finds its cells when it commits.

What is read is remembered as little as possible: which thing is the first
(`Key.VALUE`), or that there are more than so many, by that number, as a presence. So a
channel in which things come and go looks the same whenever it is empty, and
transactions that wait for a thing can stay asleep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from txloop.stm.attempt import Attempt, running
from txloop.stm.container import NEWEST, Container, Operation
from txloop.stm.held import STRANGE
from txloop.stm.store import committed
from txloop.stm.types import MISSING, Key
from txloop.stm.versions import Entry, value_at

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from txloop.stm.container import Write

__all__ = ["ChannelCells"]

_EMPTY = 0, 0


class Pass(Operation):
    """Take so many from the front, and add others at the end."""

    __slots__ = ("added", "taken")

    def __init__(self, taken: int, added: tuple[object, ...]) -> None:
        self.taken = taken  # as many are there: what takes has read it
        self.added = added

    def __reduce__(self) -> tuple[object, ...]:
        return Pass, (self.taken, self.added)

    def cells(self, container: Container) -> Iterator[tuple[Hashable, object]]:
        first, end = _ends_at(container, NEWEST)
        left = first + self.taken
        for place in range(first, left):
            yield place, MISSING
        for place, thing in enumerate(self.added, end):
            yield place, thing
        yield Key.KEYS, (left, end + len(self.added))

    def put_at_once(self, container: Container, version: int) -> bool:
        cells: dict[Hashable, Any] = container._tx_cells
        ends = cells.get(Key.KEYS)
        if type(ends) is not tuple:
            return False
        first, end = ends
        container._tx_changed = container._tx_resized = version
        container._tx_size += len(self.added) - self.taken
        if self.taken:
            left = first + self.taken
            for place in range(first, left):
                del cells[place]
            first = left
        for thing in self.added:
            cells[end] = thing
            end += 1
        cells[Key.KEYS] = first, end
        return True

    def mapped(self, convert: Callable[[object], object]) -> Pass:
        return Pass(self.taken, tuple(map(convert, self.added)))


class _ChannelWrites:
    """What one attempt takes from a channel, and puts into it."""

    __slots__ = ("added", "container", "taken")

    def __init__(self, container: Container) -> None:
        self.container = container
        self.taken = 0  # of what was there at the snapshot
        self.added: list[object] = []  # and not taken again

    def copy(self) -> _ChannelWrites:
        copied = _ChannelWrites(self.container)
        copied.taken = self.taken
        copied.added = list(self.added)
        return copied

    def in_order(self) -> tuple[Write]:
        return ((self.container, Key.ALL, Pass(self.taken, tuple(self.added))),)


class ChannelCells(Container):
    """The things that are in a channel."""

    __slots__ = ()

    def __init__(self) -> None:
        committed.adopt(self)

    def put(self, thing: object) -> None:
        """Add one at the end; nothing is read."""
        attempt = running.attempt
        if attempt is None:
            committed.install([(self, Key.ALL, Pass(0, (thing,)))])
        else:
            own = attempt.writes.get(self._tx_number) or self._own(attempt)
            own.added.append(thing)

    def take(self) -> Any:
        """Take the first one out and return it, or MISSING if there is none."""
        attempt = running.attempt
        if attempt is None:
            first, end = _ends_at(self, NEWEST)
            if first == end:
                return MISSING
            thing = value_at(self._tx_cells[first], NEWEST)
            committed.install([(self, Key.ALL, Pass(1, ()))])
            return thing
        number = self._tx_number
        own: _ChannelWrites | None = attempt.writes.get(number)
        taken = 0 if own is None else own.taken
        snapshot = attempt.snapshot
        first, end = _ends_at(self, snapshot)
        if first + taken == end:
            attempt.presences.add((number, taken))
            if self._tx_forgotten:
                attempt.refuse(self)
            return own.added.pop(0) if own is not None and own.added else MISSING
        thing = self._tx_cells.get(first + taken, MISSING)
        if type(thing) is Entry:
            thing = value_at(thing, snapshot)
        attempt.values.add((number, Key.VALUE))  # after it: see `Attempt.condemn`
        if thing.__class__ in STRANGE or self._tx_forgotten:
            attempt.check(self, thing)
        (own or self._own(attempt)).taken += 1
        return thing

    def has(self, place: int) -> bool:
        """Tell whether there are more than so many, reading no more than that."""
        attempt = running.attempt
        if attempt is None:
            first, end = _ends_at(self, NEWEST)
            return end - first > place
        own: _ChannelWrites | None = attempt.writes.get(self._tx_number)
        if own is not None:
            place += own.taken - len(own.added)
            if place < 0:
                return True
        first, end = _ends_at(self, attempt.snapshot)
        attempt.presences.add((self._tx_number, place))
        if self._tx_forgotten:
            attempt.refuse(self)
        return end - first > place

    def count(self) -> int:
        """Return how many there are."""
        attempt = running.attempt
        version = NEWEST if attempt is None else attempt.snapshot
        first, end = _ends_at(self, version)
        if attempt is None:
            return end - first
        attempt.values.add((self._tx_number, Key.KEYS))
        if self._tx_forgotten:
            attempt.refuse(self)
        own: _ChannelWrites | None = attempt.writes.get(self._tx_number)
        changed = 0 if own is None else len(own.added) - own.taken
        return end - first + changed

    def _own(self, attempt: Attempt) -> _ChannelWrites:
        """Return what takes in the writes of an attempt that has none here yet."""
        if self._tx_forgotten:
            attempt.refuse(self)
        if attempt.traced:
            attempt.note_write(self, ())
        own = attempt.writes[self._tx_number] = _ChannelWrites(self)
        return own

    # What the store asks

    def _tx_changed_since(self, key: Hashable, presence: bool, snapshot: int) -> int:
        if self._tx_changed <= snapshot:
            return 0
        if key is Key.ALL:
            return self._tx_changed
        now = _told_by(_ends_at(self, NEWEST), key)
        if _told_by(_ends_at(self, snapshot), key) == now:
            return 0
        entry: Entry = self._tx_cells[Key.KEYS]  # it has changed, so it is one
        older = entry.older
        while type(older) is Entry and _told_by(older.value, key) == now:
            entry, older = older, older.older
        return entry.version

    def _tx_stamp(self, key: Hashable, presence: bool) -> object:
        if key is Key.ALL:
            return self._tx_changed
        return _told_by(_ends_at(self, NEWEST), key)

    def _tx_as_json(self) -> list[object]:
        first, end = _ends_at(self, NEWEST)
        return [value_at(self._tx_cells[place], NEWEST) for place in range(first, end)]


def _ends_at(container: Container, version: int) -> tuple[int, int]:
    """Return the number of the first thing, and that of the next one to come."""
    ends: Any = container._tx_cells.get(Key.KEYS, _EMPTY)
    if type(ends) is Entry:
        ends = value_at(ends, version)
        return _EMPTY if ends is MISSING else ends
    return ends  # type: ignore[no-any-return] # the cell has nothing else


def _told_by(ends: Any, key: Any) -> object:
    """Return what an attempt that has read a cell knows: see the module."""
    first, end = ends
    if key is Key.VALUE:
        return first
    return end - first if key is Key.KEYS else end - first > key
