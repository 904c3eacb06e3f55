"""What is here only where fronts are processes, which can die, or be out of date."""

from __future__ import annotations

from pathlib import Path

from tests.fronts.serving import FORKED

HERE = Path(__file__).parent

ELSEWHERE = (
    {"test_front_threads"}
    if FORKED
    else {
        "test_descriptors_of_fronts",
        "test_desk",
        "test_front_deaths",
        "test_links",
        "test_lost_replicas",
        "test_overtime",
    }
)
"""Modules whose tests are about the other kind of fronts."""


def pytest_collection_modifyitems(config, items):
    # `collect_ignore` would not do: the runs of all tests name each file.
    names = {HERE / f"{name}.py" for name in ELSEWHERE}
    left = [item for item in items if item.path in names]
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=left)
