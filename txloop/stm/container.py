"""What every piece of shared state is: a container of versioned cells.

A container holds its own cells; the store changes them. This room knows what a cell is,
what its change means to attempts that have read it, and how a container travels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable
from typing import Any, ClassVar, TypeAlias
from weakref import WeakValueDictionary

from txloop.errors import TxForgottenError
from txloop.stm.threads import asked_by_all
from txloop.stm.types import MISSING, Key
from txloop.stm.versions import PLACE_BITS, Entry, value_at

__all__ = [
    "NEWEST",
    "Clear",
    "Container",
    "Operation",
    "Update",
    "Write",
    "forgotten_message",
    "reduced_with",
    "refer",
    "refer_with",
    "same_stamp",
    "setter",
]

NEWEST = sys.maxsize
"""The version that a commit finds and changes, and that unmarked code reads."""


class Container:
    """What every piece of shared state is: a numbered set of versioned cells.

    Pickled, it is only its class and number; unpickled, it is the container of that
    number in the process where that happens.

    Attributes:
        _tx_kinds: All classes of containers, by module and name; of two of one name the
            later. Processes that were forked when a class was there have the same.
    """

    __slots__ = (
        "__weakref__",
        "_tx_cells",
        "_tx_changed",
        "_tx_forgotten",
        "_tx_number",
        "_tx_resized",
        "_tx_shuffled",
        "_tx_size",
        "_tx_view",
    )

    _tx_cells: Any  # a dict or a `Row`; what is in a cell is told in `versions`
    _tx_number: int
    _tx_changed: int  # the newest version that wrote to it
    _tx_resized: int  # the newest version that inserted or deleted a key
    _tx_size: int  # the number of keys at the newest version
    _tx_shuffled: int  # the first place that the order of the cells does not tell, or 0
    _tx_forgotten: bool
    _tx_view: list[Any] | None  # the contents as this thread reads them just now
    _tx_find: ClassVar[Callable[[type[Container], int], Container]]  # set by the store
    _tx_kinds: ClassVar[WeakValueDictionary[str, type[Container]]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        Container._tx_kinds[cls._tx_name()] = cls

    @classmethod
    def _tx_name(cls) -> str:
        return f"{cls.__module__}:{cls.__qualname__}"

    def _tx_start(self, number: int, cells: Any) -> None:
        """Make one of that number, with those cells; None for no contents."""
        self._tx_number = number
        self._tx_cells = asked_by_all({} if cells is None else cells)
        self._tx_changed = 0
        self._tx_resized = 0
        self._tx_size = 0 if cells is None else len(cells)
        self._tx_shuffled = 0
        self._tx_forgotten = False
        self._tx_view = None

    def _tx_changed_since(self, key: Hashable, presence: bool, snapshot: int) -> int:
        """Return the newest change to a cell after `snapshot`, or 0.

        Args:
            key: The cell's key.
            presence: Whether only the coming and going of the key counts.
            snapshot: A version that is open.
        """
        if key is Key.ALL:
            version = self._tx_changed
        elif key is Key.KEYS:
            version = self._tx_resized
        else:
            entry = self._tx_cells.get(key, MISSING)
            if type(entry) is not Entry:
                return 0  # a cell that changes while a snapshot is open holds one
            version = entry.version
            if presence and entry.value is not MISSING:
                version = entry.place >> PLACE_BITS
        return version if version > snapshot else 0

    def _tx_stamp(self, key: Hashable, presence: bool) -> object:
        """Return what differs if the cell has changed since: its value, or a number."""
        if key is Key.ALL or key is Key.KEYS:
            if not self._tx_size:
                return 0  # empty is empty, whatever was there meanwhile
            return self._tx_changed if key is Key.ALL else self._tx_resized
        value = value_at(self._tx_cells.get(key, MISSING), NEWEST)
        return value is not MISSING if presence else value

    def _tx_converted(self, value: Any, convert: Callable[[object], object]) -> object:
        """Return the value of a cell with what the program stored in it converted."""
        return convert(value)

    def _tx_told(self) -> Write:
        """Return the write that made what is in it; asked while it is new."""
        raise NotImplementedError

    def _tx_as_json(self) -> object:
        """Return the contents as JSON has them, one level deep."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[object, ...]:
        if self._tx_forgotten:
            raise TxForgottenError(forgotten_message(self))
        return refer, (type(self), self._tx_number)


