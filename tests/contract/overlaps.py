"""Which operation conflicts with which commit beside it, in the scripted executor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from txloop import TVar
from txloop.engine.events import Conflicted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.engine import Engine
    from txloop.engine.events import Event

    Operation = Callable[[Any], object]

__all__ = ["beside", "conflicting", "operate"]


def operate(operation: Operation, shared: object, other: TVar[int]) -> object:
    """Do it, and set a variable, so that it has to hold at the commit."""
    other.set(1)
    return operation(shared)


def beside(
    engine: Engine, shared: object, operation: Operation, commit: Operation
) -> int:
    """Commit between the body of a transaction and its commit; count conflicts."""
    before = len(engine.events)
    result, number = engine.send(operate, operation, shared, TVar(0))
    engine.scripted.begin(number)
    other, between = engine.send(operate, commit, shared, TVar(0))
    engine.scripted.begin(between)
    engine.scripted.finish(between)
    assert not _conflicts(engine.events[before:])
    engine.scripted.finish(number)
    conflicts = _conflicts(engine.events[before:])
    engine.wait(result, other)
    assert other.error is None
    return conflicts


def _conflicts(events: Sequence[Event]) -> int:
    return sum(isinstance(event, Conflicted) for event in events)


def conflicting(
    engine: Engine,
    make: Callable[[], object],
    operation: Operation,
    commits: Mapping[str, Operation],
) -> set[str]:
    """Return which commits beside it make the operation run again."""
    return {
        name
        for name, commit in commits.items()
        if beside(engine, make(), operation, commit)
    }
