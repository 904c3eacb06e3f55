"""TVar: one shared value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from txloop.cells.shareable import shareable
from txloop.errors import TxForgottenError
from txloop.stm.attempt import running
from txloop.stm.container import Container
from txloop.stm.store import committed
from txloop.stm.types import MISSING, Key
from txloop.stm.versions import Entry

if TYPE_CHECKING:
    from txloop.stm.container import Write

__all__ = ["TVar"]

T = TypeVar("T")


class TVar(Container, Generic[T]):
    """One shared value: reading it conflicts with setting it.

    Inside a transaction, reads see the snapshot and the transaction's own writes, and
    writes take effect at its commit. Unmarked code on the loop thread reads and writes
    directly, and each such write commits at once; so does a script without a loop. Any
    thread may read; another thread's write raises `TxThreadError` while a loop runs.

    >>> hits = TVar(0)
    >>> hits.set(hits.get() + 1)
    >>> hits.value
    1
    """

    __slots__ = ()

    def __init__(self, value: T) -> None:
        committed.adopt(self)
        new = shareable(value)
        attempt = running.attempt
        if attempt is None:
            self._tx_cells[Key.VALUE] = new
            self._tx_size = 1
            committed.begin(self)
        else:
            attempt.write(self, Key.VALUE, new)

    def get(self) -> T:
        """Return the value.

        Raises:
            TxForgottenError: if it was made in a transaction that was undone.
        """
        attempt = running.attempt if committed.noting else None
        value: Any  # set() stored a T
        if attempt is None:
            value = self._tx_cells.get(Key.VALUE, MISSING)
            if type(value) is Entry:
                value = value.value
        else:
            value = attempt.read(self, Key.VALUE)
        if value is MISSING:
            raise TxForgottenError(
                f"this {type(self).__name__} was made in a transaction that was "
                "undone, its value too"
            )
        return value  # type: ignore[no-any-return] # a cast takes as long as the rest

    def set(self, value: T) -> None:
        """Replace the value.

        Raises:
            TxValueError: if it is a mutable plain object.
        """
        new = shareable(value)
        attempt = running.attempt
        if attempt is None:
            committed.write(self, Key.VALUE, new)
        else:
            attempt.write(self, Key.VALUE, new)

    @property
    def value(self) -> T:
        """The value, to read and to assign."""
        if not committed.noting:  # as `get`: the call would take as long again
            value: Any = self._tx_cells.get(Key.VALUE, MISSING)
            if value is not MISSING and type(value) is not Entry:
                return value  # type: ignore[no-any-return] # as in `get`
        return self.get()

    @value.setter
    def value(self, value: T) -> None:
        self.set(value)

    def _tx_told(self) -> Write:
        return self, Key.VALUE, self._tx_cells[Key.VALUE]

    def _tx_as_json(self) -> T:
        return self.get()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.get()!r})"
