"""A value that may be shared, and that no other process gets: it does not pickle."""

from __future__ import annotations

import dataclasses
from typing import Never

__all__ = ["Homebound"]


@dataclasses.dataclass(frozen=True)
class Homebound:
    """Equal to others of its name, and as a lock when it is to be pickled."""

    name: str = "homebound"

    def __reduce__(self) -> Never:
        raise TypeError("cannot pickle '_thread.lock' object")
