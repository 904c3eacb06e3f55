"""What comes out of containers: objects of some classes of the program.

A container is not looked into: what it holds now says nothing of what it will hold. So
a method that is called on something unknown may be one of any class whose objects can
be there, and a property, too. Objects of other classes mean something on the loop
thread only; an attempt elsewhere that comes upon one is given up.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from txloop.scan.live_objects import is_container
from txloop.scan.member import member
from txloop.scan.value import Bound, Descriptor, Instance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from txloop.scan.source import Sources

__all__ = ["Contents"]


class Contents:
    """The methods and properties of what containers may hold."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._instances: list[Instance] | None = None
        self._found: dict[str, tuple[Bound | Descriptor, ...]] = {}

    def called(self, name: str) -> tuple[Bound | Descriptor, ...]:
        """Return what an attribute of that name may be."""
        if name not in self._found:
            if self._instances is None:
                self._instances = [*self._all()]
            values = (member(one, name, self._sources) for one in self._instances)
            found = (one for one in values if isinstance(one, Bound | Descriptor))
            self._found[name] = tuple(found)
        return self._found[name]

    def _all(self) -> Iterator[Instance]:
        for cls in self._sources.classes(_may_be_held):
            # What it holds is no shared state: that is in cells, or cannot change.
            yield Instance(cls, unshared={*self._sources.assigned(cls)})


def _may_be_held(cls: type) -> bool:
    frozen = getattr(vars(cls).get("__dataclass_params__"), "frozen", False)
    return frozen or is_container(cls) or issubclass(cls, tuple | enum.Enum)
