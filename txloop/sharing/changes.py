"""What is told of a rewriting: what was changed, and what was left alone."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Change", "Left"]


@dataclass(frozen=True, slots=True)
class Change:
    """One object of the program that is shared otherwise now.

    Attributes:
        key: What tells it from others in all rounds.
        name: What findings call it.
        label: The module that is changed.
        line: Where.
        became: What it has become.
        why: Whose lines share it.
        into: Where it is stored, if it is a container only for that.
    """

    key: str
    name: str
    label: str
    line: int
    became: str
    why: tuple[str, ...] = ()
    into: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Left:
    """One thing that is left alone.

    Attributes:
        reason: Why.
        held: The class whose objects are held on the loop thread for that; or "".
    """

    reason: str
    held: str = ""
