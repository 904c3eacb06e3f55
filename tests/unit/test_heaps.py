"""Heaps that are shared: as those of heapq."""

from __future__ import annotations

import heapq
import random

import pytest

import txloop
from txloop.cells import heaps

CALLS = ("heappush", "heappop", "heapreplace", "heappushpop", "heapify")


def after(module, heap, seed):
    """Return what some calls gave, and what is in the heap then."""
    chance = random.Random(seed)
    given: list[object] = []
    for _ in range(40):
        name = chance.choice(CALLS)
        more = [(chance.randrange(9), chance.random())] * (name not in CALLS[1::3])
        try:
            given.append(getattr(module, name)(heap, *more))
        except IndexError as error:
            given.append(str(error))
        if name == "heapify":
            heap.append((chance.randrange(9), 0.5))
            heap.reverse()
            getattr(module, name)(heap)
    return given, [*heap]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", [txloop.TList, list])
def test_a_shared_heap_is_as_a_plain_one(kind, seed):
    assert after(heapq, [], seed) == after(heaps, kind(), seed)
