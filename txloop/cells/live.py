"""A `for` that sees what its body does to the list, as over a plain list.

A list is gone over by index, so that one who deletes the item at hand skips the next.
Programs that were written for plain lists do that, rightly or not. The loop gets a list
of its own, which follows what its own code does to the shared one; what others commit
meanwhile it does not see.
"""

from __future__ import annotations

import functools
import itertools
import threading
from typing import TYPE_CHECKING, Any

from txloop.stm.attempt import Attempt, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from txloop.cells.list_cells import ListCells

__all__ = ["make_live"]


class _GoneOver(threading.local):
    """The lists that loops of this thread go over: number, attempt, and items."""

    def __init__(self) -> None:
        self.lists: dict[int, tuple[int, Attempt | None, list[Any]]] = {}


_keys = itertools.count()
_gone_over = _GoneOver()


def make_live(kind: Any) -> None:
    """Let a `for` over lists of a class see what its body does to them."""
    if kind.__iter__ is not _iterate:
        kind.__iter__ = _iterate
        # All that writes comes to one of these two.
        kind._do, kind._put = _followed(kind._do), _followed(kind._put)


def _iterate(shared: ListCells) -> Iterator[Any]:
    key, items = next(_keys), list(shared._contents())
    lists = _gone_over.lists
    lists[key] = shared._number, running.attempt, items
    try:
        yield from items
    finally:
        lists.pop(key, None)  # another thread may end it


def _followed(
    write: Callable[[ListCells, Any], None],
) -> Callable[[ListCells, Any], None]:
    @functools.wraps(write)
    def followed(self: ListCells, written: Any) -> None:
        write(self, written)
        for number, attempt, items in list(_gone_over.lists.values()):
            if number == self._number and attempt is running.attempt:
                items[:] = self._contents()

    return followed
