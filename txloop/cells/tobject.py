"""TObject: a shared object with conflicts per attribute."""

from __future__ import annotations

import dataclasses
import functools
import operator
import reprlib
import weakref
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast, dataclass_transform

from txloop.cells.assigned import slots_of
from txloop.cells.attributes import (
    BEING_MADE,
    Attribute,
    EarlyAttribute,
    check_names,
    defaults_of,
    have_slots_only,
    make_ordinary,
    refuse_arguments,
    refuse_attribute,
)
from txloop.cells.copies import deep_copies
from txloop.cells.introspected import hide_annotations, take_place
from txloop.cells.namespaces import Fields, fields_of
from txloop.cells.orders import make_ordered
from txloop.cells.shareable import adopt_new, is_adopted, shareable
from txloop.cells.undeclared import OPEN, OpenAttribute, OpenFields, row_for
from txloop.stm.attempt import running
from txloop.stm.container import NEWEST, Container, Update, setter
from txloop.stm.immutability import SCALARS
from txloop.stm.store import committed
from txloop.stm.types import MISSING, Key
from txloop.stm.versions import Row, row_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.cells.undeclared import OpenRow
    from txloop.stm.container import Write

__all__ = ["TObject", "contents_of", "names_of"]

_set_number = setter("_tx_number")
_set_cells = setter("_tx_cells")
_set_changed = setter("_tx_changed")
_set_resized = setter("_tx_resized")
_set_size = setter("_tx_size")
_set_shuffled = setter("_tx_shuffled")
_set_forgotten = setter("_tx_forgotten")
_set_view = setter("_tx_view")


class _WithDict(Container):
    """Makes the `__dict__` of objects one that this class has, not their own classes.

    So `TObject` can have another one in its place. It stays empty.
    """


_REFERRING: Final = {
    "__reduce__": Container.__reduce__,
    "__reduce_ex__": object.__reduce_ex__,
}


