"""TSet: a shared set with conflicts per element."""

from __future__ import annotations

import copy
import reprlib
from collections.abc import Iterable, Iterator, MutableSet, Set
from typing import Any, TypeVar, cast, overload

from txloop.cells import live
from txloop.cells.keyed import KeyedCells
from txloop.cells.kinds import check_key
from txloop.cells.likeness import PassesFor, PassingType
from txloop.cells.shareable import (
    Convert,
    check_keys,
    converted,
    register,
    shareable,
    shareable_all,
)
from txloop.stm.attempt import running
from txloop.stm.store import committed
from txloop.stm.types import MISSING

__all__ = ["TSet"]

T = TypeVar("T")
S = TypeVar("S")

_FEW = 16  # elements; more are not looked up one by one


class TSet(KeyedCells, MutableSet[T], metaclass=PassingType):
    """A set of shared values, in insertion order.

    Two transactions conflict only where one's answer depends on the other: ``in`` and
    `remove` with the coming or going of that element; `len`, iteration and comparison
    with that of any. `add`, `discard` and `update` read nothing: two of them never
    conflict. The operators return plain sets. The rest is as in `TVar`.

    >>> seen = TSet("ab")
    >>> seen.add("c")
    >>> "c" in seen, len(seen)
    (True, 3)
    """

    __slots__ = ()
    __class__ = PassesFor(set, "set(...)")
    __hash__ = None  # type: ignore[assignment] # mutable, compares by contents

    @overload
    def __init__(self, /) -> None: ...
    @overload
    def __init__(self, elements: Iterable[T], /) -> None: ...
    def __init__(self, elements: Iterable[T] = (), /) -> None:
        self._adopt(_shareable_elements(elements))

    def __iter__(self) -> Iterator[T]:
        """Iterate over what is there now; see `like_plain` for what comes later."""
        keys = cast("list[T]", self._keys())  # they were stored as such
        # A program may have come to rely on the order of a set of numbers.
        parts = set(keys) if PassesFor.on else keys
        return live.iterate_unresized(self, parts) if live.on else iter(parts)

    def add(self, element: T) -> None:
        """Put `element` in, whether it is there or not."""
        self._write(_checked(element), True)

    def discard(self, element: T) -> None:
        """Take `element` out, whether it is there or not."""
        try:
            self._write(element, MISSING)
        except TypeError:
            other = self._hashable(element)
            if other is None:
                raise
            self._write(other, MISSING)

    def _hashable(self, key: object) -> frozenset[object] | None:
        return frozenset(key) if isinstance(key, set | TSet) else None  # as a set does

    def remove(self, element: T) -> None:
        """Take `element` out; raise `KeyError` if it is not there."""
        if element not in self:
            raise KeyError(element)
        self.discard(element)

    def pop(self) -> T:
        """Take out the element that came first, and return it."""
        for element in self:
            self.discard(element)
            return element
        raise KeyError("pop from an empty set")

    def update(self, *others: Iterable[T]) -> None:
        """Put the elements of `others` in, in one commit."""
        cells: dict[Any, Any] = {}
        for other in others:
            cells.update(_shareable_elements(other))
        self._update(cells)

    def difference_update(self, *others: Iterable[T]) -> None:
        """Take the elements of `others` out, in one commit."""
        gone = [(self, element, MISSING) for other in others for element in other]
        attempt = running.attempt
        if attempt is not None:
            for _, element, _ in gone:
                attempt.write(self, element, MISSING)
        elif {element for _, element, _ in gone}:  # raises before any is written
            committed.install(gone)

    def intersection_update(self, *others: Iterable[T]) -> None:
        """Keep only the elements that are in all of `others`."""
        self.difference_update(self.copy() - self.copy().intersection(*others))

    def symmetric_difference_update(self, other: Iterable[T]) -> None:
        """Keep what is in only one of the two."""
        theirs = set(other)
        both = self.copy() & theirs
        self.update(theirs)
        self.difference_update(both)

    def union(self, *others: Iterable[T]) -> set[T]:
        """Return a plain set of what is in any of them."""
        return self.copy().union(*others)

    def intersection(self, *others: Iterable[object]) -> set[T]:
        """Return a plain set of what is in all of them."""
        if not others:
            return self.copy()
        return self._those_of(others[0]).intersection(*others[1:])

    def difference(self, *others: Iterable[object]) -> set[T]:
        """Return a plain set of what is here and in none of `others`."""
        return self.copy().difference(*others)

    def symmetric_difference(self, other: Iterable[T]) -> set[T]:
        """Return a plain set of what is in only one of the two."""
        return self.copy().symmetric_difference(other)

    def issubset(self, other: Iterable[object]) -> bool:
        """Tell whether everything here is in `other`."""
        return self.copy().issubset(other)

    def issuperset(self, other: Iterable[object]) -> bool:
        """Tell whether everything in `other` is here."""
        wanted = set(other)
        return len(self._those_of(wanted)) == len(wanted)

    def isdisjoint(self, other: Iterable[object]) -> bool:
        """Tell whether nothing in `other` is here."""
        return not self._those_of(other)

    def copy(self) -> set[T]:
        """Return a plain set of the same elements."""
        return set(self)

    # The operators take sets only, as those of `set`; MutableSet's take anything.

    def __or__(self, other: Set[S]) -> set[T | S]:
        return self.copy() | set(other) if isinstance(other, Set) else NotImplemented

    def __and__(self, other: Set[Any]) -> set[T]:
        return self._those_of(other) if isinstance(other, Set) else NotImplemented

    def __sub__(self, other: Set[Any]) -> set[T]:
        return self.copy() - set(other) if isinstance(other, Set) else NotImplemented

    def __xor__(self, other: Set[S]) -> set[T | S]:
        return self.copy() ^ set(other) if isinstance(other, Set) else NotImplemented

    # What is on the left decides about the type, and which comes first.

    def __ror__(self, other: Set[S]) -> Set[T | S]:
        return _left(other) | self.copy() if isinstance(other, Set) else NotImplemented

    def __rand__(self, other: Set[S]) -> Set[S]:
        if not isinstance(other, Set):
            return NotImplemented
        return _left(other) & self._those_of(other)

    def __rsub__(self, other: Set[S]) -> Set[S]:
        if not isinstance(other, Set):
            return NotImplemented
        return _left(other) - self._those_of(other)

    def __rxor__(self, other: Set[S]) -> Set[T | S]:
        return _left(other) ^ self.copy() if isinstance(other, Set) else NotImplemented

    def __ior__(self, other: Set[T]) -> TSet[T]:  # type: ignore[override,misc] # as `set`
        if not isinstance(other, Set):
            return NotImplemented
        self.update(other)
        return self

    def __iand__(self, other: Set[Any]) -> TSet[T]:
        if not isinstance(other, Set):
            return NotImplemented
        self.intersection_update(other)
        return self

    def __isub__(self, other: Set[Any]) -> TSet[T]:
        if not isinstance(other, Set):
            return NotImplemented
        self.difference_update(other)
        return self

    def __ixor__(self, other: Set[T]) -> TSet[T]:  # type: ignore[override,misc] # as `set`
        if not isinstance(other, Set):
            return NotImplemented
        self.symmetric_difference_update(other)
        return self

    def __ge__(self, other: Set[object]) -> bool:
        return self.issuperset(other) if isinstance(other, Set) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Set):
            return NotImplemented
        return self is other or self.copy() == set(other)

    def __copy__(self) -> TSet[T]:
        return self._tx_like(self)

    def __deepcopy__(self, memo: dict[int, object]) -> TSet[T]:
        made = memo[id(self)] = self._tx_like(())
        made.update(copy.deepcopy(list(self), memo))
        return made

    def _tx_as_json(self) -> list[T]:
        return list(self)

    @reprlib.recursive_repr("TSet({...})")
    def __repr__(self) -> str:
        # Not `copy`: the order would be another one each time.
        elements = ", ".join(map(repr, self))
        return f"{type(self).__name__}({{{elements}}})" if elements else "TSet()"

    def _those_of(self, others: Iterable[object]) -> set[T]:
        """Return which of `others` are here; where they are few, only they are read."""
        wanted = cast("set[T]", set(others))
        if len(wanted) > _FEW:
            return self.copy() & wanted
        return {element for element in wanted if element in self}

    def _tx_like(self, elements: Iterable[T]) -> TSet[T]:
        made: TSet[T] = type(self).__new__(type(self))
        TSet.__init__(made, elements)
        return made


def _left(other: Set[S]) -> set[S] | frozenset[S]:
    """Return the left side of an operator: of the program's type, if that is one."""
    return other if isinstance(other, frozenset) else set(other)


def _shareable_elements(elements: Iterable[object]) -> dict[Any, Any]:
    if type(elements) is not set:
        elements = list(elements)
    shared = shareable_all(elements)
    cells = dict.fromkeys(shared, True)
    if shared is not elements:
        check_keys(cells)  # what stays as it is may be a key, too
    return cells


def _checked(element: object) -> object:
    """Return an element as the set may hold it."""
    shared = shareable(element)
    check_key(shared)
    return shared


def _fill(made: TSet[Any], plain: set[Any], convert: Convert) -> None:
    cells = dict.fromkeys(converted(plain, convert), True)
    check_keys(cells)
    made._tx_begin(cells)


register(set, TSet, _fill)
