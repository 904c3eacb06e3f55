"""What one can do to a dict."""

from __future__ import annotations

import copy
import operator
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.model.machines import Step

__all__ = [
    "counter_dict_steps",
    "counts",
    "default_dict_steps",
    "dict_steps",
    "dicts",
    "ordered_dict_steps",
    "perform_on_dict",
]

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
    "reversed views": (lambda x: [list(reversed(v)) for v in views_of(x)],),
    "mappings of views": (lambda x: [dict(view.mapping) for view in views_of(x)],),
    "from keys": (lambda x, keys: from_keys(x, keys), st.lists(KEYS, max_size=3)),
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

FACTORIES = st.sampled_from([None, int, list])

OF_DEFAULT_DICTS: dict[str, tuple[Any, ...]] = {
    "get item twice": (lambda x, key: [x[key], x[key], key in x], KEYS),
    "in items": (lambda x, key: [(key, 0) in x.items(), key in x], KEYS),
    "append": (lambda x, key: x[key].append(1), KEYS),
    "set factory": (lambda x, one: setattr(x, "default_factory", one), FACTORIES),
    "factory": (lambda x: x.default_factory,),
    "missing": (lambda x, key: x.__missing__(key), KEYS),
    "factory of copies": (
        lambda x: [one.default_factory for one in (copy.copy(x), x.copy(), x | {})],
    ),
    "show": (lambda x: [type(x.copy()).__name__, list(x.copy())],),
}

ORDERED = st.dictionaries(KEYS, VALUES, max_size=3).map(OrderedDict)

OF_ORDERED_DICTS: dict[str, tuple[Any, ...]] = {
    "move": (lambda x, key: move(x, key, True), KEYS),
    "move to begin": (lambda x, key: move(x, key, False), KEYS),
    "pop": (lambda x, key: by_key(key, lambda: x.pop(key)), KEYS),
    "delete and set": (
        lambda x, key: by_key(key, lambda: x.update({key: x.pop(key)})),
        KEYS,
    ),
    "popitem": (lambda x, last: x.popitem(last), st.booleans()),
    "equal in order": (lambda x, other: [x == other, other == x, x != other], ORDERED),
    "equal backwards": (lambda x: x == OrderedDict(reversed(x.items())),),
    "show": (lambda x: repr(x.copy()),),
}

COUNTS = st.dictionaries(KEYS, st.integers(-2, 3), max_size=3).map(Counter)
OPERATORS = st.sampled_from(
    [
        *(operator.add, operator.sub, operator.and_, operator.or_, operator.eq),
        *(operator.lt, operator.le, operator.gt, operator.ge, operator.ne),
    ]
)
IN_PLACE = st.sampled_from([operator.iadd, operator.isub, operator.iand, operator.ior])

OF_COUNTERS: dict[str, tuple[Any, ...]] = {
    "count": (lambda x, keys: x.update(keys), st.lists(KEYS, max_size=4)),
    "count names": (lambda x, other: x.update(other, a=2), COUNTS),
    "subtract": (lambda x, other: x.subtract(other), COUNTS),
    "subtract each": (lambda x, keys: x.subtract(keys), st.lists(KEYS, max_size=4)),
    "subtract nothing": (lambda x: [x.subtract(), x.subtract(None)],),
    "elements": (lambda x: list(x.elements()),),
    "most common": (lambda x, n: x.most_common(n), st.sampled_from([None, 1, 2])),
    "total": (lambda x: x.total(),),
    "operate": (
        lambda x, how, other: [plain_of(how(x, other)), plain_of(how(other, x))],
        *(OPERATORS, COUNTS),
    ),
    "in place": (lambda x, how, other: how(x, other), IN_PLACE, COUNTS),
    "signs": (lambda x: [plain_of(+x), plain_of(-x)],),
    "show": (lambda x: repr(x).removeprefix("TCounterDict").removeprefix("Counter"),),
}


def plain_of(result: Any) -> object:
    """Return what an operator gave, with its class and its order."""
    if isinstance(result, bool):
        return result
    return type(result).__name__, list(result.items())


def move(x: Any, key: Any, last: bool) -> object:
    # By the key as it is there: a container moves `True` in the place of 1.
    key = next((one for one in x if one == key), key)
    return by_key(key, lambda: x.move_to_end(key, last=last))


def by_key(key: Any, do: Callable[[], object]) -> object:
    """Do what may find no such key.

    CPython's OrderedDict takes a key that is a tuple for the error's arguments.
    """
    try:
        return do()
    except KeyError as error:
        return error.args in ((key,), key)


def views_of(x: Any) -> list[Any]:
    return [x.keys(), x.values(), x.items()]


def from_keys(x: Any, keys: list[Any]) -> object:
    try:
        made = type(x).fromkeys(keys, 5)
    except NotImplementedError as error:  # which names the class
        return str(error).count("fromkeys() is undefined.  Use ")
    return [list(made.items()), type(made) is type(x), list(type(x).fromkeys(keys))]


def independent(x: Any, copied: Any) -> object:
    """Change a copy, which must not be seen in the original."""
    before = dict(x)
    copied["a"] = 7
    return [type(copied) is type(x), list(copied.items()), dict(x) == before]


def perform_on_dict(step: Step, target: Any) -> object:
    """Do a step to a dict of any kind."""
    do, *arguments = step
    return do.run(target, *arguments)


class _Do:
    """What a step does, by its name, which is what is shown of it."""

    def __init__(self, name: str, run: Any) -> None:
        self.name = name
        self.run = run

    def __deepcopy__(self, _: object) -> _Do:
        return self

    def __repr__(self) -> str:
        return repr(self.name)


def _steps_of(steps: dict[str, tuple[Any, ...]]) -> st.SearchStrategy[Step]:
    return st.sampled_from(sorted(steps)).flatmap(
        lambda name: st.tuples(st.just(_Do(name, steps[name][0])), *steps[name][1:])
    )


def dict_steps() -> st.SearchStrategy[Step]:
    """Return the steps on dicts of integers."""
    return _steps_of(STEPS)


def default_dict_steps() -> st.SearchStrategy[Step]:
    """Return the steps on default dicts."""
    return _of_kind(OF_DEFAULT_DICTS)


def ordered_dict_steps() -> st.SearchStrategy[Step]:
    """Return the steps on ordered dicts."""
    return _of_kind(OF_ORDERED_DICTS)


def counter_dict_steps() -> st.SearchStrategy[Step]:
    """Return the steps on counters."""
    return _of_kind(OF_COUNTERS)


def _of_kind(own: dict[str, tuple[Any, ...]]) -> st.SearchStrategy[Step]:
    return st.one_of(_steps_of(own), _steps_of(STEPS | own))


def counts() -> st.SearchStrategy[Counter[Any]]:
    """Return what a counter may hold at first."""
    return COUNTS


def dicts() -> st.SearchStrategy[dict[Any, int]]:
    """Return what a dict may hold at first."""
    return MAPPINGS
