"""The `__dict__` of a TObject: a copy of what it has, as long as somebody has it.

Changes are made to both. What is set on the object itself meanwhile, in the same
attempt, is set in the copy, too, as it is one thing in plain Python: a loop over it
notices, and ``vars(item) is vars(item)``.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Final, TypeVar

from txloop.stm.attempt import running
from txloop.stm.types import MISSING

if TYPE_CHECKING:
    from txloop.stm.attempt import Attempt
    from txloop.stm.container import Container

__all__ = ["Fields", "fields_of", "living", "note"]

F = TypeVar("F", bound="Fields")

living: Final[dict[tuple[int, int], weakref.ref[Fields]]] = {}
"""Those that are there, by the attempt and the object; mostly there are none."""


class Fields(dict[Any, Any]):
    """A namespace of one object."""

    __slots__ = ("__weakref__", "_attempt", "_shared")

    def __init__(self, shared: Any, contents: dict[str, object]) -> None:
        super().__init__(contents)
        self._shared = shared
        self._attempt: Attempt | None = running.attempt  # so no other has its `id`

    def __setitem__(self, name: Any, value: Any) -> None:
        setattr(self._shared, name, value)
        super().__setitem__(name, getattr(self._shared, name))

    def __delitem__(self, name: Any) -> None:
        if name not in self:
            raise KeyError(name)
        delattr(self._shared, name)
        super().pop(name, None)

    def update(self, *items: Any, **values: Any) -> None:
        """Set several attributes."""
        for name, value in dict(*items, **values).items():
            self[name] = value

    def __ior__(self, items: Any) -> Fields:  # type: ignore[misc] # as a dict
        self.update(items)
        return self

    def setdefault(self, name: Any, default: Any = None, /) -> Any:
        """Return the value of an attribute, after setting it where it is missing."""
        if name not in self:
            self[name] = default
        return self[name]

    def pop(self, name: Any, *default: Any) -> Any:
        """Delete an attribute and return its value."""
        value = self.get(name, MISSING)
        if value is not MISSING:
            del self[name]
            return value
        if default:
            return default[0]
        raise KeyError(name)

    def popitem(self) -> tuple[Any, Any]:
        """Delete the last attribute and return it."""
        for name in reversed(self):
            return name, self.pop(name)
        return {}.popitem()  # which says that it is empty

    def clear(self) -> None:
        """Delete all attributes."""
        for name in list(self):
            del self[name]


def fields_of(kind: type[F], shared: Container, contents: dict[str, object]) -> F:
    """Return the namespace of an object with these contents, made of a class."""
    key = id(running.attempt), shared._tx_number
    there: Any = living[key]() if key in living else None
    if there is not None:
        if running.attempt is None and not _are_same(there, contents):
            dict.clear(there)  # others have committed since
            dict.update(there, contents)
        return there  # type: ignore[no-any-return] # an object has one kind
    made = kind(shared, contents)

    def forget(gone: weakref.ref[Fields]) -> None:
        if living.get(key) is gone:
            del living[key]

    living[key] = weakref.ref(made, forget)
    return made


def _are_same(one: dict[str, object], other: dict[str, object]) -> bool:
    """Tell whether two namespaces have the very same values, in any order."""
    return one.keys() == other.keys() and all(one[k] is v for k, v in other.items())


def note(shared: Container, name: Any, value: object) -> None:
    """Set an attribute in what is there of the object's namespace, or delete it."""
    ref = living.get((id(running.attempt), shared._tx_number))
    there = None if ref is None else ref()
    if there is None:
        return
    if value is MISSING:
        dict.pop(there, name, None)
    else:
        dict.__setitem__(there, name, value)
