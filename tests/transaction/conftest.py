"""Queues on every executor, whose pieces leave the calling thread if they can."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.transaction.pieces import forget
from txloop.stm.store import committed
from txloop.transaction import TransactionQueue, runs

if TYPE_CHECKING:
    from collections.abc import Iterator

EXECUTORS = ("serial", "processes", "threads")

PARALLEL = ("processes", "threads")

WORKERS = 2

ON_THIS_THREAD = "runs on the calling thread"


@pytest.fixture(autouse=True)
def _forget() -> None:
    """Let nothing be left of another test's pieces."""
    forget()


@pytest.fixture(params=EXECUTORS)
def executor(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Make an executor the default, and let even the shortest piece travel."""
    monkeypatch.setenv("TXLOOP_EXECUTOR", request.param)
    monkeypatch.setenv("TXLOOP_WORKERS", str(WORKERS))
    monkeypatch.setattr(runs, "SHORT_SECONDS", 0.0)
    monkeypatch.setattr(runs, "START_SECONDS", 0.0)
    monkeypatch.setattr(runs, "_seconds", {})
    yield request.param
    assert committed.owner is None
    assert not committed._snapshots


@pytest.fixture
def queue(executor: str) -> TransactionQueue:
    """Give a queue that runs on the executor."""
    return TransactionQueue()


def on(*names: str) -> pytest.MarkDecorator:
    """Run a test on these executors only."""
    return pytest.mark.parametrize("executor", names, indirect=True)
