"""TObject: a shared object with conflicts per attribute."""

from __future__ import annotations

import copy
import dataclasses
import operator
import reprlib
import weakref
from typing import TYPE_CHECKING, Any, ClassVar, cast, dataclass_transform

from txloop.cells.shareable import shareable
from txloop.stm.attempt import running
from txloop.stm.container import NEWEST, Container, Update
from txloop.stm.immutability import SCALARS
from txloop.stm.store import committed
from txloop.stm.types import MISSING, Key
from txloop.stm.versions import Entry, Row, row_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.stm.container import Write

__all__ = ["TObject", "contents_of", "names_of"]

_BEING_MADE = -1
"""Stands for the version of an object whose constructor runs, outside any attempt.

It writes to the cells directly: no commit has let others know of it yet.
"""


def _setter(name: str) -> Callable[[Container, object], None]:
    """Return what sets a slot of ours past `__setattr__`, in a third of its time."""
    setter: Callable[[Container, object], None] = vars(Container)[name].__set__
    return setter


_set_number = _setter("_number")
_set_cells = _setter("_cells")
_set_changed = _setter("_changed")
_set_resized = _setter("_resized")
_set_size = _setter("_size")
_set_shuffled = _setter("_shuffled")
_set_forgotten = _setter("_forgotten")
_set_view = _setter("_view")


class _Attribute:
    """One declared attribute: a cell of the object, named like it."""

    __slots__ = ("name", "place")

    def __init__(self, name: str, place: int) -> None:
        self.name = name
        self.place = place  # in the row

    def __get__(self, shared: TObject | None, kind: type) -> object:
        if shared is None:
            # As for a field without a default, which is what `dataclass` looks for.
            raise AttributeError(f"{kind.__name__} has no attribute {self.name!r}")
        attempt = running.attempt
        if attempt is None:
            value = shared._cells[self.place]
            if type(value) is Entry:
                value = value.value
        else:
            value = attempt.read(shared, self.name)
        if value is MISSING:
            raise AttributeError(f"{kind.__name__} object has no value {self.name!r}")
        return value

    def __set__(self, shared: TObject, value: object) -> None:
        new = shareable(value)
        attempt = running.attempt
        if attempt is not None:
            attempt.write(shared, self.name, new)
        elif shared._changed == _BEING_MADE:
            row = shared._cells
            if row[self.place] is MISSING:
                _set_size(shared, shared._size + 1)
            list.__setitem__(row, self.place, new)
        else:
            committed.write(shared, self.name, new)

    def __delete__(self, shared: TObject) -> None:
        self.__get__(shared, type(shared))  # raises if there is none
        attempt = running.attempt
        if attempt is None:
            committed.write(shared, self.name, MISSING)
        else:
            attempt.write(shared, self.name, MISSING)


