"""TCounterDict: a shared dict that counts."""

from __future__ import annotations

import collections
import operator
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Never, TypeVar

from txloop.cells.likeness import PassesFor
from txloop.cells.shareable import register
from txloop.cells.tdict import TDict, as_dict, fill_dict

__all__ = ["TCounterDict"]

T = TypeVar("T")

_Counts = Mapping[T, int] | Iterable[T]


class TCounterDict(TDict[T, int]):
    """A dict of counts with the methods of `collections.Counter`.

    A missing key counts 0. Counting reads and sets the keys that it counts: two
    transactions that count the same key conflict; where that happens often, use a
    `TDict` of `TCounter`. The operators return plain `Counter` objects. The rest is as
    in `TDict`.

    >>> words = TCounterDict("banana")
    >>> words.update("an")
    >>> words.most_common(2)
    [('a', 4), ('n', 3)]
    """

    __slots__ = ()
    __class__ = PassesFor(collections.Counter, "...")
    __hash__ = None  # mutable, compares by contents

    def __init__(self, counted: Any = None, /, **counts: int) -> None:
        """Count the elements of an iterable, or begin with the counts of a mapping."""
        TDict.__init__(self, collections.Counter(_source(counted), **counts))

    def __missing__(self, key: T) -> int:
        """Return 0."""
        return 0

    def __delitem__(self, key: T) -> None:
        if key in self:
            super().__delitem__(key)

    @classmethod
    def fromkeys(cls, iterable: Iterable[Any], v: Any = None) -> Never:
        """Raise an error, as `Counter` does."""
        raise NotImplementedError(
            f"{cls.__name__}.fromkeys() is undefined.  Use {cls.__name__}(iterable) "
            "instead."
        )

    def elements(self) -> Iterator[T]:
        """Iterate over the elements, each as often as it counts."""
        return self.copy().elements()

    def most_common(self, n: int | None = None) -> list[tuple[T, int]]:
        """Return the `n` elements that count most, with their counts; all if None."""
        return self.copy().most_common(n)

    def total(self) -> int:
        """Return the sum of the counts."""
        return self.copy().total()

    def update(  # type: ignore[override] # as in Counter
        self, counted: _Counts[T] | None = None, /, **counts: int
    ) -> None:
        """Add the counts of a mapping, or of the elements of an iterable."""
        given: Any = counts if counted is None else counted
        if isinstance(given, Mapping) and self._takes_unadded(given):
            TDict.update(self, given)
            counted, counts = None, {} if given is counts else counts
        self._count(lambda mine, count: count + mine, counted, counts)

    def subtract(self, counted: _Counts[T] | None = None, /, **counts: int) -> None:
        """Subtract as `update` adds; counts may become negative."""
        self._count(operator.sub, counted, counts)

    def copy(self) -> collections.Counter[T]:
        """Return a plain `Counter` with the same counts."""
        return collections.Counter(self._contents())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TCounterDict | collections.Counter):
            return bool(self.copy() == _counter(other))
        return TDict.__eq__(self, other)

    def __le__(self, other: Mapping[T, int]) -> bool:
        return self._with(operator.le, other)  # type: ignore[no-any-return]

    def __lt__(self, other: Mapping[T, int]) -> bool:
        return self._with(operator.lt, other)  # type: ignore[no-any-return]

    def __ge__(self, other: Mapping[T, int]) -> bool:
        return self._with(operator.ge, other)  # type: ignore[no-any-return]

    def __gt__(self, other: Mapping[T, int]) -> bool:
        return self._with(operator.gt, other)  # type: ignore[no-any-return]

    def __add__(self, other: Mapping[T, int]) -> collections.Counter[T]:
        return self._with(operator.add, other)  # type: ignore[no-any-return]

    def __sub__(self, other: Mapping[T, int]) -> collections.Counter[T]:
        return self._with(operator.sub, other)  # type: ignore[no-any-return]

    def __and__(self, other: Mapping[T, int]) -> collections.Counter[T]:
        return self._with(operator.and_, other)  # type: ignore[no-any-return]

    def __radd__(self, other: Mapping[T, int]) -> collections.Counter[T]:
        return self._from_left(operator.add, other)  # type: ignore[no-any-return]

    def __rsub__(self, other: Mapping[T, int]) -> collections.Counter[T]:
        return self._from_left(operator.sub, other)  # type: ignore[no-any-return]

    def __rand__(self, other: Mapping[T, int]) -> collections.Counter[T]:
        return self._from_left(operator.and_, other)  # type: ignore[no-any-return]

    def __pos__(self) -> collections.Counter[T]:
        return +self.copy()

    def __neg__(self) -> collections.Counter[T]:
        return -self.copy()

    def __iadd__(self, other: Mapping[T, int]) -> TCounterDict[T]:
        return self._become(operator.iadd, other)

    def __isub__(self, other: Mapping[T, int]) -> TCounterDict[T]:
        return self._become(operator.isub, other)

    def __ior__(self, other: Mapping[T, int]) -> TCounterDict[T]:
        return self._become(operator.ior, other)

    def __iand__(self, other: Mapping[T, int]) -> TCounterDict[T]:
        return self._become(operator.iand, other)

    @reprlib.recursive_repr("TCounterDict(...)")
    def __repr__(self) -> str:
        counts = repr(self.copy()).removeprefix("Counter")
        return f"{type(self).__name__}{counts}"

    def _empty(self) -> collections.Counter[T]:
        return collections.Counter()

    def _count(
        self, how: Callable[[int, int], int], counted: Any, named: dict[str, int]
    ) -> None:
        changes: collections.Counter[Any] = collections.Counter()
        given: Iterable[tuple[Any, int]] = collections.Counter(_source(counted)).items()
        for key, count in [*given, *named.items()]:
            changes[key] = how(changes.get(key, self.get(key, 0)), count)
        TDict.update(self, dict(changes))

    def _takes_unadded(self, given: Mapping[T, Any]) -> bool:
        """Tell whether a plain Counter would take what may be no numbers, unadded."""
        # Whether it is empty is asked last: that depends on what all others count.
        return any(type(count) is not int for count in given.values()) and not self

    def _become(
        self, how: Callable[[Any, Any], Any], other: Mapping[T, int]
    ) -> TCounterDict[T]:
        before = self._contents()
        after = how(collections.Counter(before), _counter(other))
        for key in before.keys() - after.keys():
            TDict.__delitem__(self, key)
        changed = {k: new for k, new in after.items() if before.get(k) != new}
        if changed:
            TDict.update(self, changed)
        return self

    def _with(self, how: Callable[[Any, Any], Any], other: object) -> Any:
        if not isinstance(other, TCounterDict | collections.Counter):
            return NotImplemented
        return how(self.copy(), _counter(other))

    def _from_left(self, how: Callable[[Any, Any], Any], other: object) -> Any:
        if not isinstance(other, collections.Counter):
            return NotImplemented
        return how(other, self.copy())


def _source(counted: Any) -> Any:
    """Return what a plain Counter counts rightly; a container of ours is a mapping."""
    return as_dict(counted) if isinstance(counted, TDict) else counted


def _counter(counts: Any) -> Any:
    return counts.copy() if isinstance(counts, TCounterDict) else counts


register(collections.Counter, TCounterDict, fill_dict)
