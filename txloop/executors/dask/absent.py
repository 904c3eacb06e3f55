"""What stands on another machine for what cannot be there: sockets, files, loops.

An attempt that uses it is given up, and its call runs on the loop thread, where the
thing itself is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never

from txloop.stm.attempt import current

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

__all__ = ["Absent", "AbsentModules"]


class Absent:
    """In the place of an object of the program that does not travel."""

    __txloop_private__ = True  # nothing can change it
    __slots__ = ("__weakref__", "_what")

    def __init__(self, what: str) -> None:
        self._what = what

    def __reduce__(self) -> tuple[object, ...]:
        return Absent, (self._what,)

    def _refuse(self, *_: object, **__: object) -> Never:
        attempt = current()
        reason = f"it uses {self._what}, which is in the program's own process only"
        if attempt is not None and attempt.speculative:
            attempt.abandon(reason)
        raise AttributeError(reason)  # nothing is asked for, only looked at

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    __bool__ = __call__ = __contains__ = __enter__ = __getitem__ = _refuse
    __iter__ = __len__ = __next__ = __setitem__ = __aenter__ = __await__ = _refuse


class AbsentModules:
    """The last one that is asked for a module: the program may have it elsewhere."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Give up the attempt that imports what is not there."""
        attempt = current()
        if attempt is not None and attempt.speculative:
            attempt.abandon(f"it imports {name}, which its Dask worker does not have")
        return None
