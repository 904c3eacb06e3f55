"""TDefaultDict: a shared dict that makes the values of missing keys."""

from __future__ import annotations

import reprlib
from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeVar, overload

from txloop.cells.likeness import PassesFor
from txloop.cells.shareable import Convert, register
from txloop.cells.tdict import TDict, fill_dict
from txloop.cells.tvar import TVar
from txloop.stm.container import reduced_with

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeAlias

__all__ = ["TDefaultDict"]

K = TypeVar("K")
V = TypeVar("V")

Factory: TypeAlias = "Callable[[], V] | None"


class TDefaultDict(TDict[K, V]):
    """A `TDict` that makes the values of missing keys, as `collections.defaultdict`.

    Reading a missing key as ``d[key]`` calls the factory and sets the key. Two
    transactions that do so with the same key conflict; ``in``, `get` and `pop` make
    nothing. The factory is shared, too: a class, a function with a name, or one that
    refers to nothing that can change. The rest is as in `TDict`.

    >>> rooms = TDefaultDict(list)
    >>> rooms["hall"].append("ann")
    >>> rooms
    TDefaultDict(<class 'list'>, {'hall': TList(['ann'])})
    """

    __slots__ = ("_factory",)
    __class__ = PassesFor(defaultdict, "defaultdict(...)")

    _factory: TVar[Any]  # it travels with each reference to the dict

    @overload
    def __init__(self, default_factory: Factory[V] = None, /) -> None: ...
    @overload
    def __init__(
        self, default_factory: Factory[V], items: Mapping[K, V], /
    ) -> None: ...
    @overload
    def __init__(
        self, default_factory: Factory[V], items: Iterable[tuple[K, V]], /
    ) -> None: ...
    @overload
    def __init__(
        self: TDefaultDict[str, V], default_factory: Factory[V], /, **values: V
    ) -> None: ...
    def __init__(
        self, default_factory: Any = None, items: Any = (), /, **values: Any
    ) -> None:
        _check(default_factory)
        self._factory = TVar(default_factory)
        TDict.__init__(self, items, **values)

    @property
    def default_factory(self) -> Factory[V]:
        """What makes missing values, or None; to read and to assign."""
        factory: Factory[V] = self._factory.get()
        return factory

    @default_factory.setter
    def default_factory(self, factory: Factory[V]) -> None:
        self._factory.set(factory)

    def __missing__(self, key: K) -> V:
        """Set `key` to what the factory makes, and return that."""
        factory = self.default_factory
        if factory is None:
            raise KeyError(key)
        self[key] = factory()
        return self[key]  # a container, where the factory makes a plain list

    @classmethod
    def fromkeys(
        cls, keys: Iterable[Any], value: Any = None, /
    ) -> TDefaultDict[Any, Any]:
        """Return a new one with these keys, the same value for all, and no factory."""
        made = super().fromkeys(keys, value)
        assert isinstance(made, TDefaultDict)
        return made

    def copy(self) -> defaultdict[K, V]:
        """Return a plain `defaultdict` with the same factory, keys and values."""
        return defaultdict(self.default_factory, self._contents())

    @reprlib.recursive_repr("TDefaultDict(...)")
    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}({self.default_factory!r}, {self._contents()!r})"

    def _empty(self) -> defaultdict[K, V]:
        return defaultdict(self.default_factory)

    def _tx_like(self, contents: dict[K, V]) -> TDefaultDict[K, V]:
        made: TDefaultDict[K, V] = type(self).__new__(type(self))
        made._factory = TVar(self.default_factory)
        TDict.__init__(made, contents)
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return reduced_with(self, "_factory")


def _check(factory: object) -> None:
    if factory is not None and not callable(factory):
        raise TypeError("first argument must be callable or None")


def _fill(
    made: TDefaultDict[Any, Any], plain: defaultdict[Any, Any], convert: Convert
) -> None:
    made._factory = TVar(plain.default_factory)
    fill_dict(made, plain, convert)


register(defaultdict, TDefaultDict, _fill)
