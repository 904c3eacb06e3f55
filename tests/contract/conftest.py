"""The engine that a contract test runs on, once for each executor, and its log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cluster import DASK, names_of
from tests.contract.logged import Logged
from tests.engine import EXECUTORS, Engine, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


FAR = ("test_results", "test_effects", "test_inevitable", "test_unmarked")
"""Modules whose tests run on a Dask cluster, too: there each one takes a second."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test on all executors, if it does not say on which."""
    marks = metafunc.definition.iter_markers("parametrize")
    chosen = any("engine" in names_of(mark) for mark in marks)
    if "engine" in metafunc.fixturenames and not chosen:
        if hasattr(metafunc.module, "engine"):
            return  # it has an engine of its own
        far = metafunc.module.__name__.rpartition(".")[2] in FAR
        names = (*EXECUTORS, *(["dask"] * (far and DASK)))
        metafunc.parametrize("engine", names, indirect=True)


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with running(request.param) as engine:
        yield engine


@pytest.fixture
def log(engine: Engine, tmp_path: Path) -> Logged:
    """Write a log of the engine, from its start."""
    return Logged(engine, tmp_path / "stm.log")
