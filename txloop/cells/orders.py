"""The order of objects whose class has ``order=True``, as dataclasses have it."""

from __future__ import annotations

import dataclasses
import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["make_ordered"]

_ORDERS = (operator.lt, operator.le, operator.gt, operator.ge)


def make_ordered(cls: type, plain_class: Callable[[type], type]) -> None:
    """Have objects of a class compare by their fields.

    Args:
        cls: It is a dataclass already; what is derived from it compares by its fields.
        plain_class: Returns of a class what has to be the same for both objects.

    Raises:
        TypeError: if the class has such a method, as in `dataclasses.dataclass`.
    """
    fields: Any = dataclasses.fields(cls)
    names = [field.name for field in fields if field.compare]
    for order in _ORDERS:
        name = f"__{order.__name__}__"
        if name in vars(cls):
            raise TypeError(
                f"Cannot overwrite attribute {name} in class {cls.__name__}. "
                "Consider using functools.total_ordering"
            )
        setattr(cls, name, _comparing(names, order, plain_class))


def _comparing(
    names: list[str],
    order: Callable[[Any, Any], Any],
    plain_class: Callable[[type], type],
) -> Callable[[object, object], object]:
    def compare(self: object, other: object) -> object:
        if plain_class(type(self)) is not plain_class(type(other)):
            return NotImplemented
        mine = tuple([getattr(self, name) for name in names])
        return order(mine, tuple([getattr(other, name) for name in names]))

    compare.__name__ = f"__{order.__name__}__"
    return compare
