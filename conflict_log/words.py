"""Figures as text, the same in all reports."""

from __future__ import annotations

__all__ = ["brief", "percent", "rate", "seconds", "share", "size", "sparkline", "times"]

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


def brief(seconds: float) -> str:
    """Return a time with as many digits as a page needs: two, or what there is."""
    if seconds >= 9.95:
        return f"{seconds:,.0f} s"
    if seconds >= 0.9995:
        return f"{seconds:.1f} s"
    for unit, size in (("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            number = seconds / size
            return f"{number:.1f} {unit}" if number < 9.95 else f"{number:.0f} {unit}"
    return "0"


def share(part: float) -> str:
    """Return a share, from 0 to 1, in per cent, with no more digits than it needs."""
    if 0 < part < 0.0005:
        return "<0.1%"
    return f"{part:.0%}" if part >= 0.0995 or not part else f"{part:.1%}"


def rate(number: float) -> str:
    """Return how often something happens in a second."""
    return f"{number:,.0f}" if number >= 9.95 else f"{number:.1f}"


def size(count: int) -> str:
    """Return a number of bytes; what is unknown is nothing."""
    return f"{count / 1e6:,.0f} MB" if count else ""


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
