"""What replicas miss: the commits since a version, packed once, in groups.

A replica has been sent all commits up to some version. So commits that no replica has
been sent yet are packed together: one that misses the first of them misses all.

A replica that has fallen too far behind gets the whole of the changed containers
instead, so the log stays short whatever a worker is stuck in.
"""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from txloop.executors.codec.frames import UNPICKLABLE, dumps, loads
from txloop.executors.codec.plain_cells import Known, pack_commits
from txloop.executors.processes.parking import Parking
from txloop.stm.container import Container, Operation, Update, Write
from txloop.stm.held import travel_table, why_it_stays
from txloop.stm.types import MISSING, Key, Unsendable

if TYPE_CHECKING:
    from txloop.stm.store import Store

__all__ = ["LAG_COMMITS", "DeltaLog", "Dump"]

LAG_COMMITS = 500
"""How many commits an idle replica may miss before it is sent them without a call.

Unless the log is parked: see `parking`.
"""

_LONGEST_LOG = 5000  # commits; a replica further behind is loaded afresh

Dump = tuple[Sequence[tuple[Container, dict[Hashable, Any]]], Sequence[int]]
"""Containers with all their keys and values, and the numbers of those that live."""


class DeltaLog:
    """Follows a store for the replicas forked when this was made; the loop's own."""

    grows = True

    def __init__(
        self, store: Store, on_lag: Callable[[], object] = lambda: None
    ) -> None:
        """Follow `store` from now on; `on_lag` is called when replicas may lag."""
        self._store = store
        self._on_lag = on_lag
        self.forked_at = store.version
        self._first = store.version  # the log holds every commit after this one
        # What is packed stands in the place of the last commit of its group.
        self._commits: deque[Sequence[Write] | bytes | None] = deque()
        self._begins_amid = False  # the first is in one group with some before it
        self._packed = 0  # how many of these, from the first
        self._parking = Parking(store)
        self._idle_values = 0  # in commits that only idle replicas were sent, of late
        self._dropped: deque[int] = deque()
        # By number, which containers replicas know: those that there were at the fork,
        # and what they were told of since.
        self._told: set[int] = set()
        self._known = Known(store.new_number(), self._told, {})
        store.follow(self)

    def close(self) -> None:
        """Stop following."""
        self._store.followers.remove(self)

    def repeat(self, packed: bytes, writes: Sequence[Write]) -> bool:
        """Take note of a commit that a replica has made, and packed.

        All those before it have to be packed: `mark` does that.

        Returns:
            Whether it has made containers.
        """
        below, told = self._known.below, self._told
        before = len(told)
        for container, _, _ in writes:
            if container._tx_number >= below:
                told.add(container._tx_number)
        self._commits.append(packed)
        self._packed += 1
        self._note_length()
        return len(told) > before

    def installed(self, version: int, writes: Sequence[Write], direct: bool) -> None:
        parking = self._parking
        if parking.parked:
            if version < parking.look_at or not parking.ends(self._contents):
                return
            self._first = version - 1
            self._on_lag()
        # A list may grow until it is packed.
        self._commits.append(writes if type(writes) is list else tuple(writes))
        self._note_length()

    def _note_length(self) -> None:
        if len(self._commits) % LAG_COMMITS == 0:
            self._on_lag()
        if len(self._commits) > _LONGEST_LOG:
            self.trim(self._first + 1)

    def lags(self, version: int, most: int) -> bool:
        """Tell whether an idle replica has to be sent what it misses.

        Args:
            version: Up to where it has been sent all.
            most: How many commits it may miss.
        """
        if self._store.version - version < most or self._parking.parked:
            return False
        unasked = len(self._commits) - self._packed
        values, made = self._unused_values, self._unpacked_containers
        if not self._parking.begins(unasked, self._contents, values, made):
            return True
        # No replica has been sent the last of these: each will be loaded afresh.
        self._idle_values = 0
        self._commits.clear()
        self._dropped.clear()
        self._told.clear()
        self._begins_amid, self._packed = False, 0
        return False

    def _unused_values(self) -> int:
        """Return how many values commits have that were of no use to any replica."""
        return self._idle_values + sum(map(_count, self._unpacked()))

    def _unpacked_containers(self) -> int:
        """Return how many containers these commits have made."""
        below, told = self._known.below, self._told
        numbers = {container._tx_number for container, _, _ in self._unpacked()}
        return sum(number >= below for number in numbers.difference(told))

    def _unpacked(self) -> Iterable[Write]:
        """Return the writes of the commits that no replica has asked for."""
        unpacked = itertools.islice(self._commits, self._packed, None)
        commits = (one for one in unpacked if isinstance(one, tuple | list))
        return itertools.chain.from_iterable(commits)

    def _unpark(self) -> None:
        """Keep the commits from now on, whatever they are for."""
        if self._parking.parked:
            self._parking.stop()
            self._first = self._store.version

    @property
    def hears_births(self) -> bool:
        """Whether new containers are kept, too: what is loaded afresh has them."""
        return not self._parking.parked

    @property
    def parked(self) -> bool:
        """Whether replicas are to be loaded afresh as soon as they are needed."""
        return self._parking.parked

    def dropped(self, number: int) -> None:
        if not self._parking.parked:  # what is loaded afresh is told what lives
            self._dropped.append(number)  # a deque: the collector runs in any thread

    def take_dropped(self) -> list[int]:
        """Return the numbers of the containers that died since the last time."""
        numbers = []
        while self._dropped:
            numbers.append(self._dropped.popleft())
        self._told.difference_update(numbers)
        return numbers

    def mark(self) -> int:
        """Return the newest version, from which on replicas will ask: copies of it."""
        self._store.part()
        self._unpark()
        self._pack_until(len(self._commits))
        return self._store.version

    def since(self, version: int, idle: bool = False) -> list[bytes] | None:
        """Return the packed commits after `version`; None if that is not possible.

        It is not if the version is too far back, or amid a group.

        Args:
            version: The one that a replica has.
            idle: Whether the replica has no use for them just now.
        """
        self._idle_values = self._unused_values() if idle else 0
        self._store.part()
        self._unpark()
        skipped, commits = version - self._first, self._commits
        if skipped < 0:
            return None
        # Those before `version`, too, if there are any: a replica that has got a dump
        # may be the first to ask, and others still have to be told of all of them.
        self._pack_until(skipped)
        self._pack_until(len(commits))
        if commits[skipped - 1] is None if skipped else self._begins_amid:
            return None
        packed = itertools.islice(commits, skipped, None)
        return [group for group in packed if isinstance(group, bytes)]

    def _pack_until(self, end: int) -> None:
        """Pack what is not packed of the first commits, as one group."""
        start, commits = self._packed, self._commits
        if start >= end:
            return
        unpacked = itertools.islice(commits, start, end)
        group = _condensed([one for one in unpacked if isinstance(one, tuple | list)])
        for index in range(start, end - 1):
            commits[index] = None
        commits[end - 1] = self._pack(group)
        self._packed = end

    def _pack(self, commits: list[Sequence[Write]]) -> bytes:
        """Pack commits, of which all replicas are told after those before them."""
        # What is new is pickled: of many commits at once that is quicker.
        packed = pack_commits(commits, self._known)
        if packed is None:
            packed = _pickled(commits)
            every = itertools.chain.from_iterable(commits)
            self._told.update(container._tx_number for container, _, _ in every)
        return packed

    def trim(self, version: int) -> None:
        """Let go of the commits up to `version`."""
        while self._first < version and self._commits:
            self._begins_amid = self._commits.popleft() is None
            self._first += 1
            self._packed = max(0, self._packed - 1)

    def dump(self) -> bytes:
        """Return a pickled `Dump` of what has changed since the fork."""
        self.mark()
        changed, numbers = contents = self._contents()
        try:
            return dumps(contents)
        except UNPICKLABLE:
            converted = _converted(changed, _sendable_key, _sendable)
            return dumps((converted, numbers))

    def _contents(self) -> Dump:
        living = self._store.containers()
        changed = [
            (container, self._store.contents_at(container, self._store.version))
            for container in living
            if container._tx_changed > self.forked_at
        ]
        if travel_table:  # or pickle would fail at the first one that is held
            changed = _converted(changed, _key_without_held, _value_without_held)
        return changed, [container._tx_number for container in living]


