"""Figures as text, the same in all reports."""

from __future__ import annotations

__all__ = ["percent", "seconds", "sparkline", "times"]

_STEPS = " ▁▂▃▄▅▆▇█"
_SECOND = 1_000_000_000


def seconds(nanoseconds: int) -> str:
    """Return a time with three digits and a unit."""
    if abs(nanoseconds) >= _SECOND:
        return f"{nanoseconds / _SECOND:,.3f} s"
    for unit, size in (("ms", 1_000_000), ("us", 1_000)):
        if abs(nanoseconds) >= size:
            return (
                f"{nanoseconds / size:.3g} {unit}"
                if (abs(nanoseconds) < 999.5 * size)
                else f"{nanoseconds / size:.0f} {unit}"
            )
    return f"{nanoseconds} ns" if nanoseconds else "0"


def percent(share: float) -> str:
    """Return a share, from 0 to 1, in per cent."""
    return f"{share:.1%}"


def times(count: int) -> str:
    """Return a count."""
    return f"{count:,}"


def sparkline(bins: list[int]) -> str:
    """Return heights as characters; what is not nothing can be seen."""
    most = max(bins, default=0)
    if not most:
        return " " * len(bins)
    top = len(_STEPS) - 1
    return "".join(_STEPS[-(-one * top // most)] for one in bins)
