"""How much memory the containers take, beside the plain objects that they stand for."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import txloop
from bench.cells.operations import PlainNumber, SharedPoint, SlotsPoint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ITEMS = 100_000
_OBJECTS = 10_000


@dataclass(frozen=True, slots=True)
class Size:
    """What is weighed: a plain object and a container of the same contents.

    `number` is of items in it, or of objects where each is one.
    """

    name: str
    make_plain: Callable[[], object]
    make_shared: Callable[[], object]
    number: int


@dataclass(frozen=True, slots=True)
class SizeRow:
    """The bytes for one item or object; those of the items themselves are not in it."""

    name: str
    plain_bytes: float
    shared_bytes: float


def sizes() -> tuple[Size, ...]:
    """Return all that are weighed."""
    numbers = list(range(_ITEMS))
    mapping = dict.fromkeys(numbers, 0)
    unordered = set(numbers)

    def many(
        name: str, plain: Callable[[], object], shared: Callable[[], object]
    ) -> Size:
        objects = range(_OBJECTS)
        return Size(
            name,
            lambda: [plain() for _ in objects],
            lambda: [shared() for _ in objects],
            _OBJECTS,
        )

    return (
        Size("TDict, an item", mapping.copy, lambda: txloop.TDict(mapping), _ITEMS),
        Size("TList, an item", numbers.copy, lambda: txloop.TList(numbers), _ITEMS),
        Size(
            "TSet, an element", unordered.copy, lambda: txloop.TSet(unordered), _ITEMS
        ),
        many("TDict, empty", dict, txloop.TDict),
        many("TList, empty", list, txloop.TList),
        many("TVar", PlainNumber, lambda: txloop.TVar(0)),
        many("TObject of 2", lambda: SlotsPoint(1, 2), lambda: SharedPoint(1, 2)),
    )


def weigh(weighed: Sequence[Size]) -> list[SizeRow]:
    """Return the rows; none on PyPy, which cannot tell."""
    if sys.implementation.name == "pypy":
        return []
    return [
        SizeRow(
            one.name,
            _bytes_of(one.make_plain) / one.number,
            _bytes_of(one.make_shared) / one.number,
        )
        for one in weighed
    ]


def _bytes_of(make: Callable[[], object]) -> int:
    import tracemalloc  # PyPy has none

    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        made = make()
        after, _ = tracemalloc.get_traced_memory()
        del made
        return after - before
    finally:
        tracemalloc.stop()