def _count(write: Write) -> int:
    value = write[2]
    return value.value_count() if isinstance(value, Operation) else 1


def _condensed(commits: list[Sequence[Write]]) -> list[Sequence[Write]]:
    """Return commits without the values of a `TVar` which later ones replace.

    A replica that gets them all at once never reads those values. With other containers
    the order in which cells came counts.
    """
    if len(commits) == 1:
        return commits
    seen: set[int] = set()
    found: list[Sequence[Write]] = []
    for writes in reversed(commits):
        lasting = []
        for write in reversed(writes):
            container, key, value = write
            number = container._tx_number
            if key is not Key.VALUE or number not in seen:
                lasting.append(write)
            if key is Key.VALUE and not isinstance(value, Operation):
                seen.add(number)
        found.append(tuple(reversed(lasting)))
    found.reverse()
    return found


def _converted(
    contents: Iterable[tuple[Container, dict[Hashable, Any]]],
    convert_key: Callable[[Hashable], Hashable],
    convert: Callable[[object], object],
) -> list[tuple[Container, dict[Hashable, Any]]]:
    """Return containers with their keys and values converted."""
    return [
        (
            one,
            {
                convert_key(key): one._tx_converted(value, convert)
                for key, value in items.items()
            },
        )
        for one, items in contents
    ]


