"""What tools find that ask for the constructor, or the types, of a class.

Serializers and containers of services make objects by what `inspect.signature` and
`typing.get_type_hints` tell of a class. They are to find what the program wrote.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["hide_annotations", "take_place"]


def take_place(cls: type, initialize: Callable[..., None]) -> None:
    """Make it the constructor of a class, in the place of the one that it calls."""
    new: Any = initialize
    its: Any = cls.__init__  # type: ignore[misc] # of our own classes
    new.__wrapped__ = its
    new.__doc__ = its.__doc__
    if isinstance(its, FunctionType):
        new.__annotations__ = its.__annotations__
        new.__module__, new.__qualname__ = its.__module__, its.__qualname__
        new.__signature__ = inspect.signature(its)  # for what does not look behind it
    new._adopts = True
    cls.__init__ = new  # type: ignore[misc] # in place


def hide_annotations(cls: type) -> None:
    """Have a class, and its bases, tell no types of their own attributes.

    `typing.get_type_hints` tells those of all bases of a class.
    """
    for one in cls.__mro__:
        vars(one).get("__annotations__", {}).clear()
