"""What has happened in the game, in commit order: no Tornado, no txloop.

The log is a few segments, of which only the last one grows. A change appends to it and
reads nothing but which one it is, so that two changes never conflict here. Old events
go by the segment: to delete them one by one would move all the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping, MutableSequence
from typing import Protocol, TypeAlias, TypeVar

from handlers.astar_errors import Refused

__all__ = ["KEPT_EVENTS", "Event", "EventLog", "MakeDict", "MakeList"]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")

KEPT_EVENTS = 100_000

Event: TypeAlias = tuple[str, int, int, int | None, str | None]
"""Kind, x, y, player, tag."""

_Segment: TypeAlias = tuple[int, MutableSequence[Event]]
"""How many events there were before it, and its own."""

_SEGMENTS = "segments"


class MakeList(Protocol):
    """`list`, or a container like it."""

    def __call__(self, items: Iterable[T], /) -> MutableSequence[T]:
        """Return a list of the items."""
        ...  # pyright takes what has none for a body


class MakeDict(Protocol):
    """`dict`, or a container like it."""

    def __call__(self, items: Iterable[tuple[K, V]], /) -> MutableMapping[K, V]:
        """Return a dict of the items."""
        ...  # likewise


class EventLog:
    """The newest events. Event number 1 is the first one ever.

    Args:
        make_list: What makes the lists.
        make_dict: What makes the dicts.
        kept: How many events can be had.
    """

    def __init__(
        self, make_list: MakeList, make_dict: MakeDict, kept: int = KEPT_EVENTS
    ) -> None:
        self._make_list = make_list
        self._kept = kept
        first: _Segment = (0, make_list([]))
        # A dict of one key: all segments change at once, in one write.
        self._state: MutableMapping[str, tuple[_Segment, ...]] = make_dict(
            [(_SEGMENTS, (first,))]
        )

    @property
    def version(self) -> int:
        """The number of events so far, those that are gone included."""
        before, events = self._state[_SEGMENTS][-1]
        return before + len(events)

    def append(self, event: Event) -> None:
        """Add an event, whatever its number will be."""
        self._state[_SEGMENTS][-1][1].append(event)

    def since(self, version: int) -> list[tuple[int, Event]]:
        """Return the events after the first `version` ones, each with its number.

        Raises:
            Refused: so many have not happened yet, or they are not kept any more.
        """
        newest = self.version
        if version > newest:
            raise Refused(400, f"only {newest} events have happened, not {version}")
        if version < newest - self._kept:
            raise Refused(
                410, f"events up to {newest - self._kept} are gone; ask for the map"
            )
        return list(self._numbered(version))

    def _numbered(self, version: int) -> Iterator[tuple[int, Event]]:
        segments = self._state[_SEGMENTS]
        # Backwards to the one where it starts: that is nearly always the last one.
        first = len(segments) - 1
        while segments[first][0] > version:
            first -= 1
        for before, events in segments[first:]:
            skipped = max(0, version - before)
            yield from enumerate(events[skipped:], before + skipped + 1)

    def trim(self) -> None:
        """Forget what is too old, once in a while; to be called after each event.

        In the one place where nothing runs beside it: it reads how many events there
        are, and so would conflict with every change.
        """
        segments = self._state[_SEGMENTS]
        before, events = segments[-1]
        if len(events) < max(1, self._kept // 4):
            return
        newest = before + len(events)
        ends = [before for before, _ in segments[1:]] + [newest]
        needed = tuple(
            segment
            for segment, end in zip(segments, ends, strict=True)
            if end > newest - self._kept
        )
        self._state[_SEGMENTS] = (*needed, (newest, self._make_list([])))
