"""A class that becomes a TObject and stays what it is: no dataclass is made of it."""

from __future__ import annotations

from typing import Generic

from txloop.cells.assigned import assigned_names, declared_in, slots_of
from txloop.cells.attributes import Attribute
from txloop.errors import TxConfigurationError
from txloop.stm.types import MISSING

__all__ = ["check_names", "defaults_of", "make_ordinary"]

_NOT_ITS = (object, Generic)
_SPECIAL = ("__eq__", "__hash__", "__repr__", "__copy__", "__deepcopy__")


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
    names = dict.fromkeys(name for kind in its for name in assigned_names(kind))
    names |= dict.fromkeys(getattr(cls, "_tx_names", ()))
    names |= dict.fromkeys(also)
    return tuple(name for name in names if _may_be_shared(cls, root, name))


def defaults_of(cls: type, names: tuple[str, ...]) -> dict[str, object]:
    """Return what a class has of these names, for objects without a value."""
    found = {name: _of_class(cls, name) for name in names}
    return {name: thing for name, thing in found.items() if thing is not MISSING}


def _classes_of(cls: type, root: type) -> list[type]:
    """Return the classes that a class is made of, last first, without ours."""
    return [
        kind
        for kind in reversed(cls.__mro__)
        if not issubclass(root, kind) and kind not in _NOT_ITS
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
