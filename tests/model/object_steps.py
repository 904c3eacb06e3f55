"""What one can do to an object, and to a counter."""

from __future__ import annotations

import copy
import dataclasses
import functools
import operator
import sys
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from txloop import TObject

if TYPE_CHECKING:
    from tests.model.machines import Step

__all__ = [
    "Count",
    "PlainPoint",
    "SharedPoint",
    "counter_steps",
    "object_steps",
    "perform_on_counter",
    "perform_on_object",
]

VALUES = st.integers(-2, 3)
NAMES = st.sampled_from(["x", "y", "label"])


class Movable:
    """What a point can do, whoever keeps its attributes."""

    x: int
    y: int

    @property
    def total(self) -> int:
        return self.x + self.y

    @total.setter
    def total(self, value: int) -> None:
        self.x = value - self.y

    def move(self, x: int, y: int) -> None:
        self.x += x
        self.y += y


@dataclasses.dataclass
class PlainPoint(Movable):
    """What a SharedPoint is to a single thread."""

    x: int
    y: int = 0
    label: str = dataclasses.field(default="", repr=False)


class SharedPoint(Movable, TObject):
    x: int
    y: int = 0
    label: str = dataclasses.field(default="", repr=False)


OBJECT_STEPS: dict[str, tuple[Any, ...]] = {
    "get": (getattr, NAMES),
    "get with default": (lambda o, name: getattr(o, name, 9), NAMES),
    "has": (hasattr, NAMES),
    "get total": (lambda o: o.total,),
    "set": (setattr, st.sampled_from(["x", "y", "total"]), VALUES),
    "set label": (lambda o, value: setattr(o, "label", value), st.sampled_from("ab")),
    "add": (lambda o, value: o.move(value, value), VALUES),
    "delete x": (lambda o: delattr(o, "x"),),
    "equal": (lambda o, x, y: complete(o) and o == type(o)(x, y), VALUES, VALUES),
    "unequal": (lambda o, x, y: complete(o) and o != type(o)(x, y), VALUES, VALUES),
    "equal to others": (lambda o: complete(o) and [o == o, o == 5, o != 5],),
    "copy": (lambda o, value: independent(o, copy.copy(o), value), VALUES),
    "deep copy": (lambda o, value: independent(o, copy.deepcopy(o), value), VALUES),
    "replace": (lambda o, value: independent(o, dataclasses.replace(o), value), VALUES),
    "show": (lambda o: complete(o) and repr(o).partition("Point")[2],),
    "unhashable": (hash,),
}


def complete(o: Any) -> bool:
    """Tell whether all attributes are there: else, equality and repr are our own."""
    return hasattr(o, "x")


def independent(o: Any, copied: Any, value: int) -> object:
    """Change a copy, which must not be seen in the original."""
    before = getattr(o, "y", None)
    copied.y = 100 + value
    return [type(copied) is type(o), copied, before == getattr(o, "y", None)]


def perform_on_object(step: Step, target: Any) -> object:
    """Do a step to an object."""
    name, *arguments = step
    try:
        return OBJECT_STEPS[name][0](target, *arguments)
    except AttributeError as error:
        # The message names the class. CPython adds the attribute's name by itself.
        cpython = sys.implementation.name == "cpython"
        raise AttributeError(error.name if cpython else "") from None


def object_steps() -> st.SearchStrategy[Step]:
    """Return the steps on objects."""
    return st.sampled_from(sorted(OBJECT_STEPS)).flatmap(
        lambda name: st.tuples(st.just(name), *OBJECT_STEPS[name][1:])
    )


@functools.total_ordering
class Count:
    """What a TCounter is to a single thread."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: int = 0) -> None:
        self.value = value

    def add(self, amount: int = 1) -> None:
        self.value += amount

    def __iadd__(self, amount: int) -> Count:
        self.add(amount)
        return self

    def __isub__(self, amount: int) -> Count:
        self.add(-amount)
        return self

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __eq__(self, other: object) -> bool:
        return self.value == (other.value if isinstance(other, Count) else other)

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < other)

    def __repr__(self) -> str:
        return f"Count({self.value})"

    def as_plain(self) -> float:
        return self.value


COUNTER_STEPS: dict[str, tuple[Any, ...]] = {
    "add": (lambda c, value: c.add(value), VALUES),
    "add one": (lambda c: c.add(),),
    "add a half": (lambda c: c.add(0.5),),
    "add in place": (lambda c, value: operator.iadd(c, value), VALUES),
    "subtract in place": (lambda c, value: operator.isub(c, value), VALUES),
    "set": (lambda c, value: setattr(c, "value", value), VALUES),
    "get": (lambda c: c.value,),
    "numbers": (lambda c: [int(c), float(c), bool(c)],),
    "compare": (lambda c, value: [c == value, c != value, c == c], VALUES),
    "order": (lambda c, value: [c < value, c <= value, c > value, value <= c], VALUES),
    "order badly": (lambda c: c < "a",),
    "copy": (lambda c, value: independent_count(c, copy.copy(c), value), VALUES),
    "deep copy": (
        lambda c, value: independent_count(c, copy.deepcopy(c), value),
        VALUES,
    ),
    "show": (lambda c: repr(c).partition("(")[2],),
    "unhashable": (hash,),
}


def independent_count(c: Any, copied: Any, value: int) -> object:
    """Change a copy, which must not be seen in the original."""
    before = c.value
    copied.add(value)
    return [type(copied) is type(c), copied.value, before == c.value]


def perform_on_counter(step: Step, target: Any) -> object:
    """Do a step to a counter."""
    name, *arguments = step
    return COUNTER_STEPS[name][0](target, *arguments)


def counter_steps() -> st.SearchStrategy[Step]:
    """Return the steps on counters."""
    return st.sampled_from(sorted(COUNTER_STEPS)).flatmap(
        lambda name: st.tuples(st.just(name), *COUNTER_STEPS[name][1:])
    )
