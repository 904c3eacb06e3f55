"""TObject: a shared object with conflicts per attribute."""

from __future__ import annotations

import copy
import dataclasses
import reprlib
from typing import TYPE_CHECKING, Any, ClassVar, cast, dataclass_transform

from txloop.attempt import current
from txloop.cells.values import shareable
from txloop.container import NEWEST, Container
from txloop.store import committed
from txloop.types import MISSING

__all__ = ["TObject", "contents_of", "names_of"]


class _Attribute:
    """One declared attribute: a cell of the object, named like it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, shared: TObject | None, kind: type) -> object:
        if shared is None:
            # As for a field without a default, which is what `dataclass` looks for.
            raise AttributeError(f"{kind.__name__} has no attribute {self.name!r}")
        attempt = current()
        if attempt is None:
            value = committed.read_at(shared, self.name, NEWEST)
        else:
            value = attempt.read(shared, self.name)
        if value is MISSING:
            raise AttributeError(f"{kind.__name__} object has no value {self.name!r}")
        return value

    def __set__(self, shared: TObject, value: object) -> None:
        self._write(shared, shareable(value))

    def __delete__(self, shared: TObject) -> None:
        self.__get__(shared, type(shared))  # raises if there is none
        self._write(shared, MISSING)

    def _write(self, shared: TObject, value: object) -> None:
        attempt = current()
        if attempt is None:
            committed.install([(shared, self.name, value)])
        else:
            attempt.write(shared, self.name, value)


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
    _preset: ClassVar[dict[str, object]]  # by attribute that no argument sets

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        """Make the declared attributes shared.

        Args:
            kw_only: As in `dataclasses.dataclass`.
        """
        super().__init_subclass__()
        dataclasses.dataclass(eq=False, repr=False, kw_only=kw_only)(cls)
        cls._preset = {
            field.name: field.default
            for field in _fields_of(cls)
            if not field.init and field.default is not dataclasses.MISSING
        }
        for name in names_of(cls):
            setattr(cls, name, _Attribute(name))
        cls._settable = frozenset(
            name
            for kind in cls.__mro__
            for name, attribute in vars(kind).items()
            if hasattr(type(attribute), "__set__")
        )
        _adopt_first(cls)

    if not TYPE_CHECKING:  # who sees it takes every attribute for declared

        def __setattr__(self, name: str, value: object) -> None:
            if name in self._settable:
                super().__setattr__(name, value)
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
        for name, value in contents.items():
            setattr(made, name, value)
        return made


def _adopt_first(cls: type[TObject]) -> None:
    # The constructor, whether ours or the program's, finds an object that has cells.
    initialize = cls.__init__

    def __init__(self: TObject, *args: Any, **kwargs: Any) -> None:
        if not hasattr(self, "_number"):
            committed.adopt(self)
            for name, default in self._preset.items():
                setattr(self, name, default)
        initialize(self, *args, **kwargs)

    __init__.__wrapped__ = initialize  # type: ignore[attr-defined] # for `inspect`
    __init__.__doc__ = initialize.__doc__
    cls.__init__ = __init__  # type: ignore[assignment,method-assign] # in place


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
