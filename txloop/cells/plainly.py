"""Plain copies for what does not know containers, however deep these are in it.

`plain` returns what is no container as it is. A list with a container in it would still
have that: so what is given to `pickle` is gone through as well, where it is plain.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

from txloop.cells.share import PlainCopies

__all__ = ["plainly"]

_MAPPINGS = (dict, Counter, OrderedDict, defaultdict)


def plainly(value: Any) -> Any:
    """Return a copy without containers, in which each object is one object, too.

    >>> import txloop
    >>> row = txloop.TList([1])
    >>> copied = plainly({"a": [row], "b": row})
    >>> copied, copied["a"][0] is copied["b"]
    ({'a': [[1]], 'b': [1]}, True)
    """
    return _Through().convert(value)


class _Through(PlainCopies):
    def convert(self, value: Any) -> Any:
        kind = type(value)
        known = self.made_of(value)
        if known is not None or not (kind in _MAPPINGS or kind in (deque, list, set)):
            return super().convert(value)
        made: Any = kind()
        if kind is deque:
            made = deque(maxlen=value.maxlen)
        elif kind is defaultdict:
            made = defaultdict(value.default_factory)
        self.note(value, made)
        if kind in _MAPPINGS:
            for key, part in value.items():
                made[key] = self.convert(part)
        elif kind is set:
            made.update(value)
        else:
            made.extend(map(self.convert, value))
        return made
