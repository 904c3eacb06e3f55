"""What tells values apart: a name that leads to them, or the line that makes them.

So it is said where a value comes from, and which objects are left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from txloop.sharing.making import Site

__all__ = ["ANY", "EVERYTHING", "Hazard", "Origin", "Values", "inside", "part_of"]

ANY = "*"
"""The name of what is found by a name that is not known."""

EVERYTHING = ""
"""The name of what has no name, or one that is not known: it may be any object."""


class Origin(NamedTuple):
    """Where a value comes from.

    Attributes:
        name: Of a variable or an attribute; "" for what is made.
        is_part: Whether it is a part of that.
        inside: Whether the value only contains it.
        site: Where it is made, if it is.
    """

    name: str
    is_part: bool = False
    inside: bool = False
    site: Site | None = None


Values = set[Origin]


def part_of(values: Iterable[Origin]) -> Values:
    """Return the origins of what is in values of these origins."""
    found: Values = set()
    for one in values:
        if one.inside:
            found |= {one, Origin(one.name, one.is_part, site=one.site)}
        if one.name:
            found.add(Origin(one.name, is_part=True, site=one.site))
    return found


def inside(values: Iterable[Origin]) -> Values:
    """Return the origins of something new that contains these values."""
    return {Origin(one.name, one.is_part, True, one.site) for one in values}


class Hazard(NamedTuple):
    """A line that would not do the same with containers.

    Attributes:
        name: The last name of the object, or `EVERYTHING`.
        reason: What the line does.
        site: The expression whose objects are meant; None for those of the name.
    """

    name: str
    reason: str
    site: Site | None = None
