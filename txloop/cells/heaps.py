"""What `heapq` has, for lists that are shared, too: its own functions take no others.

In the place of ``import heapq``, this module is imported by programs whose lists became
containers (see `sharing`).
"""

from __future__ import annotations

import heapq
from heapq import merge, nlargest, nsmallest
from typing import Any

from txloop.cells.tlist import TList

__all__ = [
    "heapify",
    "heappop",
    "heappush",
    "heappushpop",
    "heapreplace",
    "merge",
    "nlargest",
    "nsmallest",
]

# Code of `heapq` in Python, which asks nothing of a list but items and its length.
_sift_down: Any = heapq._siftdown  # type: ignore[attr-defined] # not in typeshed
_sift_up: Any = heapq._siftup  # type: ignore[attr-defined] # not in typeshed


def heapify(x: Any, /) -> None:
    """Do as `heapq.heapify`."""
    if type(x) is not TList:
        heapq.heapify(x)
        return
    ordered = [*x]
    heapq.heapify(ordered)
    x[:] = ordered


def heappush(heap: Any, item: Any, /) -> None:
    """Do as `heapq.heappush`."""
    if type(heap) is not TList:
        heapq.heappush(heap, item)
        return
    heap.append(item)
    _sift_down(heap, 0, len(heap) - 1)


def heappop(heap: Any, /) -> Any:
    """Do as `heapq.heappop`."""
    if type(heap) is not TList:
        return heapq.heappop(heap)
    if not heap:
        return heapq.heappop([])  # raises what it raises
    last = heap.pop()
    return heapreplace(heap, last) if heap else last


def heapreplace(heap: Any, item: Any, /) -> Any:
    """Do as `heapq.heapreplace`."""
    if type(heap) is not TList:
        return heapq.heapreplace(heap, item)
    if not heap:
        return heapq.heapreplace([], item)  # raises what it raises
    first = heap[0]
    heap[0] = item
    _sift_up(heap, 0)
    return first


def heappushpop(heap: Any, item: Any, /) -> Any:
    """Do as `heapq.heappushpop`."""
    if type(heap) is not TList:
        return heapq.heappushpop(heap, item)
    return heapreplace(heap, item) if heap and heap[0] < item else item


for _one in (heapify, heappop, heappush, heappushpop, heapreplace):
    _one.__module__ = "heapq"  # what is known of its functions is true of these
