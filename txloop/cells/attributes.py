"""The attributes of a TObject: cells that are read and written by their names.

Of a class that becomes a TObject and stays what it is, no dataclass is made: what
its code assigns are its attributes.
"""

from __future__ import annotations

import functools
from typing import Any, Generic, Protocol

from txloop.cells.assigned import assigned_names, declared_in, slots_of
from txloop.cells.namespaces import living, note
from txloop.cells.shareable import adopt_new, shareable
from txloop.errors import TxConfigurationError
from txloop.stm.attempt import running
from txloop.stm.container import Container, setter
from txloop.stm.held import STRANGE
from txloop.stm.immutability import SCALARS
from txloop.stm.store import committed
from txloop.stm.types import MISSING
from txloop.stm.versions import Entry, set_item, value_at

__all__ = [
    "BEING_MADE",
    "Attribute",
    "EarlyAttribute",
    "check_names",
    "defaults_of",
    "have_slots_only",
    "make_ordinary",
    "refuse_arguments",
    "refuse_attribute",
]

BEING_MADE = -1
"""Stands for the version of an object whose constructor runs, outside any attempt.

It writes to the cells directly: no commit has let others know of it yet.
"""

_NOT_ITS = (object, Generic, Protocol)
_SPECIAL = ("__eq__", "__hash__", "__repr__", "__copy__", "__deepcopy__")


_set_size = setter("_tx_size")


class Attribute:
    """One shared attribute: a cell of the object, named like it.

    Attributes:
        default: What the class has of that name, which it shows, and what its objects
            without a value have; MISSING for nothing.
    """

    __slots__ = ("default", "name", "place")

    def __init__(self, name: str, place: int | str, default: object = MISSING) -> None:
        self.name = name
        self.place: Any = place  # in the row
        self.default: Any = default

    def is_like(self, other: object) -> bool:
        """Tell whether the other one does the same."""
        return (
            type(other) is type(self)
            and (self.name, self.place) == (other.name, other.place)
            and self.default is other.default
        )

    def __get__(self, shared: Container | None, kind: type) -> Any:
        if shared is None:
            return self._of_class(kind)
        if not committed.noting:  # as most often: by the shortest way
            value = shared._tx_cells[self.place]
            if type(value) is not Entry and value is not MISSING:
                return value
        attempt = running.attempt if committed.noting else None
        if attempt is None:
            value = shared._tx_cells[self.place]
            if type(value) is Entry:
                value = value.value
        elif (number := shared._tx_number) in attempt.writes:
            value = attempt.read(shared, self.name)
        else:
            # As `Attempt.read` does, which has to look for the place: it takes twice
            # as long.
            version = attempt.snapshot  # before it: see `LateAttempt`
            value = shared._tx_cells[self.place]
            if type(value) is Entry:
                value = value_at(value, version)
            attempt.values.add((number, self.name))  # after it: see `condemn`
            if type(value) in STRANGE or shared._tx_forgotten:
                attempt.check(shared, value)
        if value is MISSING:
            return self._without_value(shared, kind)
        return value

    def value(self, shared: Container) -> object:
        """Return the value that the object itself has, or MISSING."""
        attempt = running.attempt if committed.noting else None
        if attempt is not None:
            return attempt.read(shared, self.name)
        value = shared._tx_cells[self.place]
        return value.value if type(value) is Entry else value

    def __set__(self, shared: Container, value: object) -> None:
        new = value if type(value) in SCALARS else shareable(value)
        attempt = running.attempt
        if attempt is not None:
            attempt.write(shared, self.name, new)
        elif shared._tx_changed == BEING_MADE:
            row = shared._tx_cells
            if row[self.place] is MISSING:
                _set_size(shared, shared._tx_size + 1)
            set_item(row, self.place, new)
        else:
            committed.write(shared, self.name, new, self.place)
        if living:
            note(shared, self.name, new)

    def __delete__(self, shared: Container) -> None:
        if self.value(shared) is MISSING:
            raise AttributeError(self._missing(type(shared)))
        attempt = running.attempt
        if attempt is None:
            committed.write(shared, self.name, MISSING)
        else:
            attempt.write(shared, self.name, MISSING)
        if living:
            note(shared, self.name, MISSING)

    def _missing(self, kind: type) -> str:
        """Return what Python says of an object without the attribute."""
        return f"{kind.__name__!r} object has no attribute {self.name!r}"

    def _of_class(self, kind: type) -> Any:
        if self.default is MISSING:
            # As for a field without a default, which is what `dataclass` looks for.
            name = kind.__name__
            raise AttributeError(f"type object {name!r} has no attribute {self.name!r}")
        bind = getattr(type(self.default), "__get__", None)
        return self.default if bind is None else bind(self.default, None, kind)

    def _without_value(self, shared: Container, kind: type) -> Any:
        """Return what the class has for an object that has no value of its own."""
        default = self.default
        if default is MISSING:
            raise AttributeError(self._missing(kind))
        bind = getattr(type(default), "__get__", None)
        value = default if bind is None else bind(default, shared, kind)
        if isinstance(default, functools.cached_property):
            # It has stored what it returns, of which there may be a container now.
            stored = self.value(shared)
            return value if stored is MISSING else stored
        return value


