"""Programs that do to containers what they do to plain objects, and compare."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("what", ["errors", "operators", "orders", "uses"])
def test_after_like_plain_containers_are_like_plain_objects_in(what):
    """Each program is a process of its own, as `like_plain` is for good."""
    ended = subprocess.run(
        [sys.executable, "-m", f"tests.unit.alike.{what}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ("", "") == (ended.stdout, ended.stderr)
