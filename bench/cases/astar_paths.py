"""The map of the game, asked for shortest paths only: reads, which never conflict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bench.astar.generator import GameLoad
from bench.cases import astar
from bench.cases.astar import plain, transactional

if TYPE_CHECKING:
    from bench.case import Values
    from bench.load import LoadGenerator

__all__ = ["CASE", "plain", "transactional"]


def askers(values: Values, spare_from: int) -> LoadGenerator:
    """Return the load of path queries."""
    return GameLoad("paths", values["seed"], spare_from)


CASE = replace(
    astar.CASE,
    name="astar_paths",
    summary="shortest paths on a map that does not change",
    generator=askers,
)
