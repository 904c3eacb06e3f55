"""Where the walk of a call begins, what it goes into, and what it has found."""

from __future__ import annotations

import types
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from txloop.stm.callables import is_found_by_name, layers
from txloop.watch.pictures import Names, Namespace, Thing

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

__all__ = [
    "ROOTS_OF",
    "Held",
    "Job",
    "Place",
    "Reach",
    "Roots",
    "Space",
    "Table",
    "Watched",
    "add_functions",
    "known_functions",
    "roots_of",
]

Table = dict[object, Thing]
"""What is under watch, by identity: one picture of each object is enough."""


class Place(NamedTuple):
    """Where the program uses something: the code, and the name that it has there."""

    code: types.CodeType
    name: str


@dataclass(frozen=True, slots=True)
class Roots:
    """Where a function's walk begins.

    Attributes:
        key: Tells functions apart.
        things: Objects, with the names that messages call them.
        names: Names that are used whatever the code says: methods that are called.
        template_names: Returns those that templates use; asked if any is rendered.
        receiver: Stands for the object whose method runs: of its attributes, those
            count that code names.
    """

    key: Hashable
    things: tuple[tuple[str, object], ...]
    names: frozenset[str] = frozenset()
    template_names: Callable[[], Iterable[str]] = tuple
    receiver: types.SimpleNamespace | None = None


class Held(NamedTuple):
    """Something reached of which a copy is of no use; it is not kept alive by this.

    Attributes:
        name: What the program calls it.
        kind: Its class.
        identity: Its `id`.
        place: Where the program uses it, if known.
        is_missed: Whether the reason is that the program notices when its life ends.
    """

    name: str
    kind: type
    identity: int
    place: Place | None
    is_missed: bool = False

    @classmethod
    def of(cls, name: str, thing: object, place: Place | None) -> Held:
        """Return what is held because of its class."""
        return cls(name, type(thing), id(thing), place)


@dataclass(slots=True, eq=False)
class Watched:
    """A thing under watch, as one function reaches it.

    Attributes:
        thing: The thing.
        place: Where the function's code uses it, if known.
        names: The attributes that matter; None for all.
    """

    thing: Thing
    place: Place | None = None
    names: Names | None = None


@dataclass(slots=True)
class Reach:
    """What a function can reach.

    Attributes:
        watched: What is under watch, the nearest first.
        held: The first of which a copy is of no use, or None.
        caches: Names of the caches of `lru_cache` that it uses.
        complete: Whether that is all.
    """

    watched: list[Watched] = field(default_factory=list)
    held: Held | None = None
    caches: list[str] = field(default_factory=list)
    complete: bool = True


class Job(NamedTuple):
    """An object that the walk has to go into."""

    thing: Any
    name: str
    place: Place | None
    near: bool  # the program's own code has it, not an object of a library


@dataclass(slots=True, eq=False)
class Space:
    """A namespace, and which of its names are used so far."""

    thing: Namespace
    watched: Watched
    job: Job
    used: set[str] | None = None  # of globals; of others, what the walk's code names
    besides: frozenset[str] = frozenset()  # ... and a library's


ROOTS_OF = "__txloop_roots__"
"""The attribute of a function that tells, given its arguments, what it really runs."""


_functions: list[Callable[[], Iterable[Roots]]] = []  # filled at import


def add_functions(roots: Callable[[], Iterable[Roots]]) -> None:
    """Have pictures taken of all that these functions reach, called yet or not."""
    _functions.append(roots)


def known_functions() -> Iterator[Roots]:
    """Yield the roots of the functions that `add_functions` tells, as it is now."""
    for roots in _functions:
        yield from roots()


def roots_of(function: Callable[..., object], args: Sequence[object]) -> Roots:
    """Return where to look for what a call can reach.

    What travels by value, such as its arguments, is not among it: see `Given`.
    """
    tell = getattr(function, ROOTS_OF, None)
    if tell is not None:
        roots: Roots = tell(*args)
        return roots
    *around, bare = layers(function)
    owners = [one.__self__ for one in around if type(one) is types.MethodType]
    name = getattr(bare, "__qualname__", type(bare).__qualname__)
    things: list[tuple[str, object]] = []
    names = frozenset[str]()
    if isinstance(bare, types.FunctionType):
        things.append((name, bare if is_found_by_name(bare) else _emptied(bare)))
        key: object = bare.__code__
    else:
        things.append((name, type(bare)))
        names, key = frozenset(["__call__"]), type(bare)
    if owners and isinstance(owners[-1], type):
        things.append((owners[-1].__qualname__, owners[-1]))
    return Roots(key, tuple(things), names)


def _emptied(function: types.FunctionType) -> types.FunctionType:
    """Return a function without what is around it: that travels by value."""
    code = function.__code__
    cells = tuple(types.CellType() for _ in code.co_freevars)
    return types.FunctionType(code, function.__globals__, closure=cells or None)
