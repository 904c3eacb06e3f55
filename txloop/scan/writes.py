"""What some functions write, and whether that makes a read stale."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from txloop.scan.access import WHOLE, Access, Act
from txloop.scan.things import UNKNOWN, has_type, is_plain

if TYPE_CHECKING:
    from txloop.scan.value import Slot


@dataclass(frozen=True, slots=True, eq=False)
class Writes:
    """What some functions write. The first writer of each slot and object is kept.

    Attributes:
        assigned: Assignments by slot.
        changed: Changes of the object in a slot.
        things: Changes by the identity of the object, which the access keeps alive.
        evidence: An object like the one that the source stores under an attribute or
            keyword of this name; UNKNOWN where it may be another.
        unsettled: What is written without asking first what stands there.
        loose: Attributes that are assigned on objects that are not known; "*" for any.
    """

    assigned: dict[Slot, Access] = field(default_factory=dict)
    changed: dict[Slot, Access] = field(default_factory=dict)
    things: dict[int, Access] = field(default_factory=dict)
    evidence: dict[str, object] = field(default_factory=dict)
    unsettled: set[Slot] = field(default_factory=set)
    loose: set[str] = field(default_factory=set)

    def add(self, access: Access) -> None:
        """Add what the access writes."""
        if access.act is Act.READ:
            return
        by_slot = self.assigned if access.act is Act.ASSIGN else self.changed
        for owner, name in access.slots:
            by_slot.setdefault((owner, name), access)
            by_slot.setdefault((owner, WHOLE), access)
        if access.act is Act.CHANGE and access.certain:
            self.things.setdefault(id(access.thing), access)

    def may_happen(self, access: Access) -> bool:
        """Return whether the code may come to the access when requests are served."""
        if not access.unless:
            return True
        names = {name for _, name in access.unless}
        return (
            "*" in self.loose
            or not names.isdisjoint(self.loose)
            or not access.unless.isdisjoint(self.unsettled)
        )

    def add_evidence(self, name: str, prototype: object) -> None:
        """Add that something like the prototype is stored under the name."""
        known = self.evidence.setdefault(name, prototype)
        if UNKNOWN in (known, prototype):
            self.evidence[name] = UNKNOWN

    def writer_of(self, read: Access) -> Access | None:
        """Return what makes the read stale, or None."""
        for slot in read.slots:
            if slot in self.assigned:
                return self.assigned[slot]
        inside = is_plain(read.thing) or has_type(read.thing, tuple)
        for owner, name in read.slots:
            if (inside or name == WHOLE) and (owner, name) in self.changed:
                return self.changed[owner, name]
        return self.things.get(id(read.thing)) if inside else None
