"""What both of PyPy's ways to add up have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conflict_log.compat.order import slot_order
from conflict_log.compat.packets import GaveUp

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conflict_log.compat.packets import Packet
    from conflict_log.formats import Format

__all__ = ["Tally", "Toll"]


@dataclass(slots=True)
class Toll:
    """A row of PyPy's text: an event with its markers, and what it cost."""

    kind: int
    markers: tuple[bytes, ...]
    aborted: float = 0.0
    paused: float = 0.0
    times: array[float] = field(default_factory=lambda: array("d"))

    @property
    def count(self) -> int:
        """How often it happened."""
        return len(self.times)


class Tally(ABC):
    """The sums over a log."""

    def __init__(self, form: Format) -> None:
        self.form = form
        self.tolls: dict[tuple[int, bytes, bytes], Toll] = {}
        self.start = self.stop = 0.0
        self.packets = 0

    def add_all(self, packets: Iterable[Packet]) -> str | None:
        """Add packets until they end; return where PyPy's tool gives up, or None."""
        try:
            for packet in packets:
                if not self.packets:
                    self.start = packet.seconds
                self.packets += 1
                self.add(packet)
                self.stop = packet.seconds
        except GaveUp as end:
            return str(end)
        return None

    @abstractmethod
    def add(self, packet: Packet) -> None:
        """Add one packet; raises `GaveUp` where PyPy's tool fails."""

    def toll(self, packet: Packet) -> Toll:
        """Return the row that an event belongs to, counted once more."""
        key = (packet.kind, packet.marker1, packet.marker2)
        toll = self.tolls.get(key)
        if toll is None:
            markers = (packet.marker1, packet.marker2) if key[2] else (packet.marker1,)
            toll = self.tolls[key] = Toll(packet.kind, markers)
        toll.times.append(packet.seconds)
        return toll

    def ranked(self) -> list[Toll]:
        """Return the rows, the dearest first."""
        # Its keys have the numbers of the file, and C8's one marker.
        length = 3 if self.form.two_markers else 2
        numbered = {
            (self.form.kinds.index(key[0]), *key[1:length]): key for key in self.tolls
        }
        rows = [self.tolls[numbered[key]] for key in slot_order(numbered)]
        rows.sort(key=lambda one: one.aborted + one.paused)
        return rows[::-1]
