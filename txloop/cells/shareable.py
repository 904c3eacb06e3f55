"""What may be stored in a container: immutable values and containers.

A plain mutable object would be shared behind the transactions' back: a change to it
would be lost in a worker and would race in a thread. Plain lists, dicts and sets become
containers, dataclasses do where `share` is asked to; the rest is refused with advice.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from typing import Any, TypeAlias, cast

from txloop.cells.bulk import are_constant
from txloop.cells.kinds import (
    check_held,
    check_key,
    is_frozen_dataclass,
    is_immutable,
    is_plain_tuple,
    keeps_its_identity,
    named,
    refusal,
)
from txloop.errors import TxValueError
from txloop.stm.container import Container
from txloop.stm.held import STRANGE, holds_the_rest, is_held_kind
from txloop.stm.immutability import FAMILIES, SCALARS
from txloop.stm.store import committed

__all__ = [
    "Conversion",
    "Convert",
    "Fill",
    "adopt_new",
    "check_keys",
    "container_for",
    "converted",
    "is_adopted",
    "rebuilt_dataclass",
    "rebuilt_tuple",
    "register",
    "shareable",
    "shareable_all",
    "shareable_values",
]

Convert: TypeAlias = Callable[[Any], Any]
"""Turns a part of a plain object into what a container may hold."""

Fill: TypeAlias = Callable[[Any, Any, Convert], None]
"""Fills an empty container from a plain object."""

_containers: dict[type, tuple[type[Container], Fill]] = {}  # filled at import

_get_number = vars(Container)["_tx_number"].__get__

_BARE = frozenset([dict, list, set])
"""These have nothing that is to be taken over but their parts."""


def register(plain: type, kind: type[Container], fill: Fill) -> None:
    """Let objects of the class `plain` become containers of that kind.

    Args:
        plain: The class; its subclasses are not meant.
        kind: The container; made empty, so that the object may contain itself.
        fill: Called with the container, the object and the conversion of its parts.
    """
    _containers[plain] = kind, fill


def container_for(plain: type) -> tuple[type[Container], Fill] | None:
    """Return the kind of container that objects of a class become, and its filler."""
    return _containers.get(plain)


def shareable(value: object) -> object:
    """Return `value` as a container may hold it: itself, or a container made from it.

    Raises:
        TxValueError: if it is mutable; the message says what to store instead.
    """
    kind = type(value)
    if kind in SCALARS:
        return value
    if kind is tuple and SCALARS.issuperset(map(type, cast("Any", value))):
        return value
    if kind in _BARE and (not value or SCALARS.issuperset(map(type, _parts(value)))):
        # As most are: nothing in it can be there twice, or lead back to it.
        bare, fill = _containers[kind]
        made = bare.__new__(bare)
        committed.adopt(made)
        if value:
            fill(made, value, shareable)
        return made
    if isinstance(value, FAMILIES):
        if kind.__new__ is not object.__new__ and isinstance(value, Container):
            adopt_new(value)  # before others can find it
        return value
    return Conversion(container_for).convert(value)


def is_adopted(shared: Container) -> bool:
    """Tell whether it has cells; its class may have a `__getattr__`."""
    try:
        _get_number(shared)
    except AttributeError:
        return False
    return True


def adopt_new(shared: Container) -> None:
    """Give an object its cells, if its constructor has not done so."""
    if not is_adopted(shared):
        committed.adopt(shared)


def _parts(value: Any) -> Collection[Any]:
    return value.values() if type(value) is dict else value


def shareable_all(values: Collection[Any]) -> Collection[Any]:
    """Return `values` as `shareable` returns each; themselves if all are constant."""
    if SCALARS.issuperset(map(type, values)) or are_constant(values):
        return values
    convert = _conversion_of(values)
    return [convert(value) for value in values]


def _conversion_of(values: Collection[Any]) -> Convert:
    """Return what converts each: what is there twice becomes one object."""
    if len({*map(id, values)}) == len(values):
        return shareable
    return Conversion(container_for).convert


def check_keys(keys: Collection[Any]) -> None:
    """Check each as `check_key` does."""
    if not (SCALARS.issuperset(map(type, keys)) or are_constant(keys)):
        for key in keys:
            check_key(key)


def shareable_values(contents: dict[Any, Any]) -> dict[Any, Any]:
    """Return a dict with its values as `shareable` returns each; itself if all stay.

    Raises:
        TxValueError: if something in it may not be shared.
    """
    check_keys(contents)
    values = contents.values()
    if SCALARS.issuperset(map(type, values)) or are_constant(values):
        return contents
    convert = _conversion_of(values)
    return {key: convert(value) for key, value in contents.items()}


def converted(values: Collection[Any], convert: Convert) -> Collection[Any]:
    """Return what `convert` makes of each; `values` if all are constant and stay."""
    if SCALARS.issuperset(map(type, values)) or are_constant(values):
        return values
    return [value if type(value) in SCALARS else convert(value) for value in values]


class Conversion:
    """Converts one object with all its parts; what is one object there stays one."""

    def __init__(
        self,
        find: Callable[[type], tuple[type[Container], Fill] | None],
        rebuild: bool = False,
    ) -> None:
        """Prepare a conversion.

        Args:
            find: Finds the container for a class, and what fills it.
            rebuild: Whether frozen dataclasses with plain parts are replaced.
        """
        self._find = find
        self._rebuild = rebuild
        self._made: dict[int, object] = {}  # by the plain object's id
        self._kept: list[object] = []  # which is its as long as it lives

    def convert(self, value: Any) -> Any:
        """Return what a container may hold instead of `value`, or itself.

        Raises:
            TxValueError: if there is no such thing.
        """
        plain = type(value)
        if plain in SCALARS:
            return value
        known = self._made.get(id(value))
        if known is not None:
            return known
        found = _containers.get(plain)  # the other questions take longer than this one
        if found is None:
            if isinstance(value, FAMILIES):
                return shareable(value)
            if isinstance(value, tuple | frozenset) or is_frozen_dataclass(value):
                self._kept.append(value)
                made = self._rebuilt_or_held(value)
                # Parts of it may have led back to it.
                return self._made.setdefault(id(value), made)
            found = self._find(plain)
            if found is None:
                if is_immutable(value):
                    return value
                if is_held_kind(value):
                    check_held(value)
                    return value
                raise refusal(value)
        kind, fill = found
        filled = self._made[id(value)] = kind.__new__(kind)
        self._kept.append(value)
        committed.adopt(filled)
        fill(filled, value, self.convert)
        return filled

    def _rebuilt_or_held(self, value: Any) -> object:
        try:
            return self._rebuilt(value)
        except TxValueError:
            if not holds_the_rest():
                raise
            check_held(value)
            return value

    def _rebuilt(self, value: Any) -> object:
        """Return an immutable object with its parts converted."""
        if is_frozen_dataclass(value):
            if not keeps_its_identity(value):
                raise refusal(value)
            return rebuilt_dataclass(value, self._part)
        parts = [self.convert(part) for part in value]
        if not STRANGE.isdisjoint(map(type, parts)):
            raise TxValueError(
                f"{named(value)} has a part that belongs to the loop thread; only a "
                "container can hold that: use a txloop.TList or a TObject"
            )
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        if isinstance(value, tuple) and is_plain_tuple(value):
            return rebuilt_tuple(value, parts)
        raise TxValueError(
            f"{named(value)} holds a plain list, dict or set; make it a container"
        )

    def _part(self, name: str, part: object, whole: object) -> object:
        converted = self.convert(part)
        if type(converted) in STRANGE:
            raise TxValueError(
                f"field {name!r} of {named(whole)} belongs to the loop thread; only a "
                "container can hold that: derive the class from txloop.TObject"
            )
        if converted is not part and not self._rebuild:
            raise TxValueError(
                f"field {name!r} of {named(whole)} holds a plain "
                f"{type(part).__name__}; give it a txloop container"
            )
        return converted


def rebuilt_dataclass(
    value: Any, convert: Callable[[str, object, object], object]
) -> object:
    """Return a frozen dataclass with its parts converted; itself if all stay.

    Its constructor is not called: that need not take what it makes of its arguments.

    Args:
        value: An instance of a frozen dataclass.
        convert: Called with the name of each part, the part and `value`.
    """
    fields = [field.name for field in dataclasses.fields(value)]
    parts = {name: getattr(value, name) for name in fields if hasattr(value, name)}
    converted = {name: convert(name, part, value) for name, part in parts.items()}
    if all(converted[name] is part for name, part in parts.items()):
        return value
    kind: Any = type(value)
    made: object = kind.__new__(kind)
    for name, part in (getattr(value, "__dict__", {}) | converted).items():
        object.__setattr__(made, name, part)
    return made


def rebuilt_tuple(value: Any, parts: list[Any]) -> object:
    """Return the same kind of plain tuple with other parts."""
    return tuple(parts) if type(value) is tuple else value._make(parts)
