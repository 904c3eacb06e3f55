"""Programs that some tests need beside Python: without one, the test skips.

Under `TXLOOP_REQUIRE_PROGRAMS=1` (CI, where everything was installed) it fails instead.
"""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest


def require_program(name: str) -> str:
    """Return the path of a program, or skip the test with the reason."""
    path = shutil.which(name)
    if path is None:
        absent(f"{name} is not installed")
    return path


def absent(reason: str) -> NoReturn:
    """End the test, which lacks something: as skipped, or in CI as failed."""
    if os.environ.get("TXLOOP_REQUIRE_PROGRAMS", "0") not in ("", "0"):
        pytest.fail(f"{reason}, but TXLOOP_REQUIRE_PROGRAMS asks for it", pytrace=False)
    pytest.skip(reason)
