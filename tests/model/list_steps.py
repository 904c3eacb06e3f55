"""What one can do to a list."""

from __future__ import annotations

import copy
import operator
import sys
from collections import deque
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from tests.model.machines import Step

__all__ = [
    "deque_steps",
    "items",
    "list_steps",
    "perform_on_deque",
    "perform_on_list",
]

KEYS = {None: None, "negative": operator.neg, "parity": lambda value: value % 2}

STEPS: dict[str, Any] = {
    "get": lambda x, index: x[index],
    "get slice": lambda x, where: x[where],
    "get badly": lambda x: x["a"],
    "set": lambda x, index, value: operator.setitem(x, index, value),
    "set slice": lambda x, where, values: operator.setitem(x, where, values),
    "set slice to itself": lambda x, where: set_to_itself(x, where),
    "set slice badly": lambda x: operator.setitem(x, slice(1, 2), 5),
    "add to item": lambda x, index: operator.setitem(x, index, x[index] + 1),
    "delete": lambda x, index: operator.delitem(x, index),
    "delete slice": lambda x, where: operator.delitem(x, where),
    "swap": lambda x, one, other: swap(x, one, other),
    "append": lambda x, value: x.append(value),
    "extend": lambda x, values: x.extend(values),
    "extend by itself": lambda x: x.extend(x),
    "extend badly": lambda x: x.extend(5),
    "add in place": lambda x, values: operator.iadd(x, values),
    "repeat in place": lambda x, times: operator.imul(x, times),
    "insert": lambda x, index, value: x.insert(index, value),
    "pop": lambda x: x.pop(),
    "pop at": lambda x, index: x.pop(index),
    "remove": lambda x, value: x.remove(value),
    "clear": lambda x: x.clear(),
    "reverse": lambda x: x.reverse(),
    "sort": lambda x, key, reverse: x.sort(key=KEYS[key], reverse=reverse),
    "sort badly": lambda x: x.sort(key=lambda value: 1 // 0),
    "len": len,
    "bool": bool,
    "iterate": list,
    "go by index": lambda x: [x[index] for index in range(len(x))],
    "reversed": lambda x: list(reversed(x)),
    "in": lambda x, value: value in x,
    "index": lambda x, value: x.index(value),
    "index between": lambda x, value, start, stop: x.index(value, start, stop),
    "count": lambda x, value: x.count(value),
    "copy": lambda x: [x.copy(), type(x.copy()).__name__],
    "shallow copy": lambda x: independent(x, copy.copy(x)),
    "deep copy": lambda x: independent(x, copy.deepcopy(x)),
    "equal": lambda x, other: [x == other, x != other, other == x, x == tuple(other)],
    "equal to itself": lambda x: [x == x, x != x, x == list(x)],
    "order": lambda x, other: [x < other, x <= other, x > other, x >= other],
    "order from the left": lambda x, other: [other < x, other >= x],
    "plus": lambda x, other: [x + other, other + x, x + x],
    "plus badly": lambda x: x + tuple(x),
    "times": lambda x, times: [x * times, times * x],
    "show": lambda x: repr(x).removeprefix("TList(").removesuffix(")"),
    "unhashable": hash,
}


OF_DEQUES: dict[str, Any] = {
    "appendleft": lambda x, value: x.appendleft(value),
    "extendleft": lambda x, values: x.extendleft(values),
    "extendleft by itself": lambda x: x.extendleft(x),
    "popleft": lambda x: x.popleft(),
    "rotate": lambda x, times: x.rotate(times),
    "rotate by one": lambda x: x.rotate(),
    "maxlen": lambda x: [x.maxlen, x.copy().maxlen, copy.copy(x).maxlen],
    "equal deque": lambda x, other: [x == deque(other), deque(other) == x],
    "order of deques": lambda x, other: [
        *(x < deque(other), x <= deque(other), deque(other) > x, x >= deque(other)),
    ],
    "plus deque": lambda x, other: [
        *((x + deque(other)), (deque(other) + x).maxlen, (x + x).maxlen, x * 2),
    ],
    "show": lambda x: repr(x).removeprefix("TDeque").removeprefix("deque"),
}

FOR_DEQUES = {
    name: step
    for name, step in (STEPS | OF_DEQUES).items()
    if name not in ("sort", "sort badly")
}


def set_to_itself(x: Any, where: slice) -> None:
    # With a negative step, PyPy 7.3.19 ends itself in a plain list's assignment.
    plain_on_pypy = sys.implementation.name == "pypy" and isinstance(x, list)
    x[where] = list(x) if plain_on_pypy else x


def swap(x: Any, one: int, other: int) -> None:
    x[one], x[other] = x[other], x[one]


def independent(x: Any, copied: Any) -> object:
    """Change a copy, which must not be seen in the original."""
    before = list(x)
    copied.append(7)
    return [type(copied) is type(x), list(copied), list(x) == before]


def perform_on_list(step: Step, target: Any) -> object:
    """Do a step to a list."""
    name, *arguments = step
    return STEPS[name](target, *arguments)


def perform_on_deque(step: Step, target: Any) -> object:
    """Do a step to a deque."""
    name, *arguments = step
    return FOR_DEQUES[name](target, *arguments)


def list_steps(longest: int) -> st.SearchStrategy[Step]:
    """Return the steps on lists of integers of about that length."""
    return _steps(longest, STEPS)


def deque_steps(longest: int) -> st.SearchStrategy[Step]:
    """Return the steps on deques of integers of about that length."""
    return st.one_of(_steps(longest, FOR_DEQUES), _steps(longest, OF_DEQUES))


def _steps(longest: int, steps_by_name: dict[str, Any]) -> st.SearchStrategy[Step]:
    values = st.integers(0, 4)
    many = st.lists(values, max_size=6)
    indices = st.one_of(st.integers(-3, 3), st.integers(-longest, longest))
    bounds = st.one_of(st.none(), indices)
    steps = st.sampled_from([None, None, None, None, 1, 2, 3, -1, -2, 0])
    slices = st.builds(slice, bounds, bounds, steps)
    arguments: dict[str, list[st.SearchStrategy[Any]]] = {
        "get": [indices],
        "get slice": [slices],
        "set": [indices, values],
        "set slice": [slices, many],
        "set slice to itself": [slices],
        "add to item": [indices],
        "delete": [indices],
        "delete slice": [slices],
        "swap": [indices, indices],
        "append": [values],
        "extend": [many],
        "add in place": [many],
        "repeat in place": [st.integers(-1, 2)],
        "insert": [indices, values],
        "pop at": [indices],
        "remove": [values],
        "sort": [st.sampled_from(list(KEYS)), st.booleans()],
        "in": [values],
        "index": [values],
        "index between": [values, indices, indices],
        "count": [values],
        "equal": [many],
        "order": [many],
        "order from the left": [many],
        "plus": [many],
        "times": [st.integers(-1, 2)],
        "appendleft": [values],
        "extendleft": [many],
        "rotate": [indices],
        "equal deque": [many],
        "order of deques": [many],
        "plus deque": [many],
    }
    return st.sampled_from(sorted(steps_by_name)).flatmap(
        lambda name: st.tuples(st.just(name), *arguments.get(name, []))
    )


def items(longest: int) -> st.SearchStrategy[list[int]]:
    """Return what a list may hold at first."""
    return st.lists(st.integers(0, 4), max_size=longest)
