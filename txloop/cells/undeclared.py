"""Attributes that nothing declares: a `TNamespace` takes any name.

Its cells lie in a dict and not in a row, in the order in which they were set, which is
what `vars` shows. Each name gets an attribute as soon as some object has a value for
it, in each process that is told of that value: in `TNamespace` itself, so that the
program's classes stay as they are; in one of these where it has something of that name,
as a method, which comes after what an object has itself.

A `__getattr__` was rejected: Python asks it also after a property that has failed, and
does not show then why. It is there only where a program has more names than that,
which may come from its clients and are kept for good.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar, Final

from txloop.cells.attributes import BEING_MADE, Attribute
from txloop.cells.namespaces import Fields, living, note
from txloop.cells.shareable import adopt_new, check_keys, shareable, shareable_values
from txloop.stm.attempt import running
from txloop.stm.container import setter
from txloop.stm.store import committed
from txloop.stm.types import MISSING

if TYPE_CHECKING:
    import types
    from collections.abc import Iterable, Mapping

    from txloop.stm.container import Container

__all__ = ["OPEN", "OpenAttribute", "OpenFields", "OpenRow", "row_for", "show"]

_MOST_NAMES = 4096

_set_size = setter("_tx_size")


class OpenRow(dict[Any, Any]):
    """The cells of an object, by name; one that is not there holds MISSING."""

    __slots__ = ()

    of: ClassVar[type]  # the class of the objects
    known: ClassVar[set[object]]  # names that are shown
    empty: ClassVar[Iterable[Any]] = ()  # what one is made from

    @classmethod
    def filled(cls, contents: dict[Any, Any]) -> OpenRow:
        """Return one with these values."""
        row = cls()
        row.update(contents)
        return row

    def __missing__(self, name: object) -> object:
        return MISSING

    def __setitem__(self, name: Any, cell: object) -> None:
        if name not in self.known:
            show(self.of, name)
        super().__setitem__(name, cell)

    def update(self, cells: Mapping[Any, object]) -> None:  # type: ignore[override] # all that the store does
        """Set several cells."""
        for name in cells:
            if name not in self.known:
                show(self.of, name)
        super().update(cells)


def row_for(cls: type) -> type[OpenRow]:
    """Return the class of what holds the cells of a class's objects."""
    return type("OpenRow", (OpenRow,), {"__slots__": (), "of": cls, "known": set()})


class OpenAttribute(Attribute):
    """An attribute of such an object: a cell that may come and go."""

    __slots__ = ()

    def __init__(self, name: str, default: object = MISSING) -> None:
        super().__init__(name, name, default)

    def __set__(self, shared: Container, value: object) -> None:
        put(shared, self.name, value)


def show(cls: Any, name: Any) -> None:
    """Let objects of a class have an attribute of a name."""
    if not isinstance(name, str) or name[:4] == "_tx_":
        return  # it is in a `__dict__` only
    cls._tx_row.known.add(name)
    for kind in cls.__mro__:
        if name in vars(kind):
            found = vars(kind)[name]
            # Properties and the like come first in Python, too.
            if not (hasattr(type(found), "__set__") or name[:2] == "__"):
                setattr(cls, name, OpenAttribute(name, found))
            return
    root = next(
        kind
        for kind in reversed(cls.__mro__)
        if "_tx_open" in vars(kind) and kind._tx_open
    )
    if len(vars(root)) < _MOST_NAMES:
        setattr(root, name, OpenAttribute(name))
    else:
        root.__getattr__ = _get_unshown


def _get_unshown(shared: Container, name: str) -> object:
    """Return an attribute of a name that is not shown."""
    value = OpenAttribute(name).value(shared)
    if value is MISSING:
        text = f"{type(shared).__name__!r} object has no attribute {name!r}"
        raise AttributeError(text)
    return value


def put(shared: Container, name: Any, value: object) -> None:
    """Set an attribute, whatever its name."""
    new = shareable(value)
    check_keys([name])
    attempt = running.attempt
    if attempt is not None:
        cells = shared._tx_cells
        if name not in cells.known:
            show(type(shared), name)
        attempt.write(shared, name, new)
    elif shared._tx_changed == BEING_MADE:
        cells = shared._tx_cells
        if cells[name] is MISSING:
            _set_size(shared, shared._tx_size + 1)
        cells[name] = new
    else:
        committed.write(shared, name, new)
    if living:
        note(shared, name, new)


class OpenFields(Fields):
    """The `__dict__` of such an object: what is set there passes by its properties."""

    __slots__ = ()

    def __setitem__(self, name: Any, value: Any) -> None:
        put(self._shared, name, value)

    def update(self, *items: Any, **values: Any) -> None:
        """Set several attributes; what is given twice stays one object."""
        for name, value in shareable_values(dict(*items, **values)).items():
            self[name] = value

    def __delitem__(self, name: Any) -> None:
        if name not in self:
            raise KeyError(name)
        attempt = running.attempt
        if attempt is None:
            committed.write(self._shared, name, MISSING)
        else:
            attempt.write(self._shared, name, MISSING)
        note(self._shared, name, MISSING)


def _set_undeclared(self: Any, name: str, value: object) -> None:
    adopt_new(self)  # it may have been made without its constructor
    # A property may be settable; so may what the class assigns, and what we do. But
    # names may come from clients.
    if name in self._tx_settable and (name[:4] != "_tx_" or _is_ours(sys._getframe(1))):
        object.__setattr__(self, name, value)
    else:
        put(self, name, value)


def _is_ours(caller: types.FrameType) -> bool:
    """Tell whether code of this package runs there, and not the program's."""
    home: str = caller.f_globals.get("__name__", "")
    return home.partition(".")[0] == __name__.partition(".")[0]


def _delete_undeclared(self: Any, name: str) -> None:
    if name in self._tx_settable and name[:4] != "_tx_":
        object.__delattr__(self, name)
    else:
        OpenAttribute(name).__delete__(self)


OPEN: Final = {"__setattr__": _set_undeclared, "__delattr__": _delete_undeclared}
"""What such a class has in the place of a `TObject`'s own methods."""
