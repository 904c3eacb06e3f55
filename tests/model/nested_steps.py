"""What one can do to lists, dicts and sets within each other."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from txloop import plain

if TYPE_CHECKING:
    from tests.model.machines import Step

__all__ = ["nested_steps", "perform_on_nested", "trees"]

NAMES = st.sampled_from(["a", "b", "c"])
PLACES = st.one_of(NAMES, st.integers(-2, 2))
PATHS = st.lists(PLACES, max_size=2)
SCALARS = st.one_of(st.integers(0, 2), st.just("text"), st.none())
TREES = st.recursive(
    st.one_of(SCALARS, st.sets(st.integers(0, 2), max_size=2)),
    lambda parts: st.one_of(
        st.lists(parts, max_size=3),
        st.dictionaries(NAMES, parts, max_size=2),
        st.tuples(parts),
    ),
    max_leaves=4,
)
MANY = st.one_of(
    st.dictionaries(NAMES, TREES, max_size=2), st.sets(st.integers(0, 2), max_size=2)
)


def put(root: Any, path: list[Any], place: Any, value: object) -> None:
    at(root, path)[place] = value


def alias(root: Any, one: Any, other: Any) -> None:
    """Put what stands in one place of the root into another one, too."""
    root[one] = root[other]


STEPS: dict[str, tuple[Any, ...]] = {
    "show": (lambda root, path: at(root, path), PATHS),
    "set": (put, PATHS, PLACES, TREES),
    "delete": (
        lambda root, path, place: at(root, path).__delitem__(place),
        PATHS,
        PLACES,
    ),
    "pop": (lambda root, path, place: at(root, path).pop(place), PATHS, PLACES),
    "append": (lambda root, path, value: at(root, path).append(value), PATHS, TREES),
    "insert": (lambda root, path, value: at(root, path).insert(0, value), PATHS, TREES),
    "add": (lambda root, path, value: at(root, path).add(value), PATHS, SCALARS),
    "update": (lambda root, path, many: at(root, path).update(many), PATHS, MANY),
    "setdefault": (
        lambda root, path, value: at(root, path).setdefault("a", {}).update(b=value),
        PATHS,
        TREES,
    ),
    "reverse": (lambda root, path: at(root, path).reverse(), PATHS),
    "clear": (lambda root, path: at(root, path).clear(), PATHS),
    "alias": (alias, NAMES, NAMES),
    "is one object": (lambda root, one, other: root[one] is root[other], NAMES, NAMES),
    "in": (lambda root, path, value: value in at(root, path), PATHS, TREES),
    "equal": (lambda root, path, value: at(root, path) == value, PATHS, TREES),
    "equal to a copy": (
        lambda root, path: at(root, path) == made_plain(at(root, path)),
        PATHS,
    ),
    "deep copy": (lambda root, path: separate(root, path), PATHS),
    "len": (lambda root, path: len(at(root, path)), PATHS),
}


def at(root: Any, path: list[Any]) -> Any:
    """Return what stands at a path, as far as it leads."""
    for place in path:
        if not isinstance(root, Mapping | Sequence) or isinstance(root, str):
            break
        if isinstance(place, str) is not isinstance(root, Mapping):
            break
        root = root[place]
    return root


def made_plain(value: Any) -> Any:
    """Return a plain copy of shared and plain objects alike."""
    return copy.deepcopy(plain(value))


def separate(root: Any, path: list[Any]) -> object:
    """Change a deep copy, which must not be seen in the original."""
    target = at(root, path)
    before = made_plain(target)
    copied = copy.deepcopy(target)
    if isinstance(copied, Mapping):
        copied["new"] = {}  # type: ignore[index] # all of them are mutable
        for part in copied.values():
            if isinstance(part, Mapping):
                part["inside"] = 1  # type: ignore[index] # as above
    return [copied, target == before, type(copied) is type(target)]


def perform_on_nested(step: Step, target: Any) -> object:
    """Do a step somewhere in a dict of lists, dicts and sets."""
    name, *arguments = step
    try:
        return STEPS[name][0](target, *arguments)
    except AttributeError:
        return "cannot do that"


def nested_steps() -> st.SearchStrategy[Step]:
    """Return the steps on a dict of whatever."""
    return st.sampled_from(sorted(STEPS)).flatmap(
        lambda name: st.tuples(st.just(name), *STEPS[name][1:])
    )


def trees() -> st.SearchStrategy[dict[str, Any]]:
    """Return what the root may hold at first."""
    return st.dictionaries(NAMES, TREES, max_size=3)