Container._tx_kinds = WeakValueDictionary()


def setter(name: str) -> Callable[[Container, object], None]:
    """Return what sets a slot of ours past `__setattr__`, in a third of its time."""
    found: Callable[[Container, object], None] = vars(Container)[name].__set__
    return found


def refer(kind: type[Container], number: int) -> Container:
    """Return the container of that number; an empty one where it is unknown yet."""
    return Container._tx_find(kind, number)


def refer_with(
    kind: type[Container], number: int, slot: str, value: object
) -> Container:
    """Do as `refer`, and set a slot."""
    container = refer(kind, number)
    setattr(container, slot, value)
    return container


def reduced_with(container: Container, slot: str) -> tuple[object, ...]:
    """Return what pickles a container with a slot that each reference takes along."""
    _, arguments = Container.__reduce__(container)
    return refer_with, (*arguments, slot, getattr(container, slot))  # type: ignore[misc] # a tuple of two


Write: TypeAlias = tuple[Container, Hashable, object]
"""A container, a cell's key and its new value; or any key and an `Operation`."""


class Operation:
    """A write that depends on what is there when it commits, and reads nothing.

    Two of them on one container never conflict: each is applied to what the ones
    before it left. A replica, which applies the same ones in the same order, comes to
    the same contents. They are immutable and picklable.

    Attributes:
        named: All kinds, by their names.
    """

    __slots__ = ()
    named: ClassVar[dict[str, type[Operation]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.named[cls.__name__] = cls

    def cells(self, container: Any) -> Iterable[tuple[Hashable, object]]:
        """Return the cells that change, with their new values."""
        raise NotImplementedError

    def put_at_once(self, container: Any, version: int) -> bool:
        """Write the cells in one step, where no snapshot is open.

        It is for what is quicker than `cells` and one write for each.

        Returns:
            Whether it could; else nothing is written.
        """
        return False

    def takes_in(self, later: object) -> bool:
        """Become this and what is written just after it, where one can be both.

        It is for an operation of a commit that goes on, which is not packed yet.

        Returns:
            Whether it could; else it is as before.
        """
        return False

    def mapped(self, convert: Callable[[object], object]) -> Operation:
        """Return the same with each stored value converted."""
        raise NotImplementedError

    def value_count(self) -> int:
        """Return how many values it brings."""
        fields: tuple[str, ...] = self.__slots__
        parts = [getattr(self, name) for name in fields]
        return sum(len(part) for part in parts if isinstance(part, dict | tuple))


class Update(Operation):
    """Set many cells: one write, which travels as one dict."""

    __slots__ = ("items",)

    def __init__(self, items: dict[Hashable, Any]) -> None:
        self.items = items  # never changed

    def __reduce__(self) -> tuple[object, ...]:
        return Update, (self.items,)

    def cells(self, container: Any) -> Iterable[tuple[Hashable, object]]:
        """Return the cells with their values."""
        return self.items.items()

    def mapped(self, convert: Callable[[object], object]) -> Update:
        """Return the same with each value converted."""
        return Update({key: convert(value) for key, value in self.items.items()})


class Clear(Operation):
    """Delete all keys that are there."""

    __slots__ = ()

    def cells(self, container: Container) -> list[tuple[Hashable, object]]:
        """Return the keys that are there, each to be deleted."""
        return [
            (key, MISSING)
            for key, cell in container._tx_cells.copy().items()
            if value_at(cell, NEWEST) is not MISSING
        ]

    def mapped(self, convert: Callable[[object], object]) -> Clear:
        """Return itself: it stores nothing."""
        return self


def same_stamp(one: object, other: object) -> bool:
    """Tell whether a cell is as it was when its stamp was taken.

    Values compare by identity: they are immutable, and `==` may be anything.
    """
    return one is other or (type(one) is int is type(other) and one == other)


def forgotten_message(container: Container) -> str:
    """Say what became of a forgotten container and what to do."""
    return (
        f"this {type(container).__qualname__} was dropped: nothing in the loop's "
        "process refers to it any more, only something that a worker kept between "
        "calls; keep it in a module global or in another container"
    )
