"""A module of a package of the program, with state."""

from __future__ import annotations

coins: dict[str, int] = {}
