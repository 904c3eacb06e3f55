"""The engine that the faults hit: two worker processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine import Engine, running

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def engine() -> Iterator[Engine]:
    with running("processes") as engine:
        yield engine
