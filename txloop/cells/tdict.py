"""TDict: a shared dict with conflicts per key."""

from __future__ import annotations

import reprlib
from collections.abc import (
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    MutableMapping,
    ValuesView,
)
from typing import Any, TypeAlias, TypeVar, cast, overload

from txloop.cells import bare, live
from txloop.cells.copies import deep_copies_by_key
from txloop.cells.keyed import KeyedCells
from txloop.cells.kinds import check_key
from txloop.cells.likeness import PassesFor, PassingType, stands_for_plain
from txloop.cells.owned import give_attributes
from txloop.cells.shareable import (
    Convert,
    check_keys,
    converted,
    register,
    shareable,
    shareable_values,
)
from txloop.cells.views import Items, Keys, Values
from txloop.stm.attempt import Attempt, running
from txloop.stm.container import NEWEST
from txloop.stm.immutability import SCALARS
from txloop.stm.store import committed
from txloop.stm.types import MISSING, strange
from txloop.stm.versions import Entry, value_at

__all__ = ["TDict", "as_dict", "fill_dict"]

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")
K2 = TypeVar("K2")
V2 = TypeVar("V2")

_NOTHING: tuple[()] = ()

_Source: TypeAlias = Mapping[K, V] | Iterable[tuple[K, V]]


class TDict(KeyedCells, MutableMapping[K, V], metaclass=PassingType):
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
    __class__ = PassesFor(dict, "{...}")
    __hash__ = None  # type: ignore[assignment] # mutable, compares by contents

    def __init_subclass__(cls, *, also: tuple[str, ...] = ()) -> None:
        """Let the objects of a class have attributes; see `give_attributes`."""
        super().__init_subclass__()
        give_attributes(cls, also, TDict)

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
            given = as_dict(items)
            given.update(values)
        self._adopt(shareable_values(given) if given else given)

    @overload
    @classmethod
    def fromkeys(
        cls, keys: Iterable[K2], value: None = None, /
    ) -> TDict[K2, Any | None]: ...
    @overload
    @classmethod
    def fromkeys(cls, keys: Iterable[K2], value: V2, /) -> TDict[K2, V2]: ...
    @classmethod
    def fromkeys(cls, keys: Iterable[Any], value: Any = None, /) -> TDict[Any, Any]:
        """Return a new one with these keys, all with the same value."""
        made: TDict[Any, Any] = cls()
        shared = shareable(value)  # once: a plain list becomes one TList for all
        if cls.__setitem__ is not TDict.__setitem__:
            for key in keys:
                made[key] = shared
            return made
        made.update(dict.fromkeys(keys, shared))
        return made

    def __getitem__(self, key: K) -> V:
        value: Any  # __setitem__ stored a V
        if not committed.noting:  # as most often: by the shortest way
            try:
                value = self._tx_cells[key]
            except KeyError:
                pass
            else:
                if type(value) is not Entry:
                    return value  # type: ignore[no-any-return] # as below
        attempt = running.attempt if committed.noting else None
        if attempt is None:
            value = self._found(key)
        elif (number := self._tx_number) in attempt.writes:
            value = attempt.read(self, key)
        else:
            # As `Attempt.read` does: the call would take a third of it.
            version = attempt.snapshot  # before it: see `LateAttempt`
            try:
                value = self._tx_cells[key]
            except KeyError:
                value = MISSING
            if type(value) is Entry:
                value = value_at(value, version)
            attempt.values.add((number, key))  # after it: see `condemn`
            if self._tx_forgotten or strange.seen:
                attempt.check_read(self, key, value)
        if value is MISSING:
            return self.__missing__(key)
        return value  # type: ignore[no-any-return] # a cast takes as long as the rest

    def __missing__(self, key: K) -> V:
        """Raise `KeyError`; a derived class may return something instead."""
        raise KeyError(key)

    @overload
    def get(self, key: K, default: None = None, /) -> V | None: ...
    @overload
    def get(self, key: K, default: V | D, /) -> V | D: ...
    def get(self, key: Any, default: Any = None, /) -> Any:
        """Return the value of `key`, or `default` if it is not there."""
        if not committed.noting:
            value = self._tx_cells.get(key, default)
            if type(value) is not Entry:
                return value
        value = self._found(key)
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
        if live.loops:
            live.note(self, key, new)

    def __delitem__(self, key: K) -> None:
        if key not in self:
            raise KeyError(key)
        self._write(key, MISSING)

    def __iter__(self) -> Iterator[K]:
        """Iterate over what is there now; see `like_plain` for what comes later."""
        if not live.on:
            return iter(cast("list[K]", self._keys()))  # they were stored as such
        twin = self._twin_of_keys()
        return live.follow(self, twin, iter(twin))

    def __reversed__(self) -> Iterator[K]:
        if not live.on:
            return reversed(list(self))
        twin = self._twin_of_keys()
        return live.follow(self, twin, reversed(twin))

    @overload
    def pop(self, key: K, /) -> V: ...
    @overload
    def pop(self, key: K, default: V | D, /) -> V | D: ...
    def pop(self, key: Any, default: Any = MISSING, /) -> Any:
        """Delete a key and return its value, or `default` if it is missing."""
        try:
            value = self._found(key)
        except TypeError:
            # A dict without keys does not ask for the hash.
            given = () if default is MISSING else (default,)
            return self.copy().pop(key, *given)
        if value is not MISSING:
            self._write(key, MISSING)
        elif default is MISSING:
            raise KeyError(key)
        else:
            value = default
        return value

    def popitem(self) -> tuple[K, V]:
        """Delete the key that was inserted last; return it and its value."""
        for key in reversed(self):
            return key, self.pop(key)
        raise KeyError("popitem(): dictionary is empty")

    def setdefault(self, key: K, default: V | None = None, /) -> V:
        """Return the value of `key`, after setting it to `default` if it is missing."""
        value = self._found(key)
        if value is MISSING:
            # Past those of a derived class, as a plain dict does.
            TDict.__setitem__(self, key, cast("V", default))
            value = self._found(key)  # a container, where the default is a plain dict
        return cast("V", value)

    def keys(self) -> KeysView[K]:
        """Return a view of the keys; going through it reads which there are."""
        return Keys(self)

    def items(self) -> ItemsView[K, V]:
        """Return a view of the items; going through it reads everything."""
        return Items(self)

    def values(self) -> ValuesView[V]:
        """Return a view of the values; going through it reads everything."""
        return Values(self)

    def copy(self) -> dict[K, V]:
        """Return a plain dict with the same keys and values.

        It reads everything: a transaction that calls it conflicts with every change.
        """
        return self._contents()

    def __copy__(self) -> Any:
        return (
            self.copy() if stands_for_plain(self) else self._tx_like(self._contents())
        )

    def __deepcopy__(self, memo: dict[int, object]) -> Any:
        contents: dict[Any, Any] = self._contents()
        if stands_for_plain(self):
            plain = memo[id(self)] = self._empty()
            plain.update(deep_copies_by_key(contents, memo))
            return plain
        made = memo[id(self)] = self._tx_like({})
        TDict.update(made, deep_copies_by_key(contents, memo))
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
            try:
                given = as_dict(items)
            except (TypeError, ValueError):
                if PassesFor.on:
                    self._update_in_part(items)
                raise
            given.update(values)
        self._update(shareable_values(given))

    def _update_in_part(self, items: Any) -> None:
        """Do as much as a plain one does, and raise what it raises."""
        done = self._empty()
        try:
            done.update(items)
        finally:
            self._update(shareable_values(dict(done)))

    # Of two kinds of dict, their own methods tell which the result is.

    def __or__(self, other: Mapping[K, V]) -> Any:
        theirs = _operand(other)
        return NotImplemented if theirs is None else self.copy() | theirs

    def __ror__(self, other: Mapping[K, V]) -> Any:
        theirs = _operand(other)
        return NotImplemented if theirs is None else theirs | self.copy()

    def __ior__(self, other: Mapping[K, V]) -> TDict[K, V]:
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        # Without copies, where that will do: a list looks for one of its items so.
        theirs: Any = other
        kind = type(other)
        if type(self) is TDict and (kind is dict or kind is TDict):
            attempt = running.attempt if committed.noting else None
            settled = committed.settled if attempt is None else attempt.settled
            equal = self._tx_cells == (theirs if kind is dict else theirs._tx_cells)
            if self._is_bare(attempt, settled) and (
                kind is dict or theirs._is_bare(attempt, settled)
            ):
                return bool(equal)
        if not isinstance(other, Mapping):
            return NotImplemented
        if not isinstance(other, TDict) and isinstance(other, dict):
            return self.copy() == other  # its class may have a method for it
        return self._contents() == as_dict(other)

    def _is_bare(self, attempt: Attempt | None, settled: int) -> bool:
        """Tell whether its cells are its contents, all of which was read just now."""
        if self._tx_changed > settled or self._tx_shuffled:
            return False
        return attempt is None or attempt.note_all(self)

    def __ne__(self, other: object) -> bool:
        if not isinstance(other, TDict) and isinstance(other, dict):
            return self.copy() != other
        return object.__ne__(self, other)

    def _tx_as_json(self) -> dict[K, V]:
        return self._contents()

    @reprlib.recursive_repr("TDict({...})")
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._contents()!r})"

    # How

    def _contents(self) -> dict[K, V]:
        attempt = running.attempt if committed.noting else None
        if attempt is None:
            contents = committed.contents_at(self, NEWEST)
        else:
            contents = attempt.contents(self)
        return cast("dict[K, V]", contents)  # __setitem__ stored them

    def _found(self, key: object) -> Any:
        """Return the value of a key, or MISSING, whatever a derived class does."""
        attempt = running.attempt if committed.noting else None
        if attempt is None:
            value = self._tx_cells.get(key, MISSING)
            return value.value if type(value) is Entry else value
        return attempt.read(self, key)

    def _twin_of_keys(self) -> dict[K, Any]:
        attempt = running.attempt if committed.noting else None
        if attempt is None:
            return self._twin(self._contents())
        keys = cast("list[K]", attempt.keys(self))  # without reading the values
        return self._twin(dict.fromkeys(keys))

    def _twin(self, contents: dict[K, Any]) -> dict[K, Any]:
        """Return a plain one that may be gone over in its place; see `live`."""
        return live.DictTwin(contents)

    def _empty(self) -> dict[K, V]:
        """Return an empty plain one of the kind that it stands for."""
        return {}

    def _tx_like(self, contents: dict[K, V]) -> TDict[K, V]:
        made: TDict[K, V] = type(self).__new__(type(self))
        TDict.__init__(made, contents)
        return made


def as_dict(items: Any) -> dict[Any, Any]:
    """Return a new dict of what `dict` takes; a TDict is not asked key by key."""
    return items._contents() if isinstance(items, TDict) else dict(items)


def _operand(other: object) -> dict[Any, Any] | None:
    """Return the other side of an operator as a plain dict, or None if it is none."""
    if isinstance(other, TDict):
        return other.copy()
    if isinstance(other, dict):
        return other
    if PassesFor.on or not isinstance(other, Mapping):
        return None
    return dict(other)


def fill_dict(made: TDict[Any, Any], plain: dict[Any, Any], convert: Convert) -> None:
    """Fill a new one from a dict, whose class may be derived from `dict`."""
    if not plain:
        return
    check_keys(plain)
    values = plain.values()
    new = converted(values, convert)
    made._tx_begin(dict(plain) if new is values else dict(zip(plain, new, strict=True)))


register(dict, TDict, fill_dict)
bare.kinds.add(TDict)