@dataclass_transform(field_specifiers=(dataclasses.field,))
class TObject(_WithDict):
    """An object of shared attributes, declared as in a dataclass.

    Two transactions conflict where one reads an attribute that the other sets. Setting
    reads nothing. Only declared attributes can be set: others would not be shared. The
    rest is as in `TVar`; defaults, `dataclasses.field`, `__post_init__`, methods,
    properties and inheritance are as in dataclasses. Objects compare by their
    attributes, to objects of the same class. `vars` shows the attributes.

    >>> class Player(TObject):
    ...     name: str
    ...     score: int = 0
    >>> ann = Player("Ann")
    >>> ann.score += 1
    >>> ann
    Player(name='Ann', score=1)

    With ``dataclass=False`` a class stays what it is without `TObject`: its objects
    are made by its own or inherited ``__init__``, and equal to themselves only unless
    it has an ``__eq__``; what the class has of a name is there until an object has its
    own. Shared are the attributes that its methods assign, its slots, and what it
    declares; or its slots only, if all its classes have some.

    >>> class Room(TObject, dataclass=False):
    ...     limit = 9
    ...     def __init__(self, name):
    ...         self.name = name
    ...     def close(self):
    ...         self.limit = 0
    >>> hall = Room("hall")
    >>> hall.close()
    >>> vars(hall), Room.limit
    ({'name': 'hall', 'limit': 0}, 9)
    """

    __slots__ = ()
    __hash__: ClassVar[None] = None  # type: ignore[assignment] # mutable, compares by contents
    _tx_settable: ClassVar[frozenset[str]]  # shared attributes, properties and our own
    _tx_row: ClassVar[type[Row | OpenRow]]
    _tx_preset: ClassVar[dict[str, object]] = {}  # by attribute that no argument sets
    _tx_names: ClassVar[tuple[str, ...]] = ()
    _tx_like_dataclass: ClassVar[bool] = True
    _tx_open: ClassVar[bool] = False
    _tx_slots_only: ClassVar[bool] = False

    def __init_subclass__(
        cls,
        *,
        kw_only: bool = False,
        order: bool = False,
        slots: bool = False,
        dataclass: bool | None = None,
        also: tuple[str, ...] = (),
        open: bool = False,
    ) -> None:
        """Make the declared attributes shared.

        Args:
            kw_only: As in `dataclasses.dataclass`.
            order: Likewise; not with ``dataclass=False``.
            slots: Likewise, for what is said of an attribute that is not declared.
            dataclass: Whether it is made as a dataclass is; None: as its base is.
            also: Attributes that are set and that nothing in the class tells.
            open: Whether others may be set, too: for `TNamespace`.
        """
        super().__init_subclass__()
        check_names(cls, TObject)
        if dataclass is not None:
            cls._tx_like_dataclass = dataclass
        if cls._tx_like_dataclass:
            plain = "__init__" not in vars(cls) and not hasattr(cls, "__post_init__")
            shown = _make_dataclass(cls, kw_only, also)
            if order:
                make_ordered(cls, _plain_class)
        else:
            plain = False
            slots = have_slots_only(cls, TObject)
            cls._tx_names = make_ordinary(cls, TObject, also)
            shown = defaults_of(cls, cls._tx_names)
        cls._tx_slots_only = slots
        if open and not cls._tx_open:
            cls._tx_open = True
            for name, method in OPEN.items():
                setattr(cls, name, method)
        its_kind = Attribute if cls.__new__ is object.__new__ else EarlyAttribute
        for place, name in enumerate(cls._tx_names):
            default = shown.get(name, MISSING)
            attribute = (
                OpenAttribute(name, default)
                if cls._tx_open
                else its_kind(name, place, default)
            )
            # One of its own would hide what is assigned to the name on its base.
            if not _inherits(cls, attribute):
                setattr(cls, name, attribute)
        cls._tx_row = row_for(cls) if cls._tx_open else row_of(cls._tx_names)
        cls._tx_settable = frozenset(
            name
            for kind in cls.__mro__
            for name, attribute in vars(kind).items()
            if hasattr(type(attribute), "__set__")
        )
        if not hasattr(cls, "_tx_shared_from"):
            # It travels as a reference, whatever the class says of its objects' copies.
            # By name, or type checkers would take these for other methods.
            for name, method in _REFERRING.items():
                setattr(cls, name, method)
        if plain and cls.__setattr__ is TObject.__setattr__:
            _fill_at_once(cls)
        elif not hasattr(cls.__init__, "_adopts"):
            _adopt_first(cls)

    @property
    def __dict__(self) -> dict[str, Any]:
        """The attributes that have a value; what is set in it is set."""
        if not self._tx_open:
            return fields_of(Fields, self, contents_of(self))
        adopt_new(self)  # it may have been made without its constructor
        return fields_of(OpenFields, self, contents_of(self))

    @__dict__.setter
    def __dict__(self, contents: dict[str, Any]) -> None:
        if self._tx_open:
            its = self.__dict__
            if its is not contents:
                its.clear()
                its.update(contents)
            return
        for name in contents_of(self).keys() - contents.keys():
            delattr(self, name)
        for name, value in contents.items():
            setattr(self, name, value)

    if not TYPE_CHECKING:  # type checkers would take every attribute for declared

        def __setattr__(self, name: str, value: object) -> None:
            if name in self._tx_settable:
                object.__setattr__(self, name, value)
                return
            if self._tx_slots_only:
                refuse_attribute(self, name, value)
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
        return self._tx_like(contents_of(self))

    def __deepcopy__(self, memo: dict[int, object]) -> TObject:
        made = memo[id(self)] = self._tx_new()
        contents = contents_of(self)
        values = map(shareable, deep_copies(contents.values(), memo))
        made._tx_fill(dict(zip(contents, values, strict=True)))
        return made

    def _tx_as_json(self) -> dict[str, object]:
        return contents_of(self)

    @reprlib.recursive_repr()
    def __repr__(self) -> str:
        parts = [
            f"{field.name}={getattr(self, field.name, '?')!r}"
            for field in _fields_of(type(self))
            if field.repr
        ]
        return f"{type(self).__qualname__}({', '.join(parts)})"

    def _tx_like(self, contents: dict[str, object]) -> TObject:
        made = self._tx_new()
        made._tx_fill(contents)
        return made

    def _tx_new(self) -> TObject:
        """Return one of its class; one that is there, if its `__new__` returns that."""
        made = type(self).__new__(type(self))
        adopt_new(made)
        return made

    def _tx_fill(self, contents: dict[str, object]) -> None:
        """Give a copy what it is to have."""
        if type(self).__new__ is object.__new__:
            self._tx_begin(contents)
        else:
            vars(self).update(contents)

    def _tx_start(self, number: int, cells: Any) -> None:
        row: Any = self._tx_row
        _set_number(self, number)
        _set_cells(self, row(row.empty if cells is None else cells))
        _set_changed(self, 0)
        _set_resized(self, 0)
        _set_size(self, 0 if cells is None else len(cells))
        _set_shuffled(self, 0)
        _set_forgotten(self, False)
        _set_view(self, None)

    def _tx_begin(self, contents: dict[Any, Any]) -> None:
        """Fill it, while it is new, with what may be stored."""
        attempt = running.attempt
        if attempt is not None:
            attempt.begin(self, contents)
        elif contents:
            _set_cells(self, self._tx_row.filled(contents))
            _set_size(self, len(contents))
            committed.begin(self)

    def _tx_end_making(self) -> None:
        """Make known what it was given while it was made."""
        if self._tx_changed == BEING_MADE:
            _set_changed(self, 0)
            if self._tx_size:
                committed.begin(self)
        else:
            # It has been in a commit meanwhile, which has told nothing of the rest.
            committed.install([self._tx_told()])

    def _tx_told(self) -> Write:
        return self, Key.ALL, Update(committed.contents_at(self, NEWEST))


