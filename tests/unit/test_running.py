"""``python -m tests``: each file with tests is run, by one pytest."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.__main__ import ROOT, folders_in, parts
from tests.cluster import DASK


def files_of(part: list[str]) -> list[str]:
    """Return the files that a pytest runs which is given this."""
    return [
        path.relative_to(ROOT).as_posix()
        for name in part
        for path in (
            ROOT.glob(f"{name}/test_*.py") if (ROOT / name).is_dir() else [ROOT / name]
        )
    ]


def test_each_file_is_in_one_part() -> None:
    files = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/*/test_*")]
    expected = Counter(
        one for one in files if DASK or not one.startswith("tests/machines/")
    )

    assert expected == Counter(file for part in parts() for file in files_of(part))


@pytest.mark.parametrize(
    "folder", ["tests", "tests/unit", "tests/loop", "tests/shapes"]
)
def test_a_folder_is_run_in_its_parts(folder: str) -> None:
    asked = [part for part in parts() if part[0].startswith(folder)]

    assert asked
    assert asked == parts([folder])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], []),
        (["tests/unit", "tests/http/"], ["tests/unit", "tests/http"]),
        (["tests/unit", "-x"], []),
        (["tests/unit/test_scan.py"], []),
        (["tests"], ["tests"]),
        (["tests/stories"], []),
    ],
)
def test_only_folders_are_run_in_parts(
    arguments: list[str], expected: list[str]
) -> None:
    assert expected == folders_in(arguments)
