"""TOrderedDict: a shared dict whose order can be changed, and counts."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, TypeVar

from txloop.cells.likeness import PassesFor
from txloop.cells.shareable import register
from txloop.cells.tdict import TDict, as_dict, fill_dict
from txloop.stm.attempt import running
from txloop.stm.container import Clear, Update
from txloop.stm.store import committed
from txloop.stm.types import MISSING, Key

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
        value = self._found(key)
        if value is MISSING:
            raise KeyError(key)
        if last:
            self._move([(key, MISSING), (key, value)])
        else:
            self._replace({key: value, **_without(self._contents(), key)})

    def popitem(self, last: bool = True) -> tuple[K, V]:
        """Delete the last item, or the first one, and return it."""
        for key in reversed(self) if last else self:
            return key, self.pop(key)
        raise KeyError("dictionary is empty")

    def copy(self) -> OrderedDict[K, V]:
        """Return a plain `OrderedDict` with the same items."""
        return OrderedDict(self._contents())

    def __or__(self, other: Mapping[K, V]) -> OrderedDict[K, V]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return OrderedDict(self._contents() | as_dict(other))

    def __ror__(self, other: Mapping[K, V]) -> OrderedDict[K, V]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return OrderedDict(as_dict(other) | self._contents())

    def __eq__(self, other: object) -> bool:
        """Tell whether the items are equal; to one of its kind, in the same order."""
        if not isinstance(other, TOrderedDict | OrderedDict):
            return TDict.__eq__(self, other)
        if self is other:
            return True
        mine, theirs = self._contents(), as_dict(other)
        return mine == theirs and all(map(operator.eq, mine, theirs))

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
