"""What `keys`, `items` and `values` of a shared dict return."""

from __future__ import annotations

from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Set,
    ValuesView,
)
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar, cast

from txloop.cells import live
from txloop.cells.likeness import PassesFor, PassingType
from txloop.cells.set_order import has_no_order
from txloop.cells.tset import TSet
from txloop.stm.types import MISSING

__all__ = ["Items", "Keys", "Values"]

K = TypeVar("K")
V = TypeVar("V")


class _View(metaclass=PassingType):
    __slots__ = ()

    _mapping: Any  # a TDict, whose module imports this one
    _method: ClassVar[str]  # which returns such a view

    @property
    def mapping(self) -> Mapping[Any, Any]:
        return MappingProxyType(self._mapping)

    def __repr__(self) -> str:
        if not PassesFor.on:
            return f"{type(self).__name__}({self._mapping!r})"
        return repr(self._as_plain())

    def _as_plain(self) -> Any:
        plain = self._mapping._empty()
        plain.update(self._mapping._contents())
        return getattr(plain, self._method)()

    def __reversed__(self) -> Iterator[Any]:
        if live.on:
            return self._follow(reversed)
        return iter([*cast("Iterable[Any]", self)][::-1])

    def _follow(self, way: Callable[[Any], Iterator[Any]] = iter) -> Iterator[Any]:
        """Go over what a plain one would show; see `live`."""
        mapping = self._mapping
        twin = mapping._twin(mapping._contents())
        return live.follow(mapping, twin, way(getattr(twin, self._method)()))


_KINDS = (frozenset, list, set, tuple)


def _operator(name: str) -> Any:
    """Return an operator that does as that of Python's own views.

    Those make a set of themselves first, which decides about the order of numbers; the
    abstract class goes over the elements.
    """
    inherited = getattr(Set, name)
    asks_one_by_one = name in ("__and__", "__rand__", "__rsub__")

    def operator(self: _SetView, other: Any) -> Any:
        few = asks_one_by_one and type(other) in _KINDS and has_no_order(other)
        if few or not PassesFor.on:
            return inherited(self, other)
        theirs = other._as_plain() if isinstance(other, TSet | _View) else other
        return getattr(self._as_plain(), name)(theirs)

    operator.__name__ = name
    return operator


class _SetView(_View, Set[Any]):
    """A view with the operators of a set."""

    __and__ = _operator("__and__")
    __or__ = _operator("__or__")
    __sub__ = _operator("__sub__")
    __xor__ = _operator("__xor__")
    __rand__ = _operator("__rand__")
    __ror__ = _operator("__ror__")
    __rsub__ = _operator("__rsub__")
    __rxor__ = _operator("__rxor__")


class Keys(_SetView, KeysView[K]):
    """The keys, in their order."""

    _method = "keys"

    # By no generator: that of the abstract class takes longer than a small dict.

    def __iter__(self) -> Iterator[K]:
        return iter(self._mapping if live.on else self._mapping._keys())


class Items(_SetView, ItemsView[K, V]):
    """The keys with their values."""

    _method = "items"

    def __iter__(self) -> Iterator[tuple[K, V]]:
        return self._follow() if live.on else iter(self._mapping._contents().items())

    def __contains__(self, item: object) -> bool:
        if not (isinstance(item, tuple) and len(item) == 2):
            return False
        key, wanted = item
        value = self._mapping._found(key)  # nothing is made for a key that is missing
        return value is wanted or bool(value is not MISSING and value == wanted)


class Values(_View, ValuesView[V]):
    """The values, in the order of the keys."""

    _method = "values"

    def __iter__(self) -> Iterator[V]:
        return self._follow() if live.on else iter(self._mapping._contents().values())


for _view in (Keys, Items, Values):
    PassesFor.name_like(_view, type(getattr({}, _view._method)()))
