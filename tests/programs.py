"""Programs that some tests need beside Python: without one, the test skips.

Under `TXLOOP_REQUIRE_PROGRAMS=1` (CI, where everything was installed) it fails instead.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from typing import NoReturn

import pytest

from txloop.stm.threads import gil_enabled


def require_program(name: str) -> str:
    """Return the path of a program, or skip the test with the reason."""
    path = shutil.which(name)
    if path is None:
        absent(f"{name} is not installed")
    return path


def require_uvloop() -> None:
    """Go on where there is uvloop; skip where there cannot be one."""
    if importlib.util.find_spec("uvloop") is not None:
        return
    if sys.implementation.name != "cpython" or not gil_enabled():
        pytest.skip("uvloop is for CPython with the GIL")
    absent("uvloop is not installed")


def absent(reason: str) -> NoReturn:
    """End the test, which lacks something: as skipped, or in CI as failed."""
    if os.environ.get("TXLOOP_REQUIRE_PROGRAMS", "0") not in ("", "0"):
        pytest.fail(f"{reason}, but TXLOOP_REQUIRE_PROGRAMS asks for it", pytrace=False)
    pytest.skip(reason)
