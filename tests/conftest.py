"""What every test gets: a hypothesis profile, a leak check and a check of the log."""

from __future__ import annotations

import os

from hypothesis import settings

pytest_plugins = ["tests.leaks", "tests.logs"]

# Deadlines measure the machine: pytest-timeout ends what hangs.
settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci", max_examples=500, deadline=None, derandomize=True, print_blob=True
)
settings.load_profile(
    os.environ.get("TXLOOP_HYPOTHESIS") or ("ci" if os.environ.get("CI") else "dev")
)
