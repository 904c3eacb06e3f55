"""What a call is given by value: of that, too, a worker has copies.

A function that changes its arguments, the object whose method it is, or a variable
around it, changes copies where it runs away from the loop thread. Then it has to run
there, with the originals.
"""

from __future__ import annotations

import functools
import time
import types
from typing import TYPE_CHECKING, Any

from txloop.stm.callables import is_found_by_name, layers, with_article
from txloop.stm.types import Refusal
from txloop.watch import limits
from txloop.watch.kinds import Kind, kind_of
from txloop.watch.places import ROOTS_OF
from txloop.watch.reach import pictures_by_value
from txloop.watch.subject import Change, change_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from txloop.stm.types import Answer, Call

__all__ = ["Given", "GivenWatch"]


class Given:
    """Pictures of what a call was given; belongs to the thread that runs it."""

    def __init__(self, things: Iterable[tuple[str, object]]) -> None:
        """Picture `things`, which come with their names for messages."""
        self._things = pictures_by_value(things)

    def change(self) -> Change | None:
        """Return what is otherwise now, or None."""
        for thing in self._things:
            part = thing.difference(None)
            if part is not None:
                return change_of(thing, part)
        return None


class GivenWatch:
    """Which functions change what they are given; one thread's own.

    Their first runs are looked at, and later ones as long as that takes no more than
    `limits.SHARE` of the time of all.
    """

    def __init__(self) -> None:
        self._runs: dict[Hashable, int] = {}  # by function
        self._credit_seconds: dict[Hashable, float] = {}

    def run(self, key: Hashable, call: Call, run: Callable[[], Answer]) -> Answer:
        """Return the answer to a call; a `Refusal` if it has changed its copies.

        Args:
            key: Tells its function from others.
            call: What runs.
            run: Makes the attempt.
        """
        if hasattr(call.function, ROOTS_OF):
            return run()  # such a function says itself what it can reach
        runs = self._runs[key] = self._runs.get(key, 0) + 1
        credit = self._credit_seconds.get(key, 0.0)
        started = time.perf_counter()
        given = _given_to(call) if runs <= limits.FIRST_RUNS or credit >= 0.0 else None
        spent = time.perf_counter() - started
        answer = run()
        started = time.perf_counter()
        change = None if given is None else given.change()
        spent += time.perf_counter() - started
        if runs > limits.FIRST_RUNS and not isinstance(answer, Refusal):
            credit += limits.SHARE * answer.body_seconds - spent
            self._credit_seconds[key] = min(credit, 0.0)
        if change is None or (isinstance(answer, Refusal) and answer.lasting):
            return answer
        return Refusal(_reason(change), trace=answer.trace)


def _reason(change: Change) -> str:
    kind = f", {with_article(change.kind)}" if change.kind else ""
    return (
        f"it changes {change.name}{kind}, of which a worker has a copy; return what is "
        "new, or keep it in a txloop container"
    )


def _given_to(call: Call) -> Given | None:
    """Picture what a call is given by value; None if nothing of it can be changed."""
    things = [(name, thing) for name, thing in _things_of(call) if _may_change(thing)]
    return Given(things) if things else None


def _things_of(call: Call) -> Iterator[tuple[str, object]]:
    yield from _numbered(call.args)
    yield from call.kwargs.items()
    *around, bare = layers(call.function)
    for layer in around:
        if isinstance(layer, functools.partial):
            yield from _numbered(layer.args)
            yield from layer.keywords.items()
        else:
            yield "the object that it is a method of", layer.__self__
    yield "" if isinstance(bare, types.FunctionType) else "itself", bare


def _numbered(args: Iterable[object]) -> Iterator[tuple[str, object]]:
    for number, thing in enumerate(args, 1):
        yield f"argument {number}", thing


def _may_change(thing: Any) -> bool:
    kind = kind_of(thing)
    if kind in (Kind.NOTHING, Kind.CLASS, Kind.MODULE):
        return False
    return not (kind is Kind.FUNCTION and is_found_by_name(thing))
