"""Two browsers, started once: that takes a second or two each."""

from __future__ import annotations

import pytest

from tests.browser.chromium import browser


@pytest.fixture(scope="session")
def chromium():
    """Run a browser."""
    with browser() as running:
        yield running


@pytest.fixture(scope="session")
def other_chromium():
    """Run another one."""
    with browser() as running:
        yield running