class EarlyAttribute(Attribute):
    """One that may be used before the constructor runs, by the class's `__new__`."""

    __slots__ = ()

    def __get__(self, shared: Container | None, kind: type) -> Any:
        if shared is not None:
            adopt_new(shared)
        return super().__get__(shared, kind)

    def value(self, shared: Container) -> object:
        """Return the value that the object itself has, or MISSING."""
        adopt_new(shared)
        return super().value(shared)

    def __set__(self, shared: Container, value: object) -> None:
        adopt_new(shared)
        super().__set__(shared, value)


def check_names(cls: type, root: type) -> None:
    """Check that a class does not use names that shared objects need.

    Args:
        cls: The class.
        root: `TObject`.

    Raises:
        TxConfigurationError: if it does.
    """
    ours = {name for kind in root.__mro__[:-1] for name in vars(kind)}
    for kind in _classes_of(cls, root):
        if kind is not cls and issubclass(kind, root):
            continue  # checked
        its = {*vars(kind), *assigned_names(kind), *declared_in(kind)}
        taken = [name for name in its & ours if not name.startswith("__")]
        if taken:
            raise TxConfigurationError(
                f"the class {kind.__qualname__} uses the name {min(taken)!r}, which a "
                "txloop.TObject needs for itself; rename it there"
            )


def make_ordinary(cls: type, root: type, also: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Give a class back what `root` has taken, and return its attributes' names.

    Args:
        cls: The class.
        root: `TObject`.
        also: Names that nothing in the class tells.

    Raises:
        TxConfigurationError: if it has another base before `root`.
    """
    its = _classes_of(cls, root)
    first = cls.__mro__[: cls.__mro__.index(root)]
    if any("__dict__" in vars(kind) for kind in first):
        raise TxConfigurationError(
            f"the class {cls.__qualname__} has another base before txloop.TObject; "
            "name TObject first, so that vars() shows what its objects have"
        )
    for name in _SPECIAL:
        ours = getattr(root, name)
        if getattr(cls, name) is ours:
            own = [vars(kind)[name] for kind in reversed(its) if name in vars(kind)]
            setattr(cls, name, own[0] if own else getattr(object, name, ours))
    find = slots_of if have_slots_only(cls, root) else assigned_names
    names = dict.fromkeys(name for kind in its for name in find(kind))
    names |= dict.fromkeys(getattr(cls, "_tx_names", ()))
    names |= dict.fromkeys(also)
    return tuple(name for name in names if _may_be_shared(cls, root, name))


def have_slots_only(cls: type, root: type) -> bool:
    """Tell whether objects of a class, without `root`, have nothing but its slots."""
    its = map(vars, _classes_of(cls, root))
    return all("__slots__" in one and "__dict__" not in one for one in its)


def refuse_attribute(shared: Container, name: str, value: object) -> None:
    """Refuse to set an attribute, in the words of a class with slots."""
    kind = type(shared)
    has = {name: None} if hasattr(kind, name) else {}
    stand_in = type(kind.__name__, (), {"__slots__": (), **has})()
    setattr(stand_in, name, value)


def defaults_of(cls: type, names: tuple[str, ...]) -> dict[str, object]:
    """Return what a class has of these names, for objects without a value."""
    found = {name: _of_class(cls, name) for name in names}
    return {name: thing for name, thing in found.items() if thing is not MISSING}


def _classes_of(cls: type, root: type) -> list[type]:
    """Return the classes that a class is made of, last first, without ours."""
    return [
        kind for kind in reversed(cls.__mro__) if kind not in (*root.__mro__, *_NOT_ITS)
    ]


def _of_class(cls: type, name: str) -> object:
    """Return what a class has of a name, without binding it; MISSING for nothing."""
    for kind in cls.__mro__:
        thing = vars(kind).get(name, MISSING)
        if isinstance(thing, Attribute):
            return thing.default
        if thing is not MISSING and name not in slots_of(kind):
            return thing
    return MISSING


def _may_be_shared(cls: type, root: type, name: str) -> bool:
    """Tell whether a name is no property, nor one that is ours."""
    if name.startswith("__") or hasattr(root, name):
        return False
    thing = _of_class(cls, name)
    return thing is MISSING or not hasattr(type(thing), "__set__")


def refuse_arguments(self: Container, *args: object, **kwargs: object) -> None:
    """Refuse arguments, in the words of a class that has no constructor."""
    if args or kwargs:
        type(type(self).__name__, (), {})(*args, **kwargs)
