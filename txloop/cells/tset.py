"""TSet: a shared set with conflicts per element."""

from __future__ import annotations

import copy
import reprlib
import sys
from collections.abc import Collection, Iterable, Iterator, MutableSet, Set
from typing import Any, TypeGuard, TypeVar, cast, overload

from txloop.cells import live
from txloop.cells.keyed import KeyedCells
from txloop.cells.kinds import check_key
from txloop.cells.likeness import PassesFor, PassingType, stands_for_plain
from txloop.cells.set_order import Shape, has_no_order, in_order, shape_of
from txloop.cells.shareable import (
    Convert,
    check_keys,
    converted,
    register,
    shareable,
    shareable_all,
)
from txloop.stm.attempt import running
from txloop.stm.container import reduced_with
from txloop.stm.store import committed
from txloop.stm.types import MISSING

__all__ = ["TSet"]

T = TypeVar("T")
S = TypeVar("S")

_FEW = 16  # elements; more are not looked up one by one

_LAST_FIRST = sys.implementation.name == "pypy"  # whose sets pop what came last


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

    __slots__ = ("_shape",)
    __class__ = PassesFor(set, "set(...)")
    __hash__ = None  # type: ignore[assignment] # mutable, compares by contents

    _shape: Shape  # see `set_order`; it never changes, and travels with each reference

    @overload
    def __init__(self, /) -> None: ...
    @overload
    def __init__(self, elements: Iterable[T], /) -> None: ...
    def __init__(self, elements: Iterable[T] = (), /) -> None:
        self._adopt(_shareable_elements(elements))

    def __iter__(self) -> Iterator[T]:
        """Iterate over what is there now; see `like_plain` for what comes later."""
        parts = self._in_order()
        if not live.on:
            return iter(parts)
        twin = live.DictTwin.fromkeys(parts)
        return live.follow(self, twin, iter(twin), set)

    def _in_order(self) -> Collection[T]:
        keys = cast("list[T]", self._keys())  # they were stored as such
        # A program may have come to rely on the order of a set of numbers.
        return in_order(keys, self._shape) if PassesFor.on else keys

    def _as_plain(self) -> set[T]:
        """Return the plain set that it stands for.

        What is made of that has the order that Python gives it; that of a copy may be
        another one.
        """
        parts = self._in_order()
        return parts if type(parts) is set else set(parts)

    def add(self, element: T, /) -> None:
        """Put `element` in, whether it is there or not."""
        self._write(_checked(element), True)

    def discard(self, element: T, /) -> None:
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

    def remove(self, element: T, /) -> None:
        """Take `element` out; raise `KeyError` if it is not there."""
        if element not in self:
            raise KeyError(element)
        self.discard(element)

    def pop(self) -> T:
        """Take out the element that came first, and return it; see `like_plain`."""
        if PassesFor.on and _LAST_FIRST:
            element = self.copy().pop()
            self.discard(element)
            return element
        for element in self:
            self.discard(element)
            return element
        return set[T]().pop()  # raises what a set raises

    def update(self, *others: Iterable[T]) -> None:
        """Put the elements of `others` in, in one commit."""
        cells: dict[Any, Any] = {}
        try:
            for other in others:
                cells.update(_shareable_elements(other))
        except TypeError:
            if PassesFor.on:
                self._update_in_part(others)
            raise
        self._update(cells)

    def _update_in_part(self, others: Iterable[Iterable[T]]) -> None:
        """Do as much as a plain set does, and raise what it raises."""
        done: set[Any] = set()
        try:
            done.update(*others)
        finally:
            self._update(_shareable_elements(done))

    def difference_update(self, *others: Iterable[T]) -> None:
        """Take the elements of `others` out, in one commit."""
        gone: list[Any] = []
        try:
            for other in others:
                gone += [(self, element, MISSING) for element in other]
        except Exception:
            if PassesFor.on:
                self._take_out(gone)  # as far as it came
            raise
        self._take_out(gone)

    def _take_out(self, gone: list[Any]) -> None:
        attempt = running.attempt
        if attempt is not None:
            for _, element, _ in gone:
                attempt.write(self, element, MISSING)
        elif {element for _, element, _ in gone}:  # raises before any is written
            committed.install(gone)
        if live.loops:
            for _, element, _ in gone:
                live.note(self, element, MISSING)

    def intersection_update(self, *others: Iterable[T]) -> None:
        """Keep only the elements that are in all of `others`."""
        self.difference_update(
            self._as_plain() - self._as_plain().intersection(*others)
        )

    def symmetric_difference_update(self, other: Iterable[T], /) -> None:
        """Keep what is in only one of the two."""
        theirs = set(other)
        both = self._as_plain() & theirs
        self.update(theirs)
        self.difference_update(both)

    def union(self, *others: Iterable[T]) -> set[T]:
        """Return a plain set of what is in any of them."""
        return self._as_plain().union(*others)

    def intersection(self, *others: Iterable[object]) -> set[T]:
        """Return a plain set of what is in all of them."""
        if not others:
            return self.copy()
        first, *more = others
        found = self._those_of(first)
        return found.intersection(*more) if more else found

    def difference(self, *others: Iterable[object]) -> set[T]:
        """Return a plain set of what is here and in none of `others`."""
        return self._as_plain().difference(*others)

    def symmetric_difference(self, other: Iterable[T], /) -> set[T]:
        """Return a plain set of what is in only one of the two."""
        return self._as_plain().symmetric_difference(other)

    def issubset(self, other: Iterable[object], /) -> bool:
        """Tell whether everything here is in `other`."""
        return self._as_plain().issubset(other)

    def issuperset(self, other: Iterable[object], /) -> bool:
        """Tell whether everything in `other` is here."""
        try:
            wanted = set(other)
        except TypeError:
            # It may end before it comes there.
            return self._as_plain().issuperset(other)
        return len(self._those_of(wanted)) == len(wanted)

    def isdisjoint(self, other: Iterable[object], /) -> bool:
        """Tell whether nothing in `other` is here."""
        return not self._those_of(other)

    def copy(self) -> set[T]:
        """Return a plain set of the same elements."""
        plain = self._as_plain()
        return set(plain) if PassesFor.on else plain

    # These operators take what those of `set` do; without `like_plain`, any set.

    def __or__(self, other: Set[S]) -> Any:
        return self._as_plain() | _plain(other) if _is_set(other) else NotImplemented

    def __and__(self, other: Set[Any]) -> Any:
        if not _is_set(other):
            return NotImplemented
        if type(other) in _KINDS:
            return self._those_of(other)
        return self._as_plain() & _plain(other)  # its class may have a method for it

    def __sub__(self, other: Set[Any]) -> Any:
        return self._as_plain() - _plain(other) if _is_set(other) else NotImplemented

    def __xor__(self, other: Set[S]) -> Any:
        return self._as_plain() ^ _plain(other) if _is_set(other) else NotImplemented

    # What is on the left decides about the type, and which comes first.

    def __ror__(self, other: Set[S]) -> Any:
        return _plain(other) | self._as_plain() if _is_set(other) else NotImplemented

    def __rand__(self, other: Set[S]) -> Any:
        if not _is_set(other):
            return NotImplemented
        found = self._those_of(other)
        one_only = len(found) < 2 or has_no_order(found)
        return _plain(other) & (found if one_only else self._as_plain())

    def __rsub__(self, other: Set[S]) -> Any:
        if not _is_set(other):
            return NotImplemented
        few = self._those_of(other) if has_no_order(other) else self._as_plain()
        return _plain(other) - few

    def __rxor__(self, other: Set[S]) -> Any:
        return _plain(other) ^ self._as_plain() if _is_set(other) else NotImplemented

    def __ior__(self, other: Set[T]) -> TSet[T]:  # type: ignore[override,misc] # as `set`
        if not _is_set(other):
            return NotImplemented
        self.update(other)
        return self

    def __iand__(self, other: Set[Any]) -> TSet[T]:
        if not _is_set(other):
            return NotImplemented
        self.intersection_update(other)
        return self

    def __isub__(self, other: Set[Any]) -> TSet[T]:
        if not _is_set(other):
            return NotImplemented
        self.difference_update(other)
        return self

    def __ixor__(self, other: Set[T]) -> TSet[T]:  # type: ignore[override,misc] # as `set`
        if not _is_set(other):
            return NotImplemented
        self.symmetric_difference_update(other)
        return self

    def __lt__(self, other: Set[object]) -> Any:
        if not isinstance(other, Set):
            return NotImplemented
        return self._as_plain() < _plain(other)

    def __le__(self, other: Set[object]) -> Any:
        if not isinstance(other, Set):
            return NotImplemented
        return self._as_plain() <= _plain(other)

    def __gt__(self, other: Set[object]) -> Any:
        if not isinstance(other, Set):
            return NotImplemented
        return self._as_plain() > _plain(other)

    def __ge__(self, other: Set[object]) -> Any:
        if not isinstance(other, Set):
            return NotImplemented
        if type(other) in _KINDS:
            return self.issuperset(other)
        return self._as_plain() >= _plain(other)  # its class may have a method for it

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, Set):
            return NotImplemented
        return self is other or self._as_plain() == _plain(other)

    def __ne__(self, other: object) -> Any:
        if not isinstance(other, Set):
            return NotImplemented
        return self is not other and self._as_plain() != _plain(other)

    def __copy__(self) -> Any:
        return self.copy() if stands_for_plain(self) else self._tx_like(self)

    def __deepcopy__(self, memo: dict[int, object]) -> Any:
        if stands_for_plain(self):
            return copy.deepcopy(self._as_plain(), memo)
        made = memo[id(self)] = self._tx_like(())
        made.update(copy.deepcopy(list(self), memo))
        return made

    def _tx_as_json(self) -> list[T]:
        return list(self)

    @reprlib.recursive_repr("TSet({...})")
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._print_plain()})" if self else "TSet()"

    def _print_plain(self) -> str:
        # Not `copy`: the order would be another one each time.
        elements = ", ".join(map(repr, self))
        return f"{{{elements}}}" if elements else "set()"

    def _those_of(self, others: Iterable[object]) -> set[T]:
        """Return which of `others` are here; where they are few, only they are read."""
        theirs: Any = _plain(others) if isinstance(others, Set) else list(others)
        if len(theirs) > _FEW:
            return self._as_plain().intersection(theirs)
        found = cast("set[T]", {element for element in theirs if element in self})
        if len(found) < 2 or has_no_order(found) or not isinstance(others, Set):
            return found
        # It has the order of that which is smaller.
        return self._as_plain().intersection(theirs)

    def _tx_start(self, number: int, cells: Any) -> None:
        super()._tx_start(number, cells)
        self._shape = None

    def __reduce__(self) -> tuple[object, ...]:
        return reduced_with(self, "_shape") if self._shape else super().__reduce__()

    def _tx_like(self, elements: Iterable[T]) -> TSet[T]:
        made: TSet[T] = type(self).__new__(type(self))
        TSet.__init__(made, elements)
        return made


_KINDS = (set, frozenset, TSet)


def _is_set(other: object) -> TypeGuard[Set[Any]]:
    """Tell whether operators take it."""
    kinds = _KINDS if PassesFor.on else Set
    return type(other) in _KINDS or isinstance(other, kinds)


def _plain(other: Set[S]) -> Any:
    """Return the other side of an operator: of the program's type, if that is one."""
    if type(other) is set or type(other) is frozenset:
        return other
    if isinstance(other, TSet):
        return TSet._as_plain(other)
    return other if isinstance(other, set | frozenset) else set(other)


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
    if PassesFor.on:
        made._shape = shape_of(plain)
    made._tx_begin(cells)


register(set, TSet, _fill)
