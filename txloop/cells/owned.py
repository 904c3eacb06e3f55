"""Attributes that a program's class has beside what is in the container it is.

``class Session(TDict, also=("user",))``: each object has a second container for its
attributes, by name, which travels with each reference to the first.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from txloop.cells.introspected import take_place
from txloop.stm.container import reduced_with
from txloop.stm.types import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.stm.container import Container

__all__ = ["give_attributes"]

_OWN = "_tx_own"


class OwnAttribute:
    """One attribute, kept in the second container."""

    def __init__(self, name: str, default: object) -> None:
        self._name = name
        self._default = default  # what the class has of that name, or MISSING

    def __get__(self, shared: Any, kind: type) -> Any:
        found = MISSING if shared is None else shared._tx_own.get(self._name, MISSING)
        if found is MISSING:
            found = self._default
        if found is not MISSING:
            return found
        its = f"{kind.__name__!r} object"
        if shared is None:
            its = f"type object {kind.__name__!r}"
        raise AttributeError(f"{its} has no attribute {self._name!r}")

    def __set__(self, shared: Any, value: object) -> None:
        shared._tx_own[self._name] = value

    def __delete__(self, shared: Any) -> None:
        if self._name not in shared._tx_own:
            stand_in = type(type(shared).__name__, (), {})()
            delattr(stand_in, self._name)  # raises what Python raises
        del shared._tx_own[self._name]


def give_attributes(
    cls: Any, names: tuple[str, ...], make: Callable[..., Container]
) -> None:
    """Let the objects of a class, and of derived ones, have shared attributes.

    Args:
        cls: The class.
        names: Those that are new in it.
        make: Makes the container for them, empty or from a mapping.
    """
    if not (names or hasattr(cls, "_tx_settable")):
        return
    for name in names:
        setattr(cls, name, OwnAttribute(name, vars(cls).get(name, MISSING)))
    cls._tx_settable = {_OWN} | {
        name
        for kind in cls.__mro__
        for name, thing in vars(kind).items()
        if hasattr(type(thing), "__set__")
    }
    if names:
        cls.__setattr__ = _set
        cls.__reduce__ = _reduce
        cls._tx_like = _like(cls._tx_like, make)
        cls.__deepcopy__ = _deepcopy(cls.__deepcopy__, make)
    _begin_with_own(cls, make)


def _set(self: Any, name: str, value: object) -> None:
    if name not in self._tx_settable:
        raise AttributeError(
            f"{type(self).__name__} has no shared attribute {name!r}; name it in the "
            f'class statement, as in `also=("{name}",)`'
        )
    object.__setattr__(self, name, value)


def _reduce(self: Container) -> tuple[object, ...]:
    return reduced_with(self, _OWN)


def _begin_with_own(cls: Any, make: Callable[..., Container]) -> None:
    initialize = cls.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if _OWN not in vars(self):
            self._tx_own = make()
        initialize(self, *args, **kwargs)

    take_place(cls, __init__)


def _like(
    plain_like: Callable[..., Any], make: Callable[..., Container]
) -> Callable[..., Any]:
    def _tx_like(self: Any, contents: object) -> Any:
        made = plain_like(self, contents)
        made._tx_own = make(self._tx_own)
        return made

    return _tx_like


def _deepcopy(
    copied: Callable[..., Any], make: Callable[..., Container]
) -> Callable[..., Any]:
    def __deepcopy__(self: Any, memo: dict[int, object]) -> Any:
        made = copied(self, memo)
        made._tx_own = make(copy.deepcopy(self._tx_own, memo))
        return made

    return __deepcopy__
