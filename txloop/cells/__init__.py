"""The containers that hold shared state."""

from __future__ import annotations

from txloop.cells.tdict import TDict
from txloop.cells.tvar import TVar

__all__ = ["TDict", "TVar"]
