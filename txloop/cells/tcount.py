"""TCount: a shared `itertools.count`."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, TypeVar

from txloop.cells.likeness import PassesFor
from txloop.cells.tvar import TVar
from txloop.stm.container import reduced_with

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["TCount"]

N = TypeVar("N", int, float)


class TCount(TVar[N]):
    """Numbers one after the other, as those of `itertools.count`.

    Its value is the next one. Drawing it conflicts with every other draw, so that each
    number is drawn once, and none is left out by a transaction that is undone. To count
    what nothing looks at, use a `TCounter`.

    >>> numbers = TCount(1)
    >>> next(numbers), next(numbers)
    (1, 2)
    """

    __slots__ = ("_step",)
    __class__ = PassesFor(itertools.count, "...")

    _step: N  # it never changes, and travels with each reference

    def __init__(self, start: N = 0, step: N = 1) -> None:
        first: Any = next(itertools.count(start, step))  # raises as that does
        super().__init__(first)
        self._step = step

    def __iter__(self) -> Iterator[N]:
        return self

    def __next__(self) -> N:
        number = self.get()
        self.set(number + self._step)
        return number

    def copy(self) -> itertools.count[Any]:
        """Return a plain `itertools.count` that goes on from here."""
        return itertools.count(self.get(), self._step)

    def __copy__(self) -> TCount[N]:
        made: TCount[N] = type(self).__new__(type(self))
        TCount.__init__(made, self.get(), self._step)
        return made

    def __deepcopy__(self, _: object) -> TCount[N]:
        return self.__copy__()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{repr(self.copy()).removeprefix('count')}"

    def _tx_start(self, number: int, cells: Any) -> None:
        super()._tx_start(number, cells)
        self._step = 1

    def __reduce__(self) -> tuple[object, ...]:
        return reduced_with(self, "_step")
