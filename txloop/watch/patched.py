"""What the program sets in libraries, for walks that come to one of them.

What a library keeps by itself is not looked at: see `txloop.watch.hooks`. Nor is what
else such an owner has: of a module that the program has patched, only the patch counts.
It counts for all code that uses something of the same package, by whatever name; in
Tornado, which all handlers use, of the same module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from txloop.watch.definitions import Definition
from txloop.watch.kinds import CODE, kind_of
from txloop.watch.parts import attributes_of
from txloop.watch.pictures import Names, Namespace
from txloop.watch.places import Job, Space

if TYPE_CHECKING:
    from txloop.scan import Patch
    from txloop.watch.walk import Walk

__all__ = ["use_library_of", "use_patches"]


class Patched(Namespace, Definition):
    """What a module, a class or an object of a library has."""

    __slots__ = ()


def use_library_of(walk: Walk, name: object) -> None:
    """Go into what the program sets in a library of which a module, `name`, is used."""
    if walk.patches:
        part = _part(str(name))
        met = [one for one in walk.patches if _part(one.home) == part]
        walk.patches = [one for one in walk.patches if _part(one.home) != part]
        for patch in met:
            _add(walk, patch)


def _part(module: str) -> str:
    package = module.partition(".")[0]
    return module if package == "tornado" else package


def use_patches(walk: Walk) -> None:
    """Go into what the program sets in any library."""
    while walk.patches:
        _add(walk, walk.patches.pop())


def _add(walk: Walk, patch: Patch) -> None:
    look = attributes_of(patch.owner)
    if look is None:
        return
    key = id(patch.owner), "patched"
    thing = walk.table.get(key)
    if not isinstance(thing, Patched):
        thing = walk.table[key] = Patched(patch.owner, patch.label, look)
    job = Job(patch.owner, patch.label, None, False)
    space = Space(thing, walk.note(job, thing), job)
    names = frozenset([patch.name])
    present = tuple(names & thing.attributes.keys())
    space.watched.names = Names(present, names)
    walk.enter(space, [one for one in present if _holds(thing.attributes[one])])


def _holds(thing: object) -> bool:
    # What a function keeps that has taken the place of the library's counts where code
    # names that: see `txloop.watch.hooks`.
    return kind_of(thing) not in CODE
