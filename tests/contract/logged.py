"""A log of what an engine does, read with `conflict_log`, and what to find in it."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING

import conflict_log
from txloop.stmlog import DEFAULT_BYTES, connect

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conflict_log.report import Loss, Report
    from tests.engine import Engine, Gate
    from txloop import TVar

__all__ = ["Logged", "increment", "line_of", "read_only", "wait_at"]


class Logged:
    """An engine whose log is written from its start; read when it is closed.

    Attributes:
        breaks: How much of the log, in events, need not be as PyPy would write it.
    """

    breaks = 0.0

    def __init__(self, engine: Engine, path: Path) -> None:
        self.engine = engine
        self.path = path
        connect(engine.dispatcher, str(path), DEFAULT_BYTES)

    def report(self) -> Report:
        """Close the engine and return what its log says, which must be whole."""
        self.engine.close()
        report = conflict_log.load(self.path)
        assert not report.damaged
        assert [] == list(report.notes)
        (source,) = report.sources
        assert source.breaks <= self.breaks, "events in an order that has no meaning"
        totals = report.totals
        parts = totals.busy_ns + totals.idle_ns + totals.unattributed_ns
        assert totals.worker_ns == parts, "the parts do not add up"
        assert 0 == totals.unattributed_ns
        assert min(totals.committed_ns, totals.aborted_ns, totals.idle_ns) >= 0
        assert totals.lost_ns == sum(one.lost_ns for one in report.losses)
        return report

    def losses(self, kind: str) -> list[Loss]:
        """Return what was lost to conflicts of a kind."""
        return [one for one in self.report().losses if one.kind == kind]


def line_of(function: Callable[..., object], offset: int = 1) -> int:
    """Return the number of a function's line, counted from its first."""
    assert isinstance(function, FunctionType)
    return function.__code__.co_firstlineno + offset


# The next two have no docstrings, as tests count their lines.


def increment(variable: TVar[int]) -> None:
    variable.value += 1


def read_only(variable: TVar[int], other: TVar[int]) -> int:
    value = variable.value
    other.value = 7
    return value


def wait_at(gate: Gate) -> None:
    """Run until somebody opens the gate."""
    gate.wait()
