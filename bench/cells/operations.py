"""What is timed: the same statement on a plain object and on a container."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import txloop
from bench.cells.search import find_path_cell_by_cell
from handlers.astar_game import make_walls
from handlers.astar_search import find_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SIZE = 1000
_MAP_SIZE = 100
_WALLS_PERCENT = 25
_QUERIES = 10
_SEED = 1


@dataclass(frozen=True, slots=True)
class Operation:
    """One statement, and what it is run on.

    `make_plain` and `make_shared` return its names, made anew for each sample, in which
    it runs `number` times. `plain_statement` stands where that is written otherwise.
    """

    container: str
    name: str
    statement: str
    make_plain: Callable[[], Mapping[str, object]]
    make_shared: Callable[[], Mapping[str, object]]
    number: int = 1000
    plain_statement: str | None = None


class PlainPoint:
    """What a TObject stands beside: an object with a `__dict__`."""

    def __init__(self, x: int, y: int) -> None:
        self.x = x
        self.y = y


class SlotsPoint:
    """The least that an object of two attributes can be."""

    __slots__ = ("x", "y")

    def __init__(self, x: int, y: int) -> None:
        self.x = x
        self.y = y


class SharedPoint(txloop.TObject):
    """The same, shared."""

    x: int
    y: int


class PlainNumber:
    """What a TVar and a TCounter stand beside."""

    def __init__(self) -> None:
        self.value = 0


@dataclass(frozen=True)
class Record:
    """What does not change, as many programs keep it."""

    name: str
    score: int


def operations() -> tuple[Operation, ...]:
    """Return all of them, by container; `bench.cells.large` has those of many items."""
    return (
        *_of_controls(),
        *_of_variables(),
        *_of_dicts(),
        *_of_lists(),
        *_of_sets(),
        *_of_objects(),
        *_of_counters(),
        *_of_constructors(),
        *_of_searches(),
    )


def _of_controls() -> tuple[Operation, ...]:
    """Return what differs on no side: how far its ratios are from 1 is chance."""

    def both() -> Mapping[str, object]:
        return {"d": dict.fromkeys(range(_SIZE), 0)}

    return (
        Operation("control", "get from a dict", "d[500]", both, both),
        Operation("control", "copy a dict of 1000", "d.copy()", both, both, 10),
    )


def _of_variables() -> tuple[Operation, ...]:
    def plain() -> Mapping[str, object]:
        return {"v": PlainNumber()}

    def shared() -> Mapping[str, object]:
        return {"v": txloop.TVar(0)}

    return (
        Operation("TVar", "get", "v.value", plain, shared),
        Operation("TVar", "set", "v.value = 1", plain, shared),
        Operation("TVar", "get and set", "v.value += 1", plain, shared),
    )


def _of_dicts() -> tuple[Operation, ...]:
    def plain() -> Mapping[str, object]:
        return {"d": dict.fromkeys(range(_SIZE), 0)}

    def shared() -> Mapping[str, object]:
        return {"d": txloop.TDict(dict.fromkeys(range(_SIZE), 0))}

    def one(name: str, statement: str, number: int = 1000) -> Operation:
        return Operation("TDict", name, statement, plain, shared, number)

    return (
        one("get a key", "d[500]"),
        one("get with a default", "d.get(-1, 0)"),
        one("set a key", "d[500] = 1"),
        one("in", "500 in d"),
        one("len", "len(d)"),
        one("insert and delete", "d[-1] = 1; del d[-1]"),
        one("update 1000", "d.update(dict.fromkeys(range(1000), 1))", 10),
        one("iterate 1000 keys", "for _ in d: pass", 10),
        one("iterate 1000 items", "for _ in d.items(): pass", 10),
        one("copy 1000", "d.copy()", 10),
    )


def _of_lists() -> tuple[Operation, ...]:
    def plain() -> Mapping[str, object]:
        return {"l": list(range(_SIZE))}

    def shared() -> Mapping[str, object]:
        return {"l": txloop.TList(range(_SIZE))}

    def plain_grid() -> Mapping[str, object]:
        return {"grid": _walls()}

    def shared_grid() -> Mapping[str, object]:
        return {"grid": txloop.share(_walls())}

    def one(name: str, statement: str, number: int = 1000) -> Operation:
        return Operation("TList", name, statement, plain, shared, number)

    def nested(name: str, statement: str, number: int = 1000) -> Operation:
        return Operation("TList", name, statement, plain_grid, shared_grid, number)

    every_cell = "for row in grid:\n for _ in row: pass"
    return (
        one("get an item", "l[500]"),
        one("set an item", "l[500] = 1"),
        one("append", "l.append(1)", 100),
        one("append and pop", "l.append(1); l.pop()"),
        one("len", "len(l)"),
        one("in, half way", "500 in l", 10),
        one("slice of 100", "l[100:200]", 100),
        one("iterate 1000", "for _ in l: pass", 10),
        one("copy 1000", "l.copy()", 10),
        nested("get from a grid", "grid[50][50]"),
        nested("set in a grid", "grid[50][50] = 1"),
        nested("iterate a grid of 100 x 100", every_cell, 1),
    )


def _of_sets() -> tuple[Operation, ...]:
    def plain() -> Mapping[str, object]:
        return {"s": set(range(_SIZE))}

    def shared() -> Mapping[str, object]:
        return {"s": txloop.TSet(range(_SIZE))}

    def one(name: str, statement: str, number: int = 1000) -> Operation:
        return Operation("TSet", name, statement, plain, shared, number)

    return (
        one("in", "500 in s"),
        one("add what is there", "s.add(500)"),
        one("add and remove", "s.add(-1); s.remove(-1)"),
        one("len", "len(s)"),
        one("iterate 1000", "for _ in s: pass", 10),
        one("copy 1000", "s.copy()", 10),
    )


def _of_objects() -> tuple[Operation, ...]:
    def plain() -> Mapping[str, object]:
        return {"o": PlainPoint(1, 2)}

    def shared() -> Mapping[str, object]:
        return {"o": SharedPoint(1, 2)}

    return (
        Operation("TObject", "get an attribute", "o.x", plain, shared),
        Operation("TObject", "set an attribute", "o.x = 1", plain, shared),
        Operation("TObject", "get and set", "o.x += 1", plain, shared),
    )


def _of_counters() -> tuple[Operation, ...]:
    def plain() -> Mapping[str, object]:
        return {"c": PlainNumber()}

    def shared() -> Mapping[str, object]:
        return {"c": txloop.TCounter()}

    def one(name: str, statement: str, plain_statement: str | None = None) -> Operation:
        return Operation(
            "TCounter", name, statement, plain, shared, plain_statement=plain_statement
        )

    return (
        one("add", "c.add(1)", "c.value += 1"),
        one("get the value", "c.value"),
    )


def _of_constructors() -> tuple[Operation, ...]:
    numbers = list(range(_SIZE))
    mapping = dict.fromkeys(numbers, 0)
    tuples = {number: (number, "a") for number in numbers}
    records = {number: Record("a", number) for number in numbers}
    nested = {number: {"tags": ["a", "b"], "n": number} for number in range(_SIZE)}

    def one(
        name: str, plain: object, shared: object, given: tuple[object, ...]
    ) -> Operation:
        return Operation(
            "construction",
            name,
            "make(*given)",
            lambda: {"make": plain, "given": given},
            lambda: {"make": shared, "given": given},
            number=10,
        )

    size = f"of {_SIZE}"
    return (
        one(f"TDict {size}", dict, txloop.TDict, (mapping,)),
        one(f"TList {size}", list, txloop.TList, (numbers,)),
        one(f"TSet {size}", set, txloop.TSet, (set(numbers),)),
        one("TDict, empty", dict, txloop.TDict, ()),
        one(f"TDict {size} tuples", dict, txloop.TDict, (tuples,)),
        one(f"TDict {size} frozen dataclasses", dict, txloop.TDict, (records,)),
        one("TObject of 2", SlotsPoint, SharedPoint, (1, 2)),
        one(f"share {size} nested", copy.deepcopy, txloop.share, (nested,)),
    )


def _of_searches() -> tuple[Operation, ...]:
    walls = _walls()
    chance = random.Random(_SEED)
    free = [
        (x, y) for y, row in enumerate(walls) for x, wall in enumerate(row) if not wall
    ]
    queries = [tuple(chance.sample(free, 2)) for _ in range(_QUERIES)]

    def one(name: str, find: Callable[..., object]) -> Operation:
        rest = {"find": find, "queries": queries}
        return Operation(
            "A* search",
            name,
            "for start, goal in queries: find(grid, start, goal)",
            lambda: {"grid": _walls(), **rest},
            lambda: {"grid": txloop.share(_walls()), **rest},
            number=1,
        )

    return (
        one(f"of the game, {_QUERIES} paths", find_path),
        one(f"cell by cell, {_QUERIES} paths", find_path_cell_by_cell),
    )


def _walls() -> list[list[int]]:
    return make_walls(_MAP_SIZE, _MAP_SIZE, _WALLS_PERCENT, _SEED)