def _fill_at_once(cls: type[TObject]) -> None:
    # No code of the program's sees the object before it has all that it is given.
    initialize: Callable[..., None] = cls.__init__
    preset = cls._tx_preset
    names = names_of(cls)
    # What the dataclass's constructor takes for the object that it fills.
    arguments: Any = type("Arguments", (), {"__slots__": tuple(names)})
    fields = _fields_of(cls)
    all_given = all(field.init for field in fields) and len(fields) == len(names)
    # With one name, an `attrgetter` returns no tuple.
    get = operator.attrgetter(*names) if all_given and len(names) > 1 else None

    def __init__(self: TObject, *args: Any, **kwargs: Any) -> None:
        # That it has a weak reference is told faster than that a slot is empty.
        if weakref.getweakrefcount(self) and hasattr(self, "_tx_number"):
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
        self._tx_begin(contents)

    take_place(cls, __init__)


def _adopt_first(cls: type[TObject]) -> None:
    # The constructor finds an object that has cells.
    initialize: Callable[..., None] = cls.__init__
    if cls.__init__ is object.__init__:
        # An object of a class that is derived from others, too, has their constructor.
        initialize = functools.partial(_initialize_after, cls)

    def __init__(self: TObject, *args: Any, **kwargs: Any) -> None:
        # As above; and to find a slot empty is to raise something.
        if weakref.getweakrefcount(self) and is_adopted(self):
            initialize(self, *args, **kwargs)
            return
        committed.adopt(self)
        outside = running.attempt is None
        if outside:
            _set_changed(self, BEING_MADE)
        try:
            for name, default in self._tx_preset.items():
                setattr(self, name, default)
            initialize(self, *args, **kwargs)
        finally:
            if outside:
                self._tx_end_making()

    take_place(cls, __init__)


def _initialize_after(
    cls: type[TObject], shared: TObject, /, *args: Any, **kwargs: Any
) -> None:
    """Do as an object's constructor, if a class has none of its own."""
    order = type(shared).__mro__
    for kind in order[order.index(cls) + 1 : -1]:
        if "__init__" in vars(kind):
            vars(kind)["__init__"](shared, *args, **kwargs)
            return
    if type(shared).__new__ is object.__new__:
        refuse_arguments(shared, *args, **kwargs)


def _inherits(cls: type[TObject], attribute: Attribute) -> bool:
    """Tell whether a class has the like of it from its bases."""
    for kind in cls.__mro__:
        found = vars(kind).get(attribute.name, MISSING)
        if found is not MISSING:
            return kind is not cls and attribute.is_like(found)
    return False


def names_of(cls: type[TObject]) -> tuple[str, ...]:
    """Return the names of the shared attributes of a class, in order."""
    return cls._tx_names


def contents_of(shared: TObject) -> dict[str, object]:
    """Return the shared attributes that have a value."""
    kind = type(shared)
    if not is_adopted(shared):
        return {}  # its constructor has not been called
    if kind._tx_open:
        attempt = running.attempt if committed.noting else None
        found: Any = (  # by name
            committed.contents_at(shared, NEWEST)
            if attempt is None
            else attempt.contents(shared)
        )
        return dict(found)
    contents: dict[str, object] = {}
    for name in kind._tx_names:
        # Not by `getattr`, which would ask it for its value.
        for one in kind.__mro__:
            if name in one.__dict__:
                found = one.__dict__[name]
                break
        else:
            continue  # it was deleted
        # A class whose own attribute was assigned anew has lost the one that is shared.
        if isinstance(found, Attribute):
            value = found.value(shared)
            if value is not MISSING:
                contents[name] = value
    return contents


def _make_dataclass(
    cls: type[TObject], kw_only: bool, also: tuple[str, ...]
) -> dict[str, object]:
    """Make it one, as far as that goes; return the defaults that the class shows."""
    slots = slots_of(cls)
    dataclasses.dataclass(eq=False, repr=False, kw_only=kw_only)(cls)
    fields = _fields_of(cls)
    cls._tx_preset = {
        field.name: field.default
        for field in fields
        if not field.init and field.default is not dataclasses.MISSING
    }
    cls._tx_names = tuple(
        dict.fromkeys(
            [*(field.name for field in fields), *cls._tx_names, *slots, *also]
        )
    )
    declared = {field.name: field.default for field in fields}
    others = tuple(name for name in cls._tx_names if name not in declared)
    return defaults_of(cls, others) | {
        name: default
        for name, default in declared.items()
        if default is not dataclasses.MISSING
    }


def _fields_of(cls: type) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(cast("Any", cls))  # it is a dataclass by now


def _plain_class(cls: type) -> type:
    """Return the dataclass that a class was made of by `share`, or the class itself."""
    plain: type = getattr(cls, "_tx_shared_from", cls)
    return plain


hide_annotations(TObject)
