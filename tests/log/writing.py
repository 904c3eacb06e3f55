"""Logs written by tests, packet by packet."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from conflict_log import formats
from conflict_log.formats import FORMATS, Format

__all__ = ["Log"]

MILLISECOND = 1_000_000
_SECOND = 1_000_000_000


@dataclass
class Log:
    """A log in the making; times are milliseconds since its beginning."""

    name: str = "c7"
    parts: list[bytes] = field(default_factory=list)
    begin_seconds: int = 12345

    @property
    def form(self) -> Format:
        return FORMATS[self.name]

    def put(
        self,
        at: float,
        thread: int,
        kind: int,
        marker: str | bytes = b"",
        other: str | bytes = b"",
        other_thread: int = 0,
    ) -> Log:
        """Add a packet."""
        time = self.begin_seconds * _SECOND + round(at * MILLISECOND)
        first, second = (
            one.encode() if isinstance(one, str) else one for one in (marker, other)
        )
        event = self.form.kinds.index(kind)
        fixed = [time // _SECOND, time % _SECOND, thread]
        if self.name == "c7":
            head = struct.pack(
                "<IIIIBBB", *fixed, other_thread, event, len(first), len(second)
            )
        elif self.name == "c7-15":
            head = struct.pack("<IIIBBB", *fixed, event, len(first), len(second))
        else:
            head = struct.pack("<IIIBB", *fixed, event, len(first))
        self.parts.append(head + first + second)
        return self

    def start(self, at: float, thread: int = 1) -> Log:
        return self.put(at, thread, formats.START)

    def commit(self, at: float, thread: int = 1) -> Log:
        return self.put(at, thread, formats.COMMIT)

    def abort(self, at: float, thread: int = 1) -> Log:
        return self.put(at, thread, formats.ABORT)

    def wait(self, at: float, until: float, kind: int, thread: int = 1) -> Log:
        self.put(at, thread, kind)
        return self.put(until, thread, formats.WAIT_DONE)

    def data(self) -> bytes:
        """Return the log's bytes."""
        return self.form.magic + b"".join(self.parts)

    def save(self, folder, name: str = "stm.log") -> str:
        """Write the log to a file and return its path."""
        path = folder / name
        path.write_bytes(self.data())
        return str(path)
