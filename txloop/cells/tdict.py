"""TDict: a shared dict with conflicts per key."""

from __future__ import annotations

import copy
import reprlib
from collections.abc import (
    ItemsView,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    ValuesView,
)
from typing import Any, TypeAlias, TypeVar, cast, overload

from txloop.cells.keyed import KeyedCells
from txloop.cells.kinds import check_key
from txloop.cells.shareable import (
    Convert,
    check_keys,
    converted,
    register,
    shareable,
    shareable_values,
)
from txloop.stm.attempt import running
from txloop.stm.container import NEWEST
from txloop.stm.immutability import SCALARS
from txloop.stm.store import committed
from txloop.stm.types import MISSING
from txloop.stm.versions import Entry

__all__ = ["TDict"]

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")

_NOTHING: tuple[()] = ()

_Source: TypeAlias = Mapping[K, V] | Iterable[tuple[K, V]]


class _Items(ItemsView[K, V]):
    _mapping: TDict[K, V]

    def __iter__(self) -> Iterator[tuple[K, V]]:
        return iter(self._mapping.copy().items())


class _Values(ValuesView[V]):
    _mapping: TDict[Any, V]

    def __iter__(self) -> Iterator[V]:
        return iter(self._mapping.copy().values())


class TDict(KeyedCells, MutableMapping[K, V]):
    """A dict of shared values, in insertion order.

    Two transactions conflict only where one's answer depends on the other: reading a
    key conflicts with a change of that key; ``in`` with the insertion or deletion of
    that key; ``len`` and iteration over the keys with any insertion or deletion.
    Setting a key reads nothing. Keys must be immutable. The rest is as in `TVar`.

    >>> stock = TDict(apples=3)
    >>> stock["apples"] -= 1
    >>> stock
    TDict({'apples': 2})
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment] # mutable, compares by contents

    @overload
    def __init__(self, /) -> None: ...
    @overload
    def __init__(self: TDict[str, V], /, **values: V) -> None: ...
    @overload
    def __init__(
        self: TDict[str, V], items: _Source[str, V], /, **values: V
    ) -> None: ...
    @overload
    def __init__(self, items: Mapping[K, V], /) -> None: ...
    @overload
    def __init__(self, items: Iterable[tuple[K, V]], /) -> None: ...
    def __init__(self, items: Any = _NOTHING, /, **values: Any) -> None:
        given = values
        if items is not _NOTHING:
            given = _as_dict(items)
            given.update(values)
        self._adopt(shareable_values(given) if given else given)

    def __getitem__(self, key: K) -> V:
        attempt = running.attempt
        value: Any  # __setitem__ stored a V
        if attempt is None:
            value = self._cells.get(key, MISSING)
            if type(value) is Entry:
                value = value.value
        else:
            value = attempt.read(self, key)
        if value is MISSING:
            raise KeyError(key)
        return value  # type: ignore[no-any-return] # a cast takes as long as the rest

    @overload
    def get(self, key: K, default: None = None) -> V | None: ...
    @overload
    def get(self, key: K, default: V | D) -> V | D: ...
    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of `key`, or `default` if it is not there."""
        if type(self) is not TDict:
            return super().get(key, default)  # by `__getitem__`, which may be another
        attempt = running.attempt
        if attempt is None:
            value = self._cells.get(key, MISSING)
            if type(value) is Entry:
                value = value.value
        else:
            value = attempt.read(self, key)
        return default if value is MISSING else value

    def __setitem__(self, key: K, value: V) -> None:
        new: object = value
        if type(key) not in SCALARS:
            check_key(key)
        if type(new) not in SCALARS:
            new = shareable(new)
        attempt = running.attempt
        if attempt is None:
            committed.write(self, key, new)
        else:
            attempt.write(self, key, new)

    def __delitem__(self, key: K) -> None:
        if key not in self:
            raise KeyError(key)
        self._write(key, MISSING)

    def __iter__(self) -> Iterator[K]:
        """Iterate over what is there now; later changes do not disturb it."""
        return iter(cast("list[K]", self._keys()))  # they were stored as such

    def __reversed__(self) -> Iterator[K]:
        return reversed(list(self))

    def popitem(self) -> tuple[K, V]:
        """Delete the key that was inserted last; return it and its value."""
        for key in reversed(self):
            return key, self.pop(key)
        raise KeyError("popitem(): dictionary is empty")

    def setdefault(self, key: K, default: V | None = None, /) -> V:
        """Return the value of `key`, after setting it to `default` if it is missing."""
        try:
            return self[key]
        except KeyError:
            self[key] = cast("V", default)
            return self[key]  # a container, where the default is a plain dict

    def items(self) -> ItemsView[K, V]:
        """Return a view of the items; going through it reads everything."""
        return _Items(self)

    def values(self) -> ValuesView[V]:
        """Return a view of the values; going through it reads everything."""
        return _Values(self)

    def copy(self) -> dict[K, V]:
        """Return a plain dict with the same keys and values.

        It reads everything: a transaction that calls it conflicts with every change.
        """
        attempt = running.attempt
        if attempt is None:
            contents = committed.contents_at(self, NEWEST)
        else:
            contents = attempt.contents(self)
        return cast("dict[K, V]", contents)  # __setitem__ stored them

    def __copy__(self) -> TDict[K, V]:
        return self._like(self.copy())

    def __deepcopy__(self, memo: dict[int, object]) -> TDict[K, V]:
        made = memo[id(self)] = self._like({})
        made.update(copy.deepcopy(self.copy(), memo))
        return made

    @overload  # type: ignore[override] # what has keys() only is not promised
    def update(self, items: Mapping[K, V], /, **values: V) -> None: ...
    @overload
    def update(self, items: Iterable[tuple[K, V]], /, **values: V) -> None: ...
    @overload
    def update(self, /, **values: V) -> None: ...
    def update(self, items: Any = _NOTHING, /, **values: Any) -> None:
        """Set several keys, in one commit."""
        given = items
        if type(items) is not dict or values:
            given = _as_dict(items)
            given.update(values)
        self._update(shareable_values(given))

    def __or__(self, other: Mapping[K, V]) -> dict[K, V]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return self.copy() | _as_dict(other)

    def __ror__(self, other: Mapping[K, V]) -> dict[K, V]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return _as_dict(other) | self.copy()

    def __ior__(self, other: Mapping[K, V]) -> TDict[K, V]:
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return self is other or self.copy() == dict(other.items())

    def _as_json(self) -> dict[K, V]:
        return self.copy()

    @reprlib.recursive_repr("TDict({...})")
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.copy()!r})"

    def _like(self, contents: dict[K, V]) -> TDict[K, V]:
        made: TDict[K, V] = type(self).__new__(type(self))
        TDict.__init__(made, contents)
        return made

    def _write(self, key: object, value: object) -> None:
        attempt = running.attempt
        if attempt is None:
            committed.write(self, key, value)
        else:
            attempt.write(self, key, value)


def _as_dict(items: Any) -> dict[Any, Any]:
    """Return a new dict of what `dict` takes; a TDict is not asked key by key."""
    return items.copy() if type(items) is TDict else dict(items)


def _fill(made: TDict[Any, Any], plain: dict[Any, Any], convert: Convert) -> None:
    if not plain:
        return
    check_keys(plain)
    values = plain.values()
    new = converted(values, convert)
    made._begin(plain.copy() if new is values else dict(zip(plain, new, strict=True)))


register(dict, TDict, _fill)
