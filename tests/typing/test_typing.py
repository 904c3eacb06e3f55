"""What a type checker says of programs that use txloop."""

from __future__ import annotations

import importlib
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.programs import absent

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
PROGRAM = FOLDER / "program.py"
MISTAKES = FOLDER / "mistakes.txt"  # no .py: `mypy tests` shall find none


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_program_is_clean_and_mistakes_are_found(tmp_path):
    """In one run, as nearly all of the time goes into what both import."""
    # GIVEN
    mypy = find_mypy()
    mistakes = tmp_path / "mistakes.py"
    mistakes.write_text(MISTAKES.read_text())
    settings = tmp_path / "mypy.ini"
    settings.write_text(f"[mypy]\nmypy_path = {ROOT}\nexplicit_package_bases = True\n")
    wanted = {
        (number, found[1])
        for number, line in enumerate(MISTAKES.read_text().splitlines(), 1)
        if (found := re.search(r"# \[([a-z-]+)\]$", line))
    }

    # WHEN
    output, errors, _ = mypy.run(
        [
            "--strict",
            f"--config-file={settings}",
            f"--cache-dir={tmp_path / 'cache'}",
            "--hide-error-context",
            str(PROGRAM),
            str(mistakes),
        ]
    )

    # THEN
    lines = re.findall(
        r"^(.*\.py):(\d+): error: .*\[([a-z-]+)\]$", output, re.MULTILINE
    )
    assert "" == errors
    assert [] == [line for line in lines if not line[0].endswith(mistakes.name)]
    assert wanted == {(int(number), code) for _, number, code in lines}
    assert len(wanted) == 16


def find_mypy() -> Any:
    """Return mypy as a function; without it, the test skips."""
    try:
        return importlib.import_module("mypy.api")
    except ImportError:
        absent("mypy is not installed")


def test_the_program_runs():
    assert "board" in runpy.run_path(str(PROGRAM))
