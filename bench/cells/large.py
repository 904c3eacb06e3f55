"""What is timed once in each turn: containers of a million items, made as a whole."""

from __future__ import annotations

import copy
import gc
from functools import cache
from typing import Any

import txloop
from bench.cells.operations import Operation


def large_operations(many: int = 1_000_000) -> tuple[Operation, ...]:
    """Return them all, for containers of so many items."""

    @cache
    def numbers() -> list[int]:
        return list(range(many))

    @cache
    def mapping() -> dict[int, int]:
        return dict.fromkeys(numbers(), 0)

    @cache
    def rows() -> dict[int, tuple[int, str]]:
        return {number: (number, "a") for number in numbers()}

    @cache
    def records() -> list[object]:
        return [
            {"id": n, "name": "a", "score": 1.5, "team": None, "last": [n, 2, 3, 4]}
            for n in range(many // 8)
        ]

    @cache
    def grid() -> list[list[int]]:
        return [[0] * 1000 for _ in range(many // 1000)]

    def one(
        name: str, statement: str, plain: object, shared: object, given: object
    ) -> Operation:
        # What is given is made when it is first needed, and kept by its `cache`.
        make: Any = given
        return Operation(
            f"of {many:,}",
            name,
            # `timeit` switches the garbage collector off; of so many, it has its part.
            f"gc.enable(); {statement}",
            lambda: {"make": plain, "given": make(), "gc": gc},
            lambda: {"make": shared, "given": make(), "gc": gc},
            number=1,
        )

    made, updated = "made = make(given)", "made = make(); made.update(given)"
    extended = "made = make(); made.extend(given)"
    paired = "made = make(given.items())"
    deeply = copy.deepcopy
    return (
        one("TDict", made, dict, txloop.TDict, mapping),
        one("TDict of tuples", made, dict, txloop.TDict, rows),
        one("TDict, updated", updated, dict, txloop.TDict, mapping),
        one("TDict of pairs", paired, dict, txloop.TDict, mapping),
        one("TSet", made, set, txloop.TSet, numbers),
        one("TList", made, list, txloop.TList, numbers),
        one("TList, extended", extended, list, txloop.TList, numbers),
        one("share lists of 1000", made, deeply, txloop.share, grid),
        one("share records of 8, in 2 containers", made, deeply, txloop.share, records),
    )
