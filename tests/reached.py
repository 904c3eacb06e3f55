"""What the watch finds, for tests of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from txloop.watch import Subject, roots_of
from txloop.watch.kinds import kind_of
from txloop.watch.places import Roots
from txloop.watch.reach import reach_of
from txloop.watch.visits import thing_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.watch.pictures import Thing
    from txloop.watch.places import Reach


def pictured(thing: object) -> Thing:
    """Return a picture of one object."""
    found = thing_of(thing, kind_of(thing), "thing")
    assert found is not None
    return found


def subject_of(function: Callable[..., object]) -> Subject:
    """Return a function under watch, as it is when first seen."""
    roots = roots_of(function, ())
    return Subject(roots, reach_of(roots, {}))


def reach_from(*things: object) -> Reach:
    """Return what objects lead to, whatever names code uses."""
    return reach_of(Roots("key", tuple(("thing", thing) for thing in things)), {})


def reached(found: Reach) -> list[int]:
    """Return the objects in a reach."""
    things = [one.thing.object for one in found.watched]
    return [id(thing) for thing in things if thing is not None]
