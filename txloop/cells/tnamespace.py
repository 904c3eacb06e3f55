"""TNamespace: a shared object with attributes of any name."""

from __future__ import annotations

from txloop.cells.tobject import TObject

__all__ = ["TNamespace"]


class TNamespace(TObject, dataclass=False, open=True):
    """An object with shared attributes that nothing declares.

    It is for classes whose attributes get their names at run time, by `setattr` or
    ``vars(item).update(...)``. `vars` shows them in the order in which they were set,
    as of a plain object. The rest is as in a `TObject` with ``dataclass=False``.

    >>> class Item(TNamespace):
    ...     def __init__(self, **given):
    ...         vars(self).update(given)
    >>> item = Item(name="pear")
    >>> item.count = 3
    >>> vars(item)
    {'name': 'pear', 'count': 3}
    """

    __slots__ = ()
