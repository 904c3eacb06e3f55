"""What every test gets: a hypothesis profile, a leak check and a check of the log."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.leaks", "tests.logs"]

# Here, because it must be said before anything imports it.
pytest.register_assert_rewrite("tests.serving")

# Deadlines and one of the health checks measure the machine: pytest-timeout ends what
# hangs.
settings.register_profile(
    "dev",
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile(
    "ci", settings.get_profile("dev"), max_examples=100, derandomize=True
)
settings.register_profile("long", settings.get_profile("dev"), max_examples=2000)
settings.load_profile(
    os.environ.get("TXLOOP_HYPOTHESIS") or ("ci" if os.environ.get("CI") else "dev")
)
