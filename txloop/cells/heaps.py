"""What `heapq` has, for lists that are shared, too: its own functions take no others.

In the place of ``import heapq``, this module is imported by programs whose lists became
containers (see `sharing`).
"""

from __future__ import annotations

import heapq
import itertools
import operator
from heapq import merge, nlargest, nsmallest
from typing import TYPE_CHECKING, Any

from txloop.cells.tlist import TList

if TYPE_CHECKING:
    from collections.abc import Callable

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


def heapify(x: Any, /) -> None:
    """Do as `heapq.heapify`."""
    if type(x) is not TList:
        heapq.heapify(x)
        return
    ordered = [*x._contents()]
    heapq.heapify(ordered)
    x[:] = ordered


def heappush(heap: Any, item: Any, /) -> None:
    """Do as `heapq.heappush`."""
    if type(heap) is not TList:
        heapq.heappush(heap, item)
        return
    heap.append(item)
    *others, stored = heap._contents()
    _rearrange(heap, others, lambda: heapq.heappush(others, stored))


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
    items = [*heap._contents()]
    _rearrange(heap, items, lambda: heapq.heapreplace(items, items[0]))
    return first


def heappushpop(heap: Any, item: Any, /) -> Any:
    """Do as `heapq.heappushpop`."""
    if type(heap) is not TList:
        return heapq.heappushpop(heap, item)
    return heapreplace(heap, item) if heap and heap[0] < item else item


def _rearrange(heap: Any, items: list[Any], act: Callable[[], object]) -> None:
    """Give a heap the order that a plain list gets, or has got when that raises.

    Who changes a heap reads how long it is, and so conflicts with all who do: that all
    of it is read makes nothing worse.
    """
    before = [*heap._contents()]
    try:
        act()
    finally:
        moved = map(operator.is_not, items, before)
        heap._put(dict(itertools.compress(enumerate(items), moved)))


for _one in (heapify, heappop, heappush, heappushpop, heapreplace):
    _one.__module__ = "heapq"  # what is known of its functions is true of these
