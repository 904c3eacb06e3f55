"""The engine that the faults hit: two worker processes, or threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine import Engine, running
from txloop.executors.worker_protocol import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def limits() -> Limits:
    """Return those of the engine, for tests and other fixtures to change."""
    return Limits()


@pytest.fixture
def engine(request: pytest.FixtureRequest, limits: Limits) -> Iterator[Engine]:
    """Run two processes, or two of what a module of tests calls its EXECUTOR."""
    name = getattr(request.module, "EXECUTOR", "processes")
    with running(name, limits=limits) as engine:
        yield engine


@pytest.fixture
def impatient(limits: Limits) -> None:
    """Try again soon to make a worker, and look often after those that there are."""
    limits.first_pause_seconds = limits.longest_pause_seconds = 0.01
    limits.look_seconds = 0.01


@pytest.fixture
def unhurried(limits: Limits) -> None:
    """Send calls ahead and leave them where they are, however slow the machine is."""
    limits.read_ahead_seconds = limits.overdue_seconds = 60.0
