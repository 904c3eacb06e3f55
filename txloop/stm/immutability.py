"""What cannot change: the one table, from which each room takes what it needs.

What a room knows besides stands there, as an addition: not all that is immutable
travels by marshal, is equal to its copies, or is worth asking for.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import re
import uuid
import zoneinfo
from collections import deque

from txloop.stm.container import Container

__all__ = ["CHANGEABLE", "CONSTANTS", "FAMILIES", "PLAIN", "SCALARS"]

PLAIN: frozenset[type] = frozenset({bool, bytes, float, int, str, type(None)})
"""The classes of most things, which have no parts; marshal packs their objects."""

CONSTANTS: frozenset[type] = PLAIN | {complex, range, type(Ellipsis)}
"""Builtin classes whose objects never change."""

SCALARS: frozenset[type] = CONSTANTS | {
    type(NotImplemented),
    datetime.date,
    datetime.datetime,
    datetime.time,
    datetime.timedelta,
    datetime.timezone,
    decimal.Decimal,
    fractions.Fraction,
    re.Pattern,
    uuid.UUID,
    zoneinfo.ZoneInfo,
}
"""Classes whose objects never change; not those derived from them."""

FAMILIES: tuple[type, ...] = (
    Container,
    enum.Enum,
    ipaddress.IPv4Address,
    ipaddress.IPv4Network,
    ipaddress.IPv6Address,
    ipaddress.IPv6Network,
    pathlib.PurePath,
    type,
)
"""Classes whose objects never change, with those derived from them."""

CHANGEABLE = (list, dict, set, bytearray, deque)
"""The builtin containers that can change."""
