"""A reason to leave something alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from txloop.sharing.making import Site

__all__ = ["EVERYTHING", "Hazard"]

EVERYTHING = ""
"""The name of what has no name, or one that is not known: it may be any object."""


class Hazard(NamedTuple):
    """A line that would not do the same with containers.

    A module of its own, as those that find them know nothing of each other.

    Attributes:
        name: The last name of the object, or `EVERYTHING`.
        reason: What the line does.
        site: The expression whose objects are meant; None for those of the name.
    """

    name: str
    reason: str
    site: Site | None = None
