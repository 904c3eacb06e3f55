"""What one attempt writes to one list, and how the attempt sees the list then.

As long as it only replaces items and appends, it need not know the rest: what it did
not write, it reads item by item. Once it moves items (inserts, deletes, sorts), a
later read needs the whole list::

    loose --move--> moved --read--> known
      `---------------read all------^
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from txloop.cells.list_chunks import Extend, ListOperation, Put, Splice
from txloop.stm.types import Key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from txloop.stm.container import Container, Write

__all__ = ["ListWrites"]

_MANY = 16  # operations; as many cost more than the list as it is then


class ListWrites:
    """The writes of one attempt to one list, in order.

    Attributes:
        container: The list.
        put: Replaced items by index, while it is loose.
        added: Appended items, while it is loose.
        moved: Whether items have been moved: `put` and `added` are in `_done` then.
        known: The whole list as the attempt sees it, or None.
    """

    __slots__ = ("_done", "added", "container", "known", "moved", "put")

    def __init__(self, container: Container) -> None:
        self.container = container
        self.put: dict[int, object] = {}
        self.added: list[object] = []
        self.moved = False
        self.known: list[Any] | None = None
        self._done: list[ListOperation] = []

    @property
    def is_loose(self) -> bool:
        """Whether only single items are known."""
        return not self.moved and self.known is None

    def copy(self) -> ListWrites:
        copied = ListWrites(self.container)
        copied.put = dict(self.put)
        copied.added = list(self.added)
        copied.moved = self.moved
        copied.known = None if self.known is None else list(self.known)
        copied._done = list(self._done)
        return copied

    def in_order(self) -> Iterator[Write]:
        operations = self._operations()
        if self.known is not None and len(operations) > _MANY:
            operations = [Splice(0, None, tuple(self.known))]
        for operation in operations:
            yield self.container, Key.ALL, operation

    def do(self, operation: ListOperation) -> None:
        """Take a write in; an item that it puts must be known to be there."""
        if isinstance(operation, Splice) and operation.is_everything:
            # What was there before does not matter any more.
            self.put, self.added, self._done = {}, [], [operation]
            self.moved = True
            self.known = list(operation.values)
            return
        if self.known is not None:
            operation.apply(self.known)
        if self.moved:
            self._done.append(operation)
        elif isinstance(operation, Put):
            self.put.update(operation.items)
        elif isinstance(operation, Extend):
            self.added += operation.values
        else:
            self._done = [*self._operations(), operation]
            self.moved = True
            self.put, self.added = {}, []

    def put_added(self, index: int, size: int, value: object) -> None:
        """Replace an item that was appended here to a list of that size."""
        self.added[index - size] = value
        if self.known is not None:
            self.known[index] = value

    def know(self, contents: list[Any]) -> list[Any]:
        """Take note of what the list held at the snapshot; return how it is now."""
        if self.known is None:
            for operation in self._operations():
                operation.apply(contents)
            self.known = contents
        return self.known

    def _operations(self) -> list[ListOperation]:
        operations = list(self._done)
        if self.put:
            operations.append(Put(dict(self.put)))
        if self.added:
            operations.append(Extend(tuple(self.added)))
        return operations
