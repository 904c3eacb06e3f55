"""What parameters are called in the names of tests."""

from __future__ import annotations

import re

__all__ = ["shown"]


def shown(value: object) -> str:
    """Return its repr without addresses: each run has the same names."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
