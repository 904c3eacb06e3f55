"""A package of the program with state in its own namespace."""

from __future__ import annotations

_sold: list[int] = []


def sell():
    _sold.append(1)
    return len(_sold)
