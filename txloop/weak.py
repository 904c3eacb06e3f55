"""Callbacks that do not keep their object alive.

Parts of a loop call back what they belong to. Were these references strong, a loop that
is dropped, closed or not, would stay until the collector finds it, with all that the
program has tied to it.
"""

from __future__ import annotations

import weakref
from types import MethodType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["weakly"]

P = ParamSpec("P")
R = TypeVar("R")


def weakly(method: Callable[P, R]) -> Callable[P, R | None]:
    """Return what calls a bound method as long as its object lives, and then nothing.

    `weakref.WeakMethod` does the same in two steps, and takes twice as long.
    """
    assert isinstance(method, MethodType)
    find_owner = weakref.ref(method.__self__)
    function = method.__func__

    def call(*args: P.args, **kwargs: P.kwargs) -> R | None:
        owner = find_owner()
        if owner is None:
            return None
        result: R = function(owner, *args, **kwargs)
        return result

    return call
