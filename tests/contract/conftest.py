"""The engine that a contract test runs on, once for each executor, and its log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.logged import Logged
from tests.engine import EXECUTORS, Engine, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=EXECUTORS)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with running(request.param) as engine:
        yield engine


@pytest.fixture
def log(engine: Engine, tmp_path: Path) -> Logged:
    """Write a log of the engine, from its start."""
    return Logged(engine, tmp_path / "stm.log")
