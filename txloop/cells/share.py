"""From plain objects to containers and back, deeply."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, TypeVar, overload

from txloop.cells.kinds import is_frozen_dataclass, is_plain_tuple
from txloop.cells.shareable import (
    Conversion,
    Convert,
    Fill,
    container_for,
    rebuilt_dataclass,
    rebuilt_tuple,
)
from txloop.cells.tcounter import TCounter
from txloop.cells.tdeque import TDeque
from txloop.cells.tdict import TDict
from txloop.cells.tlist import TList
from txloop.cells.tobject import TObject, contents_of, names_of
from txloop.cells.tset import TSet
from txloop.cells.tvar import TVar
from txloop.errors import TxValueError
from txloop.stm.container import Container, refer
from txloop.stm.held import holds_the_rest

if TYPE_CHECKING:
    from collections import Counter, OrderedDict, defaultdict, deque

    from txloop.cells.tcounterdict import TCounterDict
    from txloop.cells.tdefaultdict import TDefaultDict
    from txloop.cells.tordereddict import TOrderedDict

__all__ = ["plain", "share"]

K = TypeVar("K")


@overload
def share(plain: list[Any]) -> TList[Any]: ...
@overload
def share(plain: defaultdict[K, Any]) -> TDefaultDict[K, Any]: ...
@overload
def share(plain: OrderedDict[K, Any]) -> TOrderedDict[K, Any]: ...
@overload
def share(plain: Counter[K]) -> TCounterDict[K]: ...
@overload
def share(plain: dict[K, Any]) -> TDict[K, Any]: ...
@overload
def share(plain: set[K]) -> TSet[K]: ...
@overload
def share(plain: deque[Any]) -> TDeque[Any]: ...
@overload
def share(plain: Any) -> Any: ...
def share(plain: Any) -> Any:
    """Return `plain` with all lists, dicts, sets and dataclasses in it as containers.

    What is one object in several places stays one, also where it contains itself. A
    dataclass becomes a `TObject` with its attributes and methods, which still is an
    instance of its class; a frozen one is rebuilt if a part of it changes. Values that
    may be shared as they are, and containers, are returned. May be called wherever
    containers may be written to: see `TVar`.

    >>> state = share({"board": [[0, 0], [0, 0]], "players": set()})
    >>> state["board"][1].append(1)
    >>> state
    TDict({'board': TList([TList([0, 0]), TList([0, 0, 1])]), 'players': TSet()})

    Raises:
        TxValueError: if there is something in it that cannot be shared.
    """
    if holds_the_rest():
        # Objects that are there already may be known elsewhere, too: they stay. Of a
        # tuple that is not known.
        known = container_for(type(plain)) or isinstance(plain, tuple)
        return Conversion(container_for).convert(plain) if known else plain
    return Conversion(_container_for, rebuild=True).convert(plain)


def plain(shared: Any) -> Any:
    """Return a plain copy of `shared`, deeply: the opposite of `share`.

    A `TList` becomes a list, a `TDict` a dict, a `TSet` a set, a `TVar` and a
    `TCounter` their value, and a `TObject` a dict of its attributes, or the dataclass
    that it was made from. Tuples and frozen dataclasses are gone through as well; other
    values are returned.

    >>> plain(share({"board": [[0]]}))
    {'board': [[0]]}
    """
    return _Plain().convert(shared)


class _Plain:
    def __init__(self) -> None:
        self._made: dict[int, tuple[object, object]] = {}  # by id, as in Conversion

    def convert(self, value: Any) -> Any:
        if id(value) in self._made:
            return self._made[id(value)][1]
        if isinstance(value, Container):
            self._fill(value)
            return self._made[id(value)][1]
        if is_frozen_dataclass(value):
            made = rebuilt_dataclass(value, lambda _, part, __: self.convert(part))
        elif isinstance(value, tuple) and is_plain_tuple(value):
            made = rebuilt_tuple(value, [self.convert(part) for part in value])
        else:
            return value
        return self._made.setdefault(id(value), (value, made))[1]

    def _fill(self, value: Container) -> None:
        made: Any = _empty_plain(value)
        self._made[id(value)] = value, made
        if isinstance(value, TList | TDeque):
            made.extend(map(self.convert, value))
        elif isinstance(value, TDict):
            for key, part in value._contents().items():
                made[key] = self.convert(part)
        elif isinstance(value, TSet):
            made.update(map(self.convert, value))
        elif isinstance(value, TObject):
            contents = {k: self.convert(part) for k, part in contents_of(value).items()}
            (made if type(made) is dict else vars(made)).update(contents)
        elif isinstance(value, TVar | TCounter):
            self._made[id(value)] = value, self.convert(value.value)


def _empty_plain(value: Container) -> object:
    if isinstance(value, TList):
        return []
    if isinstance(value, TDict | TDeque):
        return value._empty()
    if isinstance(value, TSet):
        return set()
    origin: type | None = getattr(type(value), "_tx_shared_from", None)
    return {} if origin is None else object.__new__(origin)


# Dataclasses


def _container_for(kind: type) -> tuple[type[Container], Fill] | None:
    found = container_for(kind)
    if found is None and dataclasses.is_dataclass(kind):
        return _shared_class(kind), _fill_object
    return found


@functools.cache
def _shared_class(kind: type) -> type[TObject]:
    names: dict[str, object] = {
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
        "__reduce__": _reduce_shared,
        "_tx_shared_from": kind,
    }
    if any("__repr__" in vars(one) for one in kind.__mro__[:-1]):
        names["__repr__"] = kind.__repr__
    try:
        made: type[TObject] = type(kind.__name__, (TObject, kind), names)
    except TypeError as error:
        raise TxValueError(
            f"the dataclass {kind.__qualname__} cannot be shared ({error}): it has "
            "slots; derive it from txloop.TObject"
        ) from None
    return made


def _fill_object(made: TObject, original: object, convert: Convert) -> None:
    names = [name for name in names_of(type(made)) if hasattr(original, name)]
    made._tx_begin({name: convert(getattr(original, name)) for name in names})


def _reduce_shared(shared: Any) -> tuple[object, ...]:
    Container.__reduce__(shared)  # raises if it was forgotten
    return _refer_shared, (type(shared)._tx_shared_from, shared._tx_number)


def _refer_shared(kind: type, number: int) -> Container:
    return refer(_shared_class(kind), number)
