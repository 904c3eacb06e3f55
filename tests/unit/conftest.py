"""A store of the test's own, apart from the one that the program shares; programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.scan_programs.loading import loading
from tests.unit.stores import Box
from txloop.stm.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.unit.scan_programs.loading import Load


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def box(store: Store) -> Box:
    """Return an empty container of that store."""
    container = Box()
    store.adopt(container)
    return container


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Load]:
    """Give a function that loads a program that is to be scanned."""
    with loading(tmp_path) as load_module:
        yield load_module
