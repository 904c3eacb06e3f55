"""Text from a log made harmless: a marker may hold anything, a terminal obeys much."""

from __future__ import annotations

__all__ = ["escaped"]


def escaped(text: str) -> str:
    """Return text in which all that does not print is written as a backslash code.

    That covers control characters, escape sequences, line breaks, and the marks that
    turn the direction of writing around.
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode()
        for one in text
    )
