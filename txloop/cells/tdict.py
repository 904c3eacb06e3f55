"""TDict: a shared dict with conflicts per key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any, TypeVar, cast, overload

from txloop.attempt import current
from txloop.cells.values import shareable
from txloop.store import Container, committed
from txloop.types import MISSING

__all__ = ["TDict"]

K = TypeVar("K")
V = TypeVar("V")


class TDict(Container, MutableMapping[K, V]):
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
        self, items: Mapping[K, V] | Iterable[tuple[K, V]], /, **values: V
    ) -> None: ...
    def __init__(self, items: Any = (), /, **values: Any) -> None:
        committed.adopt(self)
        contents = cast("dict[K, V]", dict(items, **values))  # as `dict` takes them
        self._write_all(contents)

    def __getitem__(self, key: K) -> V:
        attempt = current()
        if attempt is None:
            entry = self._entries.get(key)
            value = MISSING if entry is None else entry.value
        else:
            value = attempt.read(self, key)
        if value is MISSING:
            raise KeyError(key)
        return cast("V", value)  # __setitem__ stored a V

    def __setitem__(self, key: K, value: V) -> None:
        self._write(key, shareable(value))

    def __delitem__(self, key: K) -> None:
        if key not in self:
            raise KeyError(key)
        self._write(key, MISSING)

    def __contains__(self, key: object) -> bool:
        attempt = current()
        if attempt is None:
            entry = self._entries.get(key)
            return entry is not None and entry.value is not MISSING
        return attempt.has(self, key)

    def __len__(self) -> int:
        attempt = current()
        return self._size if attempt is None else attempt.size(self)

    def __iter__(self) -> Iterator[K]:
        """Iterate over the keys as they are now; later changes do not disturb it."""
        attempt = current()
        if attempt is None:
            keys = [key for key, _ in committed.items_at(self, committed.version)]
        else:
            keys = attempt.keys(self)
        return iter(cast("list[K]", keys))

    def __reversed__(self) -> Iterator[K]:
        return reversed(list(self))

    def clear(self) -> None:
        """Delete every key, in one commit."""
        self._write_all(dict.fromkeys(self, MISSING))

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

    def copy(self) -> dict[K, V]:
        """Return a plain dict with the same keys and values."""
        return dict(self.items())

    def update(  # type: ignore[override] # the same cases in one signature
        self, items: Mapping[K, V] | Iterable[tuple[K, V]] = (), /, **values: V
    ) -> None:
        """Set several keys, in one commit."""
        self._write_all(cast("dict[K, V]", dict(items, **values)))

    def __or__(self, other: Mapping[K, V]) -> dict[K, V]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return self.copy() | dict(other)

    def __ror__(self, other: Mapping[K, V]) -> dict[K, V]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return dict(other) | self.copy()

    def __ior__(self, other: Mapping[K, V]) -> TDict[K, V]:
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return self is other or self.copy() == dict(other.items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.copy()!r})"

    def _write(self, key: object, value: object) -> None:
        attempt = current()
        if attempt is None:
            committed.install([(self, key, value)])
        else:
            attempt.write(self, key, value)

    def _write_all(self, contents: Mapping[K, object]) -> None:
        checked = {
            key: value if value is MISSING else shareable(value)
            for key, value in contents.items()
        }
        attempt = current()
        if attempt is not None:
            for key, value in checked.items():
                attempt.write(self, key, value)
        elif checked:
            committed.install([(self, key, value) for key, value in checked.items()])
