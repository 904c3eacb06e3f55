"""A store of the test's own, apart from the one that the program shares."""

from __future__ import annotations

import pytest

from tests.unit.stores import Box
from txloop.stm.store import Store


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def box(store: Store) -> Box:
    """Return an empty container of that store."""
    container = Box()
    store.adopt(container)
    return container
