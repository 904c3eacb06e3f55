"""A Dask cluster for the tests that need one: one for all, started before the first."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from txloop.executors.dask.local import LocalProcess

__all__ = ["DASK", "names_of"]

DASK = importlib.util.find_spec("distributed") is not None
"""Whether Dask is installed."""

_running: list[LocalProcess] = []


def names_of(mark: pytest.Mark) -> list[str]:
    """Return what a `parametrize` gives."""
    names = mark.args[0]
    parts = names.split(",") if isinstance(names, str) else names
    return [part.strip() for part in parts]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start it, if a test that was selected is one of Dask's."""
    if session.config.option.collectonly or not DASK:
        return
    if any(_needs_cluster(item) for item in session.items):
        import dask

        from txloop.executors.dask.local import LocalProcess

        _running.append(LocalProcess(1, threads=2))
        dask.config.set({"scheduler-address": _running[0].address})


def pytest_sessionfinish() -> None:
    """End it."""
    while _running:
        _running.pop().close()


def _needs_cluster(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    values = callspec.params.values() if callspec is not None else ()
    return "dask" in values or item.get_closest_marker("dask") is not None
