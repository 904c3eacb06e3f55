"""The engine that a contract test runs on, once for each executor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine import EXECUTORS, Engine, running

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(params=EXECUTORS)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with running(request.param) as engine:
        yield engine