@dataclass_transform(eq_default=False, field_specifiers=(dataclasses.field,))
class TObject(Container):
    """An object of shared attributes, declared as in a dataclass.

    Two transactions conflict where one reads an attribute that the other sets. Setting
    reads nothing. Only declared attributes can be set: others would not be shared. The
    rest is as in `TVar`; defaults, `dataclasses.field`, `__post_init__`, methods,
    properties and inheritance are as in dataclasses. Objects compare by their
    attributes, to objects of the same class.

    >>> class Player(TObject):
    ...     name: str
    ...     score: int = 0
    >>> ann = Player("Ann")
    >>> ann.score += 1
    >>> ann
    Player(name='Ann', score=1)
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment] # mutable, compares by contents
    _settable: ClassVar[frozenset[str]]  # shared attributes, properties and our own
    _row: ClassVar[type[Row]]
    _preset: ClassVar[dict[str, object]]  # by attribute that no argument sets

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        """Make the declared attributes shared.

        Args:
            kw_only: As in `dataclasses.dataclass`.
        """
        super().__init_subclass__()
        plain = "__init__" not in vars(cls) and not hasattr(cls, "__post_init__")
        dataclasses.dataclass(eq=False, repr=False, kw_only=kw_only)(cls)
        cls._preset = {
            field.name: field.default
            for field in _fields_of(cls)
            if not field.init and field.default is not dataclasses.MISSING
        }
        names = names_of(cls)
        for place, name in enumerate(names):
            setattr(cls, name, _Attribute(name, place))
        cls._row = row_of(names)
        cls._settable = frozenset(
            name
            for kind in cls.__mro__
            for name, attribute in vars(kind).items()
            if hasattr(type(attribute), "__set__")
        )
        if plain and cls.__setattr__ is TObject.__setattr__:
            _fill_at_once(cls)
        else:
            _adopt_first(cls)

    if not TYPE_CHECKING:  # who sees it takes every attribute for declared

        def __setattr__(self, name: str, value: object) -> None:
            if name in self._settable:
                object.__setattr__(self, name, value)
                return
            raise AttributeError(
                f"{type(self).__name__} has no shared attribute {name!r}; declare it "
                f"in the class, as in `{name}: {type(value).__name__}`"
            )

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if _plain_class(type(self)) is not _plain_class(type(other)):
            return NotImplemented
        return all(
            getattr(self, field.name, MISSING) == getattr(other, field.name, MISSING)
            for field in _fields_of(type(self))
            if field.compare
        )

    def __copy__(self) -> TObject:
        return self._like(contents_of(self))

    def __deepcopy__(self, memo: dict[int, object]) -> TObject:
        made = memo[id(self)] = self._like({})
        for name, value in copy.deepcopy(contents_of(self), memo).items():
            setattr(made, name, value)
        return made

    def _as_json(self) -> dict[str, object]:
        return contents_of(self)

    @reprlib.recursive_repr()
    def __repr__(self) -> str:
        parts = [
            f"{field.name}={getattr(self, field.name, '?')!r}"
            for field in _fields_of(type(self))
            if field.repr
        ]
        return f"{type(self).__qualname__}({', '.join(parts)})"

    def _like(self, contents: dict[str, object]) -> TObject:
        made = type(self).__new__(type(self))
        committed.adopt(made)
        made._begin(contents)
        return made

    def _start(self, number: int, cells: Any) -> None:
        row = self._row
        _set_number(self, number)
        _set_cells(self, row(row.empty if cells is None else cells))
        _set_changed(self, 0)
        _set_resized(self, 0)
        _set_size(self, 0 if cells is None else len(cells))
        _set_shuffled(self, 0)
        _set_forgotten(self, False)
        _set_view(self, None)

    def _begin(self, contents: dict[Any, Any]) -> None:
        """Fill it, while it is new, with what may be stored."""
        attempt = running.attempt
        if attempt is not None:
            attempt.begin(self, contents)
        elif contents:
            row = self._row
            # By way of a tuple: a list made from a `map` is longer than it need be.
            _set_cells(self, row(tuple(map(contents.get, row.places, row.empty))))
            _set_size(self, len(contents))
            committed.begin(self)

    def _end_making(self) -> None:
        """Make known what it was given while it was made."""
        if self._changed == _BEING_MADE:
            _set_changed(self, 0)
            if self._size:
                committed.begin(self)
        else:
            # It has been in a commit meanwhile, which has told nothing of the rest.
            committed.install([self._told()])

    def _told(self) -> Write:
        return self, Key.ALL, Update(committed.contents_at(self, NEWEST))


def _fill_at_once(cls: type[TObject]) -> None:
    # No code of the program's sees the object before it has all that it is given.
    initialize: Callable[..., None] = cls.__init__
    preset = cls._preset
    names = names_of(cls)
    # What the dataclass's constructor takes for the object that it fills.
    arguments: Any = type("Arguments", (), {"__slots__": tuple(names)})
    all_given = all(field.init for field in _fields_of(cls))
    # With one name, an `attrgetter` returns no tuple.
    get = operator.attrgetter(*names) if all_given and len(names) > 1 else None

    def __init__(self: TObject, *args: Any, **kwargs: Any) -> None:
        # That it has a weak reference is told faster than that a slot is empty.
        if weakref.getweakrefcount(self) and hasattr(self, "_number"):
            initialize(self, *args, **kwargs)
            return
        given = arguments()
        initialize(given, *args, **kwargs)
        if get is not None:
            values = get(given)
        else:
            without = preset.get
            values = tuple(
                [getattr(given, name, without(name, MISSING)) for name in names]
            )
        if not SCALARS.issuperset(map(type, values)):
            values = tuple(map(shareable, values))
        if all_given and running.attempt is None:
            committed.adopt(self, None, values)
            if values:
                committed.begin(self)
            return
        committed.adopt(self)
        contents = dict(zip(names, values, strict=True))
        if not all_given:
            contents = {k: new for k, new in contents.items() if new is not MISSING}
        self._begin(contents)

    _take_place(cls, __init__)


def _adopt_first(cls: type[TObject]) -> None:
    # The constructor finds an object that has cells.
    initialize = cls.__init__

    def __init__(self: TObject, *args: Any, **kwargs: Any) -> None:
        if hasattr(self, "_number"):
            initialize(self, *args, **kwargs)
            return
        committed.adopt(self)
        outside = running.attempt is None
        if outside:
            _set_changed(self, _BEING_MADE)
        try:
            for name, default in self._preset.items():
                setattr(self, name, default)
            initialize(self, *args, **kwargs)
        finally:
            if outside:
                self._end_making()

    _take_place(cls, __init__)


def _take_place(cls: type[TObject], initialize: Callable[..., None]) -> None:
    """Make it the constructor of a class, in the place of the one that it calls."""
    new: Any = initialize
    new.__wrapped__ = cls.__init__  # for `inspect`
    new.__doc__ = cls.__init__.__doc__
    cls.__init__ = new  # type: ignore[method-assign] # in place


def names_of(cls: type) -> list[str]:
    """Return the names of the shared attributes of a class, in order."""
    return [field.name for field in _fields_of(cls)]


def contents_of(shared: TObject) -> dict[str, object]:
    """Return the shared attributes that have a value."""
    names = names_of(type(shared))
    return {name: getattr(shared, name) for name in names if hasattr(shared, name)}


def _fields_of(cls: type) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(cast("Any", cls))  # it is a dataclass by now


def _plain_class(cls: type) -> type:
    """Return the dataclass that a class was made of by `share`, or the class itself."""
    plain: type = getattr(cls, "_shared_from", cls)
    return plain
