"""What can go wrong with a log so badly that there is nothing to report.

    ConflictLogError
        FormatError (ValueError)    not an stm.log, or nothing in it
        UsageError (ValueError)     the question makes no sense

Damage inside a log is no error: the report says what is missing.
"""

from __future__ import annotations

__all__ = ["ConflictLogError", "FormatError", "UsageError"]


class ConflictLogError(Exception):
    """Anything that this package raises on purpose."""


class FormatError(ConflictLogError, ValueError):
    """The file is not an stm.log.

    Attributes:
        path: Which file.
        reason: Why not.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class UsageError(ConflictLogError, ValueError):
    """An option has a value that nothing can be done with."""
