"""What may be stored in a container: immutable values and containers.

A plain mutable object would be shared behind the transactions' back: a change to it
would be lost in a worker and would race in a thread. Plain dicts become containers, the
rest is refused with advice.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import re
import types
import uuid
import zoneinfo

from txloop.errors import TxValueError
from txloop.store import Container

__all__ = ["shareable"]

_SCALARS: frozenset[type] = frozenset(
    {
        bool,
        bytes,
        complex,
        float,
        int,
        range,
        str,
        type(None),
        type(Ellipsis),
        type(NotImplemented),
        datetime.date,
        datetime.datetime,
        datetime.time,
        datetime.timedelta,
        datetime.timezone,
        decimal.Decimal,
        fractions.Fraction,
        re.Pattern,
        types.BuiltinFunctionType,
        types.FunctionType,
        uuid.UUID,
        zoneinfo.ZoneInfo,
    }
)
_FAMILIES = (
    Container,
    enum.Enum,
    ipaddress.IPv4Address,
    ipaddress.IPv4Network,
    ipaddress.IPv6Address,
    ipaddress.IPv6Network,
    pathlib.PurePath,
    type,
)
_ADVICE = {
    list: "store a tuple",
    set: "store a frozenset",
    bytearray: "store bytes",
}


def shareable(value: object) -> object:
    """Return `value` as a container may hold it: itself, or a container made from it.

    Raises:
        TxValueError: if it is mutable; the message says what to store instead.
    """
    if type(value) in _SCALARS or isinstance(value, _FAMILIES):
        return value
    if type(value) is dict:
        # Imported late: a TDict's own values pass through here.
        from txloop.cells.tdict import TDict

        return TDict(value)
    if isinstance(value, tuple | frozenset):
        return _converted(value)
    if _is_frozen_dataclass(value):
        for field in dataclasses.fields(value):  # type: ignore[arg-type] # is one
            part = getattr(value, field.name)
            if shareable(part) is not part:
                raise TxValueError(
                    f"field {field.name!r} of {_named(value)} holds a plain "
                    f"{type(part).__name__}; give it a txloop container"
                )
        return value
    advice = next(
        (text for kind, text in _ADVICE.items() if isinstance(value, kind)),
        "store its parts, a tuple, a frozen dataclass or a txloop container",
    )
    raise TxValueError(
        f"{_named(value)} is mutable and may not be shared: a change to it would be "
        f"seen by some workers only; {advice}"
    )


def _converted(value: tuple[object, ...] | frozenset[object]) -> object:
    parts = [shareable(part) for part in value]
    if all(new is old for new, old in zip(parts, value, strict=True)):
        return value
    if type(value) is tuple:
        return tuple(parts)
    if hasattr(value, "_make"):  # a named tuple
        return value._make(parts)
    raise TxValueError(f"{_named(value)} holds a plain dict; make it a txloop.TDict")


def _is_frozen_dataclass(value: object) -> bool:
    parameters = getattr(type(value), "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)


def _named(value: object) -> str:
    text = repr(value)
    if len(text) > 60:
        text = text[:57] + "..."
    return f"{type(value).__name__} {text}"
