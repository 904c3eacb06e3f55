"""TCounter and TCount: a number to which many add at once, or drawn one by one."""

from __future__ import annotations

import functools
import itertools
import math
import numbers
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

from txloop.cells.likeness import PassesFor, PassingType
from txloop.cells.tvar import TVar
from txloop.errors import TxForgottenError, TxValueError
from txloop.stm.attempt import running
from txloop.stm.container import NEWEST, Container, Operation, reduced_with
from txloop.stm.store import committed
from txloop.stm.types import MISSING, Key

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from txloop.stm.container import Write

__all__ = ["TCount", "TCounter"]

N = TypeVar("N", int, float)


class _Add(Operation):
    """Add to what the counter has when this commits."""

    __slots__ = ("amount",)

    def __init__(self, amount: Any) -> None:
        self.amount = amount

    def __reduce__(self) -> tuple[object, ...]:
        return _Add, (self.amount,)

    def cells(self, container: Container) -> Iterator[tuple[Hashable, object]]:
        value: Any = committed.read_at(container, Key.VALUE, NEWEST)
        yield Key.VALUE, _sum(0 if value is MISSING else value, self.amount)

    def mapped(self, convert: Callable[[object], object]) -> _Add:
        return self  # numbers travel


@functools.total_ordering
class TCounter(Container, Generic[N]):
    """A number that is added to: two `add` never conflict, whatever their order.

    Reading the value conflicts with every change of it, so a transaction that only
    counts should not look. It compares and prints like its value; the rest is as in
    `TVar`.

    >>> hits = TCounter()
    >>> hits.add()
    >>> hits.add(2)
    >>> hits.value
    3
    """

    __slots__ = ()
    __hash__: ClassVar[None] = None  # type: ignore[assignment] # mutable, compares by value

    @overload
    def __init__(self: TCounter[int]) -> None: ...
    @overload
    def __init__(self, value: N) -> None: ...
    def __init__(self, value: Any = 0) -> None:
        committed.adopt(self)
        number = _number(value)
        if running.attempt is None:
            self._tx_cells[Key.VALUE] = number
            self._tx_size = 1
            committed.begin(self)
        else:
            self._write(number)

    def add(self, amount: N = 1) -> None:
        """Add `amount`, which may be negative; nothing is read.

        Raises:
            TxValueError: if it is not a real number.
        """
        new: object = _Add(_number(amount))
        attempt = running.attempt
        own = None if attempt is None else attempt.writes.get(self._tx_number)
        if own is not None:
            before = own.values[Key.VALUE]
            if isinstance(before, _Add):
                new = _Add(before.amount + amount)
            else:
                new = before + amount
        self._write(new)

    @property
    def value(self) -> N:
        """The number, to read and to assign.

        Raises:
            TxForgottenError: if it was made in a transaction that was undone.
        """
        attempt = running.attempt
        if attempt is None:
            value: Any = committed.read_at(self, Key.VALUE, NEWEST)
        else:
            own = attempt.writes.get(self._tx_number)
            mine = None if own is None else own.values[Key.VALUE]
            if own is not None and not isinstance(mine, _Add):
                value = mine
            else:
                attempt.values.add((self._tx_number, Key.VALUE))
                value = committed.read_at(self, Key.VALUE, attempt.snapshot)
                if self._tx_forgotten:
                    attempt.refuse(self)
                if isinstance(mine, _Add):
                    value += mine.amount
        if value is MISSING:
            raise TxForgottenError(
                f"this {type(self).__name__} was made in a transaction that was "
                "undone, its value too"
            )
        number: N = value
        return number

    @value.setter
    def value(self, value: N) -> None:
        self._write(_number(value))

    def __iadd__(self, amount: N) -> TCounter[N]:
        self.add(amount)
        return self

    def __isub__(self, amount: N) -> TCounter[N]:
        self.add(-amount)
        return self

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __eq__(self, other: object) -> bool:
        mine: object = self.value
        return mine == (other.value if isinstance(other, TCounter) else other)

    def __lt__(self, other: Any) -> bool:
        return bool(
            self.value < (other.value if isinstance(other, TCounter) else other)
        )

    def __copy__(self) -> TCounter[N]:
        made: TCounter[N] = type(self).__new__(type(self))
        TCounter.__init__(made, self.value)
        return made

    def __deepcopy__(self, _: object) -> TCounter[N]:
        return self.__copy__()

    def _tx_told(self) -> Write:
        return self, Key.VALUE, self._tx_cells[Key.VALUE]

    def _tx_as_json(self) -> N:
        return self.value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"

    def _write(self, new: object) -> None:
        attempt = running.attempt
        if attempt is None:
            committed.install([(self, Key.VALUE, new)])
        else:
            attempt.write(self, Key.VALUE, new)


def _sum(value: Any, amount: Any) -> Any:
    """Add as ``+`` does, which must not fail at a commit: beyond floats is infinity."""
    try:
        return value + amount
    except OverflowError:
        return math.inf if max(value, amount, key=abs) > 0 else -math.inf


def _number(value: object) -> Any:
    # Only these can all be added to each other, whatever was committed meanwhile.
    if type(value) is not int and not isinstance(value, numbers.Real):
        raise TxValueError(f"a TCounter counts in real numbers, not {value!r}")
    return value


class TCount(TVar[N], metaclass=PassingType):
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