def _pickled(commits: list[Sequence[Write]]) -> bytes:
    if travel_table:  # or all would be pickled in vain
        commits = [tuple(map(_without_held, writes)) for writes in commits]
    try:
        return dumps(commits)
    except UNPICKLABLE:
        return dumps(list(map(_sendable_writes, commits)))


def _without_held(write: Write) -> Write:
    """Return a write with something in the place of what containers hold."""
    container, key, value = write
    return container, _key_without_held(key), _value_without_held(value)


def _key_without_held(key: Hashable) -> Hashable:
    reason = why_it_stays(key)
    return key if reason is None else _unsendable_key(key, reason)


def _value_without_held(value: object) -> object:
    if isinstance(value, Operation):
        if type(value) is Update:
            kinds = map(type, value.items.values())
            if travel_table.keys().isdisjoint(kinds):
                return value  # as most: no copy is made
        return value.mapped(_value_without_held)
    reason = why_it_stays(value)
    return value if reason is None else _stand_in(reason)


@functools.cache  # there is one reason for each class
def _stand_in(reason: str) -> Unsendable:
    return Unsendable(reason)


class _Packed:
    """Something pickled by itself; what is unpickled is the thing.

    What one thing needs, as a function to go by value, is not asked of the others then.
    """

    def __init__(self, thing: object) -> None:
        self._body = dumps(thing)

    def __reduce__(self) -> tuple[object, ...]:
        return loads, (self._body,)


def _sendable_writes(writes: Sequence[Write]) -> object:
    try:
        return _Packed(writes)
    except UNPICKLABLE:
        return [
            (one, _sendable_key(key), _sendable(new))
            for write in writes
            for one, key, new in _singly(write)
        ]


def _singly(write: Write) -> Iterable[Write]:
    """Return the writes to single cells that a write consists of, if its keys count."""
    container, _, value = write
    if not isinstance(value, Update):
        return [write]
    return ((container, key, new) for key, new in value.items.items())


def _sendable_key(key: Hashable) -> Hashable:
    sendable = _sendable(key)
    if isinstance(sendable, Unsendable):
        return _unsendable_key(key, sendable.reason)
    return sendable  # type: ignore[no-any-return] # it has a hash


def _unsendable_key(key: Hashable, reason: str) -> Unsendable:
    # One for each, so that there are as many keys, and the same for its deletion.
    return Unsendable(f"key {id(key):x}: {reason}")


def _sendable(value: Any) -> Any:
    if value is MISSING:
        return value
    if isinstance(value, Operation):
        return value.mapped(_sendable)
    try:
        return _Packed(value)
    except UNPICKLABLE as error:
        return Unsendable(str(error))
