"""What a walk saw: reads, assignments and changes of shared state."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from txloop.scan.finding import FindingKind
    from txloop.scan.value import Slot

WHOLE = "*"
"""The attribute of the slot that is written with every other slot of its owner."""

SOME = "?"
"""The attribute of the slot for a key that the source does not tell."""


class Act(enum.Enum):
    """What is done to a slot, or to the object in it."""

    READ = enum.auto()
    ASSIGN = enum.auto()
    CHANGE = enum.auto()


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One act on shared state.

    Attributes:
        act: What is done.
        kind: The kind of finding that it gives; for a read, if it is written.
        name: To what, as findings call it.
        slots: Where that stands; a read looks at the first that is written.
        thing: The object in the slot, or UNKNOWN.
        certain: Whether it is known to be plain state. A change of an unknown object
            counts for the index only: a reader may know the object.
        file: The file of the line.
        line: The line.
        function: The qualified name of the function.
        unless: Where the code asks first what stands there, which is such that it does
            not come here as long as that stays.
    """

    act: Act
    kind: FindingKind
    name: str
    slots: tuple[Slot, ...]
    thing: object
    certain: bool
    file: str
    line: int
    function: str
    unless: frozenset[Slot] = frozenset()

    def targets(self) -> set[Slot]:
        """Return what the access writes: slots, and the object that is changed."""
        found = set(self.slots)
        if self.act is Act.CHANGE and self.certain:
            found.add(of_thing(self.thing))
        return found


def of_thing(thing: object) -> Slot:
    """Return the slot that stands for the contents of an object, whatever holds it."""
    return (id(thing), "contents")
