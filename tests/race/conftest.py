"""The engine that the faults hit: two worker processes, or threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine import Engine, running
from txloop.executors.processes import crew, supervision
from txloop.executors.processes import executor as processes

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Run two processes, or two of what a module of tests calls its EXECUTOR."""
    with running(getattr(request.module, "EXECUTOR", "processes")) as engine:
        yield engine


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again soon to make a worker, and look often after those that there are."""
    monkeypatch.setattr(crew, "_FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(crew, "_LONGEST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(supervision, "LOOK_SECONDS", 0.01)


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send calls ahead and leave them where they are, however slow the machine is."""
    monkeypatch.setattr(processes, "READ_AHEAD_SECONDS", 60.0)
    monkeypatch.setattr(processes, "OVERDUE_SECONDS", 60.0)
