"""What one can do to a dict."""

from __future__ import annotations

import copy
import operator
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from tests.model.machines import Step

__all__ = ["dict_steps", "dicts", "perform_on_dict"]

KEYS = st.sampled_from(["a", "b", "c", "d", 1, True, (1, 2)])
VALUES = st.integers(0, 3)
MAPPINGS = st.dictionaries(KEYS, VALUES, max_size=4)
PAIRS = st.lists(st.tuples(KEYS, VALUES), max_size=4)

STEPS: dict[str, tuple[Any, ...]] = {
    "get item": (lambda x, key: x[key], KEYS),
    "get": (lambda x, key: [x.get(key), x.get(key, 9)], KEYS),
    "set": (lambda x, key, value: operator.setitem(x, key, value), KEYS, VALUES),
    "set badly": (lambda x: operator.setitem(x, [], 1),),
    "add": (lambda x, key: operator.setitem(x, key, x[key] + 1), KEYS),
    "delete": (lambda x, key: operator.delitem(x, key), KEYS),
    "delete and set": (lambda x, key: x.update({key: x.pop(key)}), KEYS),
    "in": (lambda x, key: key in x, KEYS),
    "len": (len,),
    "bool": (bool,),
    "iterate": (list,),
    "reversed": (lambda x: list(reversed(x)),),
    "keys": (lambda x, key: [list(x.keys()), key in x.keys(), len(x.keys())], KEYS),  # noqa: SIM118
    "set of keys": (
        lambda x, one: [x.keys() & one.keys(), x.keys() - one.keys()],
        MAPPINGS,
    ),
    "values": (lambda x, value: [list(x.values()), value in x.values()], VALUES),
    "items": (
        lambda x, pair: [list(x.items()), pair in x.items()],
        st.tuples(KEYS, VALUES),
    ),
    "pop": (lambda x, key: x.pop(key), KEYS),
    "pop with default": (lambda x, key: x.pop(key, 9), KEYS),
    "popitem": (lambda x: x.popitem(),),
    "setdefault": (lambda x, key, value: x.setdefault(key, value), KEYS, VALUES),
    "clear": (lambda x: x.clear(),),
    "update": (lambda x, other: x.update(other), MAPPINGS),
    "update with pairs": (lambda x, pairs: x.update(pairs), PAIRS),
    "update with names": (lambda x, value: x.update(a=value, b=value), VALUES),
    "update by itself": (lambda x: x.update(x),),
    "update badly": (lambda x: x.update(5),),
    "copy": (lambda x: [x.copy(), type(x.copy()).__name__],),
    "shallow copy": (lambda x: independent(x, copy.copy(x)),),
    "deep copy": (lambda x: independent(x, copy.deepcopy(x)),),
    "or": (
        lambda x, other: [list((x | other).items()), list((other | x).items())],
        MAPPINGS,
    ),
    "or badly": (lambda x, pairs: x | pairs, PAIRS),
    "or in place": (lambda x, other: operator.ior(x, other), MAPPINGS),
    "or in place with pairs": (lambda x, pairs: operator.ior(x, pairs), PAIRS),
    "equal": (lambda x, other: [x == other, x != other, other == x, x == 5], MAPPINGS),
    "equal to itself": (lambda x: [x == x, x != x, x == dict(x)],),
    "unhashable": (hash,),
    "show": (lambda x: repr(x).removeprefix("TDict(").removesuffix(")"),),
}


def independent(x: Any, copied: Any) -> object:
    """Change a copy, which must not be seen in the original."""
    before = dict(x)
    copied["a"] = 7
    return [type(copied) is type(x), list(copied.items()), dict(x) == before]


def perform_on_dict(step: Step, target: Any) -> object:
    """Do a step to a dict."""
    name, *arguments = step
    return STEPS[name][0](target, *arguments)


def dict_steps() -> st.SearchStrategy[Step]:
    """Return the steps on dicts of integers."""
    return st.sampled_from(sorted(STEPS)).flatmap(
        lambda name: st.tuples(st.just(name), *STEPS[name][1:])
    )


def dicts() -> st.SearchStrategy[dict[Any, int]]:
    """Return what a dict may hold at first."""
    return MAPPINGS
