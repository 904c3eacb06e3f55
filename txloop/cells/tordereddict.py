"""TOrderedDict: a shared dict whose order can be changed, and counts."""

from __future__ import annotations

import operator
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeVar

from txloop.cells import live
from txloop.cells.likeness import PassesFor
from txloop.cells.shareable import register
from txloop.cells.tdict import TDict, as_dict, fill_dict
from txloop.stm.attempt import running
from txloop.stm.container import Clear, Update
from txloop.stm.store import committed
from txloop.stm.types import MISSING, Key

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["TOrderedDict"]

K = TypeVar("K")
V = TypeVar("V")


class TOrderedDict(TDict[K, V]):
    """A `TDict` with the methods that `collections.OrderedDict` has besides.

    Moving a key to the end reads its value and changes the order: it conflicts with
    transactions that read this key or go through the dict, and with no others. Moving
    one to the beginning reads and writes everything. The rest is as in `TDict`.

    >>> queue = TOrderedDict(a=1, b=2)
    >>> queue.move_to_end("a")
    >>> queue
    TOrderedDict({'b': 2, 'a': 1})
    """

    __slots__ = ()
    __class__ = PassesFor(OrderedDict, "...")
    __hash__ = None  # mutable, compares by contents

    def move_to_end(self, key: K, last: bool = True) -> None:
        """Move a key that is there to the end, or to the beginning.

        Raises:
            KeyError: if it is not there.
        """
        try:
            value = self._found(key)
        except TypeError:
            value = MISSING
        if value is MISSING:
            self.copy().move_to_end(key, last)  # raises what a plain one raises
        if last:
            self._move([(key, MISSING), (key, value)])
        else:
            self._replace({key: value, **_without(self._contents(), key)})
        if live.loops:
            live.note_call(self, "move_to_end", key, last)

    def popitem(self, last: bool = True) -> tuple[K, V]:
        """Delete the last item, or the first one, and return it."""
        for key in reversed(self) if last else self:
            return key, self.pop(key)
        return OrderedDict[K, V]().popitem(last)  # raises what a plain one raises

    # These take keywords, other than those of a dict.

    @classmethod
    def fromkeys(cls, iterable: Iterable[Any], value: Any = None) -> TDict[Any, Any]:
        """Return a new one with these keys, all with the same value."""
        return super().fromkeys(iterable, value)

    def pop(self, key: K, default: Any = MISSING) -> Any:
        """Delete a key and return its value, or `default` if it is missing."""
        try:
            return TDict.pop(self, key, default)
        except KeyError:
            pass
        return OrderedDict[K, V]().pop(key)  # raises what a plain one raises

    def setdefault(self, key: K, default: V | None = None) -> V:
        """Return the value of `key`, after setting it to `default` if it is missing."""
        return TDict.setdefault(self, key, default)

    def copy(self) -> OrderedDict[K, V]:
        """Return a plain `OrderedDict` with the same items."""
        return OrderedDict(self._contents())

    def __eq__(self, other: object) -> bool:
        """Tell whether the items are equal; to one of its kind, in the same order."""
        if not isinstance(other, TOrderedDict | OrderedDict):
            return TDict.__eq__(self, other)
        if self is other:
            return True
        mine, theirs = self._contents(), as_dict(other)
        return mine == theirs and all(map(operator.eq, mine, theirs))

    def _twin(self, contents: dict[K, Any]) -> OrderedDict[K, Any]:
        return OrderedDict(contents)

    def _empty(self) -> OrderedDict[K, V]:
        return OrderedDict()

    def _move(self, steps: list[tuple[Any, Any]]) -> None:
        attempt = running.attempt
        if attempt is None:
            committed.install([(self, key, value) for key, value in steps])
            return
        for key, value in steps:
            attempt.write(self, key, value)

    def _replace(self, contents: dict[Any, Any]) -> None:
        attempt = running.attempt
        if attempt is None:
            writes = [(self, Key.ALL, Clear()), (self, Key.ALL, Update(contents))]
            committed.install(writes)
        else:
            attempt.clear(self)
            attempt.write_all(self, contents)


def _without(contents: dict[K, V], key: K) -> dict[K, V]:
    del contents[key]
    return contents


register(OrderedDict, TOrderedDict, fill_dict)
