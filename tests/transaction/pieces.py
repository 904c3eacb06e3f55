"""Pieces that tests of several files run, and what they leave behind."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import txloop

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "FooError",
    "add_to_total",
    "check_chains",
    "count_place",
    "forget",
    "nothing",
    "place",
    "raise_it",
    "seen",
    "tell",
    "told",
    "total",
]

total = txloop.TVar(0)
seen: txloop.TList[Any] = txloop.TList()
told: list[tuple[object, ...]] = []

runs_in = os.getpid()


class FooError(Exception):
    """What a piece raises."""


def forget() -> None:
    """Take away what earlier tests have left."""
    told.clear()
    seen.clear()
    total.value = 0


def tell(*things: object) -> None:
    """Note something down: an effect."""
    told.append(things)


def place() -> str:
    """Return where this runs, in words that are the same for all workers' calls."""
    if os.getpid() != runs_in:
        return "process"
    return "here" if threading.current_thread() is threading.main_thread() else "thread"


def count_place(places: txloop.TDict[str, int]) -> None:
    """Count how many ran where this does."""
    where = place()
    places[where] = places.get(where, 0) + 1


def add_to_total(amount: int) -> None:
    """Change what all share."""
    total.value += amount


def nothing() -> None:
    """Do nothing."""


def raise_it(error: type[Exception]) -> None:
    """Raise it."""
    raise error


def check_chains(lists: Sequence[Sequence[object]]) -> None:
    """See that one chain has come to its end, where it raised, and what others did."""
    finished = [list(one) for one in lists if len(one) >= 5]
    begun = [list(one) for one in lists if len(one) < 5]

    assert [[0, 1, 2, 3, 4, "foo"]] == finished
    assert all(one == list(range(len(one))) for one in begun)
