"""Dicts that may be taken for their cells, which are dicts of the same contents.

To ask a container takes a call of Python code. Who looks at many, and only looks, may
take their cells instead: C code goes through these. It is so of a container whose cells
have no history, as of nearly all; of the others a copy is made.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from txloop.stm.attempt import running
from txloop.stm.store import committed
from txloop.stm.threads import gil_enabled

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = ["Look", "are_dicts", "kinds", "with_cells", "with_cells_inside"]

kinds: set[type] = set()
"""The classes whose objects may be taken so, themselves and not their derived ones."""

_MANY_THREADS = not gil_enabled()
_PARTS = frozenset([dict, list])

_cells = operator.attrgetter("_tx_cells")
_changed = operator.attrgetter("_tx_changed")
_number = operator.attrgetter("_tx_number")
_shuffled = operator.attrgetter("_tx_shuffled")


def are_dicts(things: Collection[object]) -> bool:
    """Tell whether all of these are dicts that may be taken for their cells at all."""
    return kinds.issuperset(map(type, things))


class Look:
    """A look at the contents of some dicts, which have to be `are_dicts`.

    Attributes:
        contents: Of each, its cells or a copy. They must not be changed, and hold only
            if `was_right` says so afterwards.
    """

    __slots__ = ("_attempt", "_copied", "_dicts", "_ordered", "_settled", "contents")

    def __init__(self, dicts: Sequence[Any], ordered: bool = True) -> None:
        """Look at them.

        Args:
            dicts: Of the classes in `kinds`.
            ordered: Whether the order of what is in one matters.
        """
        attempt = running.attempt if committed.noting else None
        settled = committed.settled if attempt is None else attempt.settled
        self._attempt = attempt
        self._dicts = dicts
        self._ordered = ordered
        self._settled = settled
        self._copied: set[int] = set()
        if dicts and not self._all_bare(dicts):
            writes = () if attempt is None else attempt.writes
            for place, each in enumerate(dicts):
                if (
                    each._tx_changed > settled
                    or each._tx_shuffled
                    or each._tx_number in writes
                ):
                    self._copied.add(place)
        self.contents: list[Any] = [*map(_cells, dicts)]
        for place in self._copied:
            self.contents[place] = dicts[place]._contents()

    def _all_bare(self, dicts: Sequence[Any]) -> bool:
        """Tell whether the cells of all of these are their contents."""
        settled, attempt = self._settled, self._attempt
        if settled < committed.version and max(map(_changed, dicts)) > settled:
            return False
        if self._ordered and any(map(_shuffled, dicts)):
            return False
        return (
            attempt is None
            or not attempt.writes
            or attempt.writes.keys().isdisjoint(map(_number, dicts))
        )

    def was_right(self, count: int | None = None) -> bool:
        """Tell whether the contents were right, and note that all of them was read.

        Args:
            count: How many of them were looked at; None for all.
        """
        dicts = self._dicts if count is None else self._dicts[:count]
        if self._copied:
            dicts = [one for at, one in enumerate(dicts) if at not in self._copied]
        if not dicts:
            return True
        if (committed.readers or _MANY_THREADS) and not self._all_bare(dicts):
            return False  # another thread has changed one meanwhile
        return self._attempt is None or self._attempt.note_whole(dicts)


def _looked_at(things: Sequence[object]) -> list[Any] | None:
    """Return the contents of these, for this thread to look at now, or None."""
    if committed.readers or _MANY_THREADS or not are_dicts(things):
        return None
    look = Look(things)
    return look.contents if look.was_right() else None


def with_cells(content: Any) -> Any:
    """Return a plain list or dict with the cells of dicts in their place, or itself.

    It is for who only looks at it, and at once.
    """
    if type(content) is list:
        if content and (looked_at := _looked_at(content)) is not None:
            return looked_at
    elif type(content) is dict:
        parts = [*content.values()]
        if content and (looked_at := _looked_at(parts)) is not None:
            return dict(zip(content, looked_at, strict=True))
    return content


def with_cells_inside(content: Any) -> Any:
    """Do as `with_cells`, also for the lists and dicts in a dict."""
    if type(content) is dict and not _PARTS.isdisjoint(map(type, content.values())):
        return {key: with_cells(part) for key, part in content.items()}
    return with_cells(content)
