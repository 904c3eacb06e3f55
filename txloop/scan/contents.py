"""What comes out of containers: objects of some classes of the program.

A container is not looked into: what it holds now says nothing of what it will hold. So
a method that is called on something unknown may be one of any class whose objects can
be there, and a property, too. Objects of other classes mean something on the loop
thread only; an attempt elsewhere that comes upon one is given up.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from txloop.scan.live_objects import has_type, is_container
from txloop.scan.member import member
from txloop.scan.value import Bound, Getter, Instance
from txloop.stm.origin import own_module_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from txloop.scan.source import Sources

__all__ = ["Contents"]


class Contents:
    """The methods and properties of what containers may hold."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._instances: list[Instance] | None = None
        self._found: dict[str, tuple[Bound | Getter, ...]] = {}

    def called(self, name: str) -> tuple[Bound | Getter, ...]:
        """Return what an attribute of that name may be."""
        if name not in self._found:
            if self._instances is None:
                self._instances = [*self._all()]
            values = (member(one, name, self._sources) for one in self._instances)
            found = (one for one in values if isinstance(one, Bound | Getter))
            self._found[name] = tuple(found)
        return self._found[name]

    def _all(self) -> Iterator[Instance]:
        modules = self._sources.modules()
        for cls in {each: None for module in modules for each in _classes(module)}:
            # What it holds is no shared state: that is in cells, or cannot change.
            yield Instance(cls, unshared={*self._sources.assigned(cls)})


def _classes(module: ModuleType) -> Iterator[type]:
    for each in list(vars(module).values()):
        if has_type(each, type) and own_module_of(each) is not None:
            frozen = getattr(vars(each).get("__dataclass_params__"), "frozen", False)
            if frozen or is_container(each) or issubclass(each, tuple | enum.Enum):
                yield each
