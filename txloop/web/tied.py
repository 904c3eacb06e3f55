"""Stand-ins, away from the loop thread, for what belongs to a connection.

All requests of a connection share its context and the object of its server. A program
may keep there what it likes. So an attempt that runs away from the loop thread finds
stand-ins: it can read what Tornado itself has put into the context, and is abandoned
when it touches anything else, or changes something. The loop thread has the originals.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from txloop.stm.attempt import current
from txloop.web.tornado_private import HTTPRequestContext

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["TiedContext", "TiedObject", "known_of", "tied_context"]

_KNOWN = (
    *("address", "address_family", "remote_ip", "protocol"),
    *("_orig_remote_ip", "_orig_protocol"),
)
"""What of a context can be read anywhere: it is immutable."""

_values = operator.itemgetter(*_KNOWN)


def known_of(context: object) -> dict[str, object] | None:
    """Return what an attempt elsewhere may know of a context; None if it is another."""
    if type(context) is not HTTPRequestContext:
        return None
    try:
        return dict(zip(_KNOWN, _values(vars(context)), strict=True))
    except KeyError:
        return None


def tied_context(
    known: Mapping[str, object] | None, real: object
) -> TiedContext | TiedObject:
    """Return what stands for a context.

    Args:
        known: What `known_of` has told of it.
        real: The context, where this is the loop's process; else None.
    """
    return TiedObject("context", real) if known is None else TiedContext(known, real)


class _Tied:
    """Passes changes and comparisons on to what it stands for."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        setattr(_real_of(self), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_real_of(self), name)

    def __hash__(self) -> int:
        return hash(_real_of(self))

    def __eq__(self, other: object) -> bool:
        return bool(_real_of(self) == other)


class TiedObject(_Tied):
    """Stands for an object that only the loop thread has; nothing of it is known.

    After the commit, and in an attempt that is on the loop thread by then, it passes
    everything on to the object, if that is in this process.
    """

    __slots__ = ("__weakref__", "_name", "_real")

    def __init__(self, name: str, real: object) -> None:
        """Stand for `real`, or None, which the connection has as `name`."""
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_real", real)

    def __getattribute__(self, name: str) -> Any:
        return getattr(_real_of(self), name)

    def __repr__(self) -> str:
        return repr(_real_of(self))


class TiedContext(_Tied, HTTPRequestContext):
    """Stands for the context that Tornado makes for each connection."""

    _name = "context"

    def __init__(self, known: Mapping[str, object], real: object) -> None:
        """Stand for `real`, or None; `known` is what can be read anywhere."""
        object.__setattr__(self, "_real", real)
        object.__setattr__(self, "_read", dict(known))

    def __getattribute__(self, name: str) -> Any:
        known = object.__getattribute__(self, "_read")
        if name in known and (_is_elsewhere() or not _has_real(self)):
            return known[name]
        if name == "__class__":
            return HTTPRequestContext
        return getattr(_real_of(self), name)


def _is_elsewhere() -> bool:
    attempt = current()
    return attempt is not None and attempt.speculative


def _has_real(tied: TiedContext) -> bool:
    return object.__getattribute__(tied, "_real") is not None


def _real_of(tied: _Tied) -> Any:
    """Return what it stands for; an attempt elsewhere is abandoned instead."""
    attempt = current()
    if attempt is not None and attempt.speculative:
        name = object.__getattribute__(tied, "_name")
        attempt.abandon(f"it uses the connection's {name}")
    real = object.__getattribute__(tied, "_real")
    if real is None:
        raise TypeError("what belongs to a connection is on the loop thread only")
    return real
