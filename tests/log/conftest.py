"""The cases, laid out as their logs expect them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "cases"


@pytest.fixture
def cases(tmp_path, monkeypatch):
    """Return the folder of the cases; `src/app.py`, which they name, lies below it."""
    folder = tmp_path / "cases"
    shutil.copytree(CASES, folder)
    (folder / "src").mkdir()
    (folder / "app.py.txt").rename(folder / "src/app.py")
    monkeypatch.chdir(folder)
    return folder
