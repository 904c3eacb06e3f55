"""Lines that keep values under names, and which names get what has another name."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from txloop.sharing.origins import ANY, ANY_ATTRIBUTE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from txloop.sharing.origins import Values

__all__ = ["UNKNOWN", "Aliased", "Kept"]

UNKNOWN = (ANY, ANY_ATTRIBUTE)
"""The names of what is found, or set, by names that are not known."""

_MOST_STEPS = 5
"""Parts that are deeper count as if they were as deep as this."""


class Kept(NamedTuple):
    """One line that keeps values under a name.

    Attributes:
        name: Of the variable or attribute.
        values: Their origins.
        depth: How deep they are put into what has the name already; 0 if they get it.
        classes: Those whose objects have the attribute, if it is one.
        is_own: Whether it is a handler's own attribute.
        where: The line.
        exact: Whether they are not put deeper than that.
    """

    name: str
    values: Values
    depth: int
    classes: frozenset[str]
    is_own: bool
    where: str
    exact: bool = False

    @property
    def is_put(self) -> bool:
        """Whether they are put into what has the name already."""
        return self.depth > 0


class Aliased:
    """Which names get the object that has another name, or a part of it.

    A store that is given to a service is ``self.store`` there: what is put into that is
    put into the store.
    """

    def __init__(self, kept: Iterable[Kept]) -> None:
        self._sources: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._others: defaultdict[str, set[str]] = defaultdict(set)
        self._found: dict[str, dict[str, int]] = {}  # the sources by name
        for one in kept:
            for each in () if one.is_put or one.name in UNKNOWN else one.values:
                if each.name not in ("", *UNKNOWN, one.name) and not each.inside:
                    its = self._sources[one.name]
                    its[each.name] = min(each.is_part, its.get(each.name, 1))
                    self._others[each.name].add(one.name)

    def sources(self, name: str) -> dict[str, int]:
        """Return the other names of what has a name, with the steps that lead to it."""
        if name in self._found:
            return self._found[name]
        found = self._found[name] = dict[str, int]()
        waiting = [(name, 0)]
        while waiting:
            one, steps = waiting.pop()
            for other, more in self._sources.get(one, {}).items():
                if other != name and steps + more < found.get(other, _MOST_STEPS):
                    found[other] = steps + more
                    waiting.append((other, steps + more))
        return found

    def with_others(self, names: Iterable[str]) -> set[str]:
        """Return names, with all others that get what has these, or a part of it."""
        found: set[str] = set()
        waiting = [*names]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += self._others.get(one, ())
        return found
