"""Why the game does not do what it was asked for."""

from __future__ import annotations

__all__ = ["Refused"]


class Refused(Exception):
    """A request cannot be granted; nothing was changed.

    Attributes:
        status: The HTTP status that says so: 400 for what makes no sense, 404 for what
            is not there, 409 for what the map does not allow, 410 for what is over.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)
        self.status = status
        self._message = message

    def __str__(self) -> str:
        return self._message
