"""Lists that `heapq` keeps in order become containers, too."""

from __future__ import annotations

import pytest

from tests.sharing.rounds import shared

HEAPS = {
    "all": ("from heapq import *", "from txloop.cells.heaps import *", "heappush"),
    "a module": (
        "import heapq",
        "import txloop.cells.heaps as heapq",
        "heapq.heappush",
    ),
    "another name": (
        "import os, heapq as q",
        "import os, txloop.cells.heaps as q",
        "q.heappush",
    ),
    "a function": (
        "from heapq import heappush as push",
        "from txloop.cells.heaps import heappush as push",
        "push",
    ),
}


@pytest.mark.parametrize("case", HEAPS)
def test_a_heap_is_a_container_and_stores_what_is_pushed(case):
    before, after, push = HEAPS[case]
    source = f"""
{before}
heap = []
def f():
    x = [1]
    {push}(heap, x)
    x.append(2)
"""
    text = shared(source, "heap")

    assert f"{after}\nheap = txloop.share([])" in text
    assert "x = txloop.share([1])" in text
