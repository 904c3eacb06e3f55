"""What one can do to a set, and a set that remembers the order of insertion."""

from __future__ import annotations

import copy
import operator
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from txloop import TSet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.model.machines import Step

__all__ = ["OrderedSet", "elements", "perform_on_set", "set_steps"]

ELEMENTS = st.sampled_from(["a", "b", "c", "d", 1, True, (1, 2), None])
LISTS = st.lists(ELEMENTS, max_size=4)
SETS = st.sets(ELEMENTS, max_size=4)


class OrderedSet(set[Any]):
    """A set that knows in which order its elements came, as a TSet does."""

    def __init__(self, elements: Iterable[Any] = ()) -> None:
        came = list(elements)
        super().__init__(came)
        self.order: dict[Any, None] = dict.fromkeys(came)

    def note(self, came: Iterable[Any]) -> None:
        """Bring the order up to date after a step that may have added these."""
        self.order = {one: None for one in self.order if one in self}
        self.order.update(dict.fromkeys(one for one in came if one in self))

    def pop(self) -> Any:
        if not self:
            return super().pop()  # raises
        first = next(iter(self.order))
        self.remove(first)
        return first

    def __deepcopy__(self, memo: object) -> OrderedSet:
        return OrderedSet(self.order)


STEPS: dict[str, tuple[Any, ...]] = {
    "in": (lambda x, element: element in x, ELEMENTS),
    "in badly": (lambda x: [] in x,),
    "len": (len,),
    "bool": (bool,),
    "iterate": (set,),
    "in order": (lambda x: list(x if isinstance(x, TSet) else x.order),),
    "add": (lambda x, element: x.add(element), ELEMENTS),
    "add badly": (lambda x: x.add([]),),
    "discard": (lambda x, element: x.discard(element), ELEMENTS),
    "remove": (lambda x, element: x.remove(element), ELEMENTS),
    "pop": (lambda x: x.pop(),),
    "clear": (lambda x: x.clear(),),
    "update": (lambda x, one, other: x.update(one, other), LISTS, LISTS),
    "update with nothing": (lambda x: x.update(),),
    "update badly": (lambda x: x.update(5),),
    "remove many": (lambda x, one, two: x.difference_update(one, two), LISTS, LISTS),
    "remove itself": (lambda x: x.difference_update(x),),
    "keep": (lambda x, one, two: x.intersection_update(one, two), LISTS, LISTS),
    "keep all": (lambda x: x.intersection_update(),),
    "toggle": (lambda x, one: x.symmetric_difference_update(one), SETS),
    "union": (lambda x, one, other: [x.union(), x.union(one, other)], LISTS, LISTS),
    "intersection": (lambda x, one: [x.intersection(), x.intersection(one)], LISTS),
    "difference": (lambda x, one: [x.difference(), x.difference(one)], LISTS),
    "one of two": (lambda x, other: x.symmetric_difference(other), LISTS),
    "subset": (lambda x, other: x.issubset(other), LISTS),
    "superset": (lambda x, other: x.issuperset(other), LISTS),
    "disjoint": (lambda x, other: x.isdisjoint(other), LISTS),
    "or": (lambda x, other: [x | other, other | x], SETS),
    "and": (lambda x, other: [x & other, other & x, x & x], SETS),
    "minus": (lambda x, other: [x - other, other - x, x - x], SETS),
    "xor": (lambda x, other: [x ^ other, other ^ x], SETS),
    "or badly": (lambda x, other: x | other, LISTS),
    "and badly": (lambda x, other: x & other, LISTS),
    "minus badly": (lambda x, other: x - other, LISTS),
    "minus badly from the left": (lambda x, other: other - x, LISTS),
    "xor badly": (lambda x, other: x ^ other, LISTS),
    "or in place": (lambda x, other: operator.ior(x, other), SETS),
    "and in place": (lambda x, other: operator.iand(x, other), SETS),
    "minus in place": (lambda x, other: operator.isub(x, other), SETS),
    "xor in place": (lambda x, other: operator.ixor(x, other), SETS),
    "xor itself in place": (lambda x: operator.ixor(x, x),),
    "or badly in place": (lambda x, other: operator.ior(x, other), LISTS),
    "and badly in place": (lambda x, other: operator.iand(x, other), LISTS),
    "minus badly in place": (lambda x, other: operator.isub(x, other), LISTS),
    "xor badly in place": (lambda x, other: operator.ixor(x, other), LISTS),
    "equal": (lambda x, other: [x == other, x != other, other == x, x == 5], SETS),
    "equal to itself": (lambda x: [x == x, x == set(x), x == frozenset(x)],),
    "order": (lambda x, other: [x < other, x <= other, x > other, x >= other], SETS),
    "order from the left": (lambda x, other: [other < x, other >= x], SETS),
    "order badly": (lambda x, other: x <= other, LISTS),
    "copy": (lambda x: [set(x.copy()), isinstance(x.copy(), set)],),
    "deep copy": (lambda x: independent(x, copy.deepcopy(x)),),
    "unhashable": (hash,),
}


def independent(x: Any, copied: Any) -> object:
    """Change a copy, which must not be seen in the original."""
    before = set(x)
    copied.add("new")
    return [type(copied) is type(x), set(copied), set(x) == before]


def perform_on_set(step: Step, target: Any) -> object:
    """Do a step to a set."""
    name, *arguments = step
    result = STEPS[name][0](target, *arguments)
    if isinstance(target, OrderedSet):
        many = [one if isinstance(one, list | set) else [one] for one in arguments]
        target.note(element for one in many for element in one)
    return result


def set_steps() -> st.SearchStrategy[Step]:
    """Return the steps on sets."""
    return st.sampled_from(sorted(STEPS)).flatmap(
        lambda name: st.tuples(st.just(name), *STEPS[name][1:])
    )


def elements() -> st.SearchStrategy[list[Any]]:
    """Return what a set may hold at first."""
    return LISTS
