"""Containers that stand for plain objects: in JSON always, in all else where told.

`json` asks `JSONEncoder.default` about what it does not know. All of Tornado's encoding
ends there, so that is the one place to answer, and what was an error there is all that
changes.

A program that was written for plain objects prints them, asks `isinstance`, gives them
to encoders of its own, and stores in them what it likes: for such, `like_plain`. What
is told here is told to the whole process, before workers begin.
"""

from __future__ import annotations

import json
import re
import reprlib
from abc import ABCMeta
from typing import TYPE_CHECKING, Any, ClassVar

from txloop.cells import part_by_part
from txloop.cells.bare import with_cells, with_cells_inside
from txloop.cells.live import begin as begin_live
from txloop.stm.container import Container
from txloop.stm.held import hold_the_rest
from txloop.stm.tracebacks import format_as_plain

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "PassesFor",
    "PassingType",
    "default",
    "has_json",
    "like_plain",
    "stands_for_plain",
]

_stock_default = json.JSONEncoder.default
_stock_iterencode = json.JSONEncoder.iterencode


class PassesFor:
    """The `__class__` of a container: the plain class, once `like_plain` was called."""

    on = False
    _owners: ClassVar[dict[type, PassesFor]] = {}  # filled at import
    _named: ClassVar[dict[type, type]] = {}  # likewise

    def __init__(self, plain: type, inside_itself: str) -> None:
        """Describe what the objects of a class pass for.

        Args:
            plain: The class that `isinstance` is to find.
            inside_itself: What an object prints where it contains itself.
        """
        self._plain = plain
        self._inside_itself = inside_itself

    def __set_name__(self, owner: type, name: str) -> None:
        self._owners[owner] = self

    def __get__(self, shared: object, kind: type) -> type:
        return self._plain if PassesFor.on else kind

    def __set__(self, shared: object, kind: type) -> None:
        raise TypeError(f"the class of a {type(shared).__name__} cannot be changed")

    @classmethod
    def plain_of(cls, kind: type) -> type | None:
        """Return what the objects of a class pass for by now; None for themselves."""
        if not cls.on:
            return None
        its = cls._owners.get(kind)
        return cls._named.get(kind) if its is None else its._plain

    @classmethod
    def name_like(cls, kind: type, plain: type) -> None:
        """Let a class that belongs to a container be named as the plain one, too."""
        cls._named[kind] = plain

    @classmethod
    def begin(cls) -> None:
        """Let all containers pass for plain objects, and print like them."""
        cls.on = True
        for owner, its in cls._owners.items():
            new: Any = owner
            printed = getattr(owner, "_print_plain", _print_plain)
            new.__repr__ = reprlib.recursive_repr(its._inside_itself)(printed)
            part_by_part.print_like(new, its._plain)
            new.__name__ = _named_in_errors(its._plain)
        for owner, plain in cls._named.items():
            owner.__name__ = plain.__name__


def stands_for_plain(shared: object) -> bool:
    """Tell whether copies of a container are to be plain, as all that is made is.

    A program that was written for plain objects shares what it stores, as far as that
    is known before, or when it is stored. Copies that are shared at once would be made
    known to all workers, though hardly any is stored.
    """
    return PassesFor.on and type(shared) in PassesFor._owners


class PassingType(ABCMeta):
    """The class of containers' classes, which print as the plain ones, too.

    Their names cannot be the whole of it: pickles find a class by its module.
    """

    @property
    def __name__(cls) -> str:
        # Some classes are named with their modules in errors, and there only.
        name: str = type.__dict__["__name__"].__get__(cls)
        return name.rpartition(".")[2]

    @__name__.setter
    def __name__(cls, name: str) -> None:
        type.__dict__["__name__"].__set__(cls, name)

    def __repr__(cls) -> str:
        plain = PassesFor.plain_of(cls)
        return super().__repr__() if plain is None else repr(plain)


def _named_in_errors(plain: type) -> str:
    """Return what errors of the interpreter call an object of a plain class."""
    try:
        hash(plain())
    except TypeError as error:
        found = re.search(rf"[\w.]*\b{plain.__name__}\b", str(error))
        if found is not None:
            return found[0]
    return plain.__name__


def _print_plain(shared: Any) -> str:
    return repr(shared.copy())


def like_plain(*, live: bool = False) -> None:
    """Let containers pass for plain objects, in the whole program.

    From then on, what is refused otherwise is *held*: a container keeps the object
    itself, for the loop thread; a transaction elsewhere that comes upon it moves there.
    Containers print as the plain objects do, `isinstance` takes them for such, module
    `traceback` shows none of their frames, and a JSON encoder with a `default` of the
    program's own is not asked about them. It is for programs that were written for
    plain objects: ``python -m txloop share`` puts it into what it changes. Call it on
    the main thread before the loop starts; again does nothing, or what it did not do
    before. ::

        txloop.like_plain()
        rows = txloop.share({"names": ["ann"]})
        print(rows, isinstance(rows, dict))  # {'names': ['ann']} True

    Args:
        live: Whether a `for` sees what its body does to the container, as over a plain
            one: to a list, or that a dict, set or deque has changed, by a RuntimeError.
            Each loop takes half a microsecond longer then, and 0.02 for each item.
    """
    if not PassesFor.on:
        PassesFor.begin()
        hold_the_rest()
        _encode_like_plain()
        part_by_part.begin(PassesFor.plain_of)
        format_as_plain()
    if live:
        begin_live()


def default(self: json.JSONEncoder, value: object) -> object:
    """Return what JSON has for a container; in the place of `JSONEncoder.default`.

    A `TSet` becomes a list, a `TVar` or `TCounter` its value, a `TObject` an object.
    """
    if isinstance(value, Container) and has_json(value):
        # The encoder asks again for what is in it.
        return with_cells(value._tx_as_json())
    return _stock_default(self, value)


def has_json(container: Container) -> bool:
    """Tell whether JSON takes a container: all, or those that pass for dict or list."""
    if not PassesFor.on:
        return True
    kind = type(container)
    passes = _with_json.get(kind)
    if passes is None:  # of the class: to ask for each object takes half of the time
        passes = _with_json[kind] = isinstance(container, dict | list)
    return passes


_with_json: dict[type, bool] = {}


def _encode_like_plain() -> None:
    """Let JSON take containers just where it takes the types they replace.

    A `default` of the program's own is not asked about a dict or a list, and about all
    others it is.
    """
    json.JSONEncoder.iterencode = _iterencode  # type: ignore[method-assign] # wraps it


def _iterencode(
    self: json.JSONEncoder, o: Any, _one_shot: bool = False
) -> Iterator[str]:
    asked, o = self.default, with_cells_inside(o)
    if getattr(asked, "__func__", None) is default:
        return _stock_iterencode(self, o, _one_shot)

    def first(value: Any) -> Any:
        if isinstance(value, Container) and has_json(value):
            return with_cells(value._tx_as_json())
        return asked(value)

    before = vars(self).get("default")
    its: Any = self  # its constructor sets the method, too
    its.default = first
    try:
        return _stock_iterencode(self, o, _one_shot)
    finally:
        if before is None:
            del its.default
        else:
            its.default = before
