"""Each test of the loop runs wherever transactions can run."""

from __future__ import annotations

import pytest

from tests.serving import EXECUTORS, loop_of


@pytest.fixture(params=EXECUTORS)
def kind(request):
    """Return where transactions run."""
    return request.param


@pytest.fixture
def loop(kind):
    """Return a loop, which is closed after the test."""
    loop = loop_of(kind)
    yield loop
    loop.close()
