"""Heaps that are shared: as those of heapq."""

from __future__ import annotations

import heapq
import random
from typing import Any

import pytest

import txloop
from tests.engine import running
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


@pytest.mark.parametrize("name", ["heappush", "heapreplace", "heappushpop"])
@pytest.mark.parametrize("kind", [txloop.TList, list])
def test_what_cannot_be_compared_leaves_what_heapq_leaves(name, kind):
    plain, heap = [1, 2, 3, 4, 5, 6, 7], kind([1, 2, 3, 4, 5, 6, 7])
    for module, target in ((heapq, plain), (heaps, heap)):
        with pytest.raises(TypeError, match="not supported between"):
            getattr(module, name)(target, "a word")

    assert plain == [*heap]


def test_a_dict_that_is_pushed_is_shared():
    heap: txloop.TList[Any] = txloop.TList([(1, 2)])

    for number in range(5):
        heaps.heappush(heap, (number, 9 - number, {"n": number}))
    heaps.heapreplace(heap, (0, 0, {"n": 7}))

    assert {txloop.TDict} == {type(item[-1]) for item in heap if len(item) == 3}


def test_transactions_push_and_pop():
    with running("processes") as engine:
        heap = txloop.TList([5, 3])
        heaps.heapify(heap)
        pushes = [engine.submit(heaps.heappush, heap, number) for number in range(9)]
        engine.wait(*pushes)

        assert [0, 1, 2, 3] == [engine.run(heaps.heappop, heap) for _ in range(4)]
    assert [3, 4, 5, 5, 6, 7, 8] == sorted(heap)
