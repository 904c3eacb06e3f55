"""What a cell is called in warnings and statistics: as the program would write it.

A container has no name of its own. It is looked for where the program keeps it: in
globals of its modules, in arguments of its handlers, in the objects, lists and dicts
that lie there, and in other containers. That takes some milliseconds, so it is for what
happens rarely; `container_names` finds all names at once.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, MutableSequence
from contextlib import suppress
from typing import TYPE_CHECKING

from txloop.stm.container import Container
from txloop.stm.origin import is_own_module, own_module_of
from txloop.stm.store import committed
from txloop.stm.types import Key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from txloop.stm.types import Cell

__all__ = ["add_roots", "cell_name", "container_names", "name_in", "named_roots"]

_MOST_OBJECTS = 10_000  # that one search looks into
_LARGEST = 2_000  # parts; longer lists and dicts are not searched

_HAVE_PARTS = (Container, dict, list, tuple, type)


def cell_name(cell: Cell) -> str:
    """Return what a cell is called, such as ``accounts['ann']`` or ``grid[3]``.

    Loop thread only, outside transactions.
    """
    container = committed.find(cell[0])
    name = None
    if container is not None:
        names = (name for name, one in _named_containers() if one is container)
        name = next(names, None)
    return name_in(name, cell)


def name_in(name: str | None, cell: Cell) -> str:
    """Return what a cell is called in a container of that name, None if unknown."""
    number, key = cell
    container = committed.find(number)
    if container is None:
        return "a container that is gone"
    name = name or f"{type(container).__qualname__} number {number}"
    if key is Key.KEYS:
        return f"the keys or length of {name}"
    if isinstance(key, Key):
        return name
    if isinstance(key, tuple) and isinstance(container, MutableSequence):
        return f"{name}[{key[0]}:{key[1]}]"
    if hasattr(type(container), "__getitem__"):
        return f"{name}[{key!r}]"
    if isinstance(key, str) and hasattr(type(container), "_tx_settable"):
        return f"{name}.{key}"
    return f"{key!r} in {name}"


def container_names() -> dict[int, str]:
    """Return the names of all containers that are found, by their numbers.

    Loop thread only, outside transactions.
    """
    names: dict[int, str] = {}
    for name, container in _named_containers():
        names.setdefault(container._tx_number, name)
    return names


def add_roots(roots: Callable[[], Iterable[tuple[str, object]]]) -> None:
    """Have containers looked for in what a function names, too; call it at import."""
    _roots.append(roots)


def named_roots() -> list[tuple[str, object]]:
    """Return what `add_roots` names, as it is now."""
    return [item for roots in _roots for item in roots()]


_roots: list[Callable[[], Iterable[tuple[str, object]]]] = []  # filled at import


def _named_containers() -> Iterator[tuple[str, Container]]:
    """Yield containers with their names, the shortest first.

    One may come twice, by another name.
    """
    modules = [one for one in list(sys.modules.values()) if is_own_module(one)]
    ahead = [item for module in modules for item in list(vars(module).items())]
    yield from _search([*ahead, *(item for root in _roots for item in root())])


def _search(begin: Iterable[tuple[str, object]]) -> Iterator[tuple[str, Container]]:
    ahead = deque(begin)
    seen: set[int] = set()
    while ahead and len(seen) < _MOST_OBJECTS:
        name, thing = ahead.popleft()
        if isinstance(thing, Container):
            yield name, thing
        if id(thing) not in seen and _has_parts(thing):
            seen.add(id(thing))
            with suppress(Exception):  # whatever the repr of the program's keys raises
                ahead.extend(_parts(name, thing))


def _has_parts(thing: object) -> bool:
    return isinstance(thing, _HAVE_PARTS) or own_module_of(type(thing)) is not None


def _parts(name: str, thing: object) -> Iterator[tuple[str, object]]:
    if isinstance(thing, Container):
        content = thing._tx_as_json()
        if isinstance(content, dict) and hasattr(type(thing), "_tx_settable"):
            for attribute, part in content.items():
                yield f"{name}.{attribute}", part
            return
        thing = content
    if isinstance(thing, dict) and len(thing) <= _LARGEST:
        for key, part in list(thing.items()):
            yield f"{name}[{key!r}]", part
    elif isinstance(thing, list | tuple) and len(thing) <= _LARGEST:
        for index, part in enumerate(thing):
            yield f"{name}[{index}]", part
    elif not isinstance(thing, dict | list | tuple):
        for attribute, part in list(getattr(thing, "__dict__", {}).items()):
            yield f"{name}.{attribute}", part
