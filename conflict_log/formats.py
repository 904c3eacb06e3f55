"""The formats of stm.log: three packet layouts and six tables of event numbers.

PyPy-STM wrote two magics. Behind the first are two layouts, behind the second five
tables of event numbers, and nothing in the file tells them apart; `grammar` does.
Every table maps a file's numbers to the kinds named here; C7's numbers are the kinds.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Final

__all__ = [
    "CONTENTIONS",
    "FORMATS",
    "KIND_NAMES",
    "MAGICS",
    "MAGIC_SIZE",
    "WAITS",
    "Format",
]

START: Final = 0
COMMIT: Final = 1
ABORT: Final = 2
WRITE_WRITE: Final = 3
WRITE_READ: Final = 4
INEVITABLE: Final = 5
ABORTING_OTHER: Final = 6
WAIT_FREE: Final = 7
WAIT_SYNC_PAUSE: Final = 8
WAIT_CONTENTION: Final = 9
WAIT_DONE: Final = 10
MINOR_START: Final = 11
MINOR_DONE: Final = 12
MAJOR_START: Final = 13
MAJOR_DONE: Final = 14
WAIT_SYNCING: Final = 15
WAIT_INEVITABLE: Final = 16
DETACH: Final = 17
REATTACH: Final = 18

# In C8 a thread says that it becomes inevitable; in C7 that it could not. Both are
# where the line stands that a wait or an abort is charged to.
CONTENTIONS: Final = frozenset({WRITE_WRITE, WRITE_READ, INEVITABLE})
WAITS: Final = frozenset(
    {WAIT_FREE, WAIT_SYNC_PAUSE, WAIT_CONTENTION, WAIT_SYNCING, WAIT_INEVITABLE}
)

KIND_NAMES: Final = (
    "start",
    "commit",
    "abort",
    "write-write",
    "write-read",
    "inevitable",
    "aborting other",
    "no free worker",
    "pause of all",
    "contention",
    "wait done",
    "minor collection",
    "minor collection done",
    "major collection",
    "major collection done",
    "stop of all",
    "held by an inevitable one",
    "detach",
    "reattach",
)

_C7: Final = b"STMGC-C7-PROF01\n"
_C8: Final = b"STMGC-C8-PROF01\n"
MAGICS: Final = (_C7, _C8)
MAGIC_SIZE: Final = 16


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write an stm.log.

    Attributes:
        name: What `--numbering` calls it.
        magic: The first 16 bytes.
        packet: The fixed part of a packet as seconds, nanoseconds, thread, event, and
            the lengths of the markers: one byte, or two as one number.
        kinds: The kind that each event number stands for.
        two_markers: Whether a packet has two markers.
        other_offset: Where the other thread's number stands in a packet, or None.
        fixed: Of a packet the nanoseconds, the thread and the event.
    """

    name: str
    magic: bytes
    packet: struct.Struct
    kinds: tuple[int, ...]
    two_markers: bool
    other_offset: int | None = None
    fixed: struct.Struct = field(init=False)

    def __post_init__(self) -> None:
        fixed = "<4xII4xBxx" if self.other_offset is not None else "<4xIIBxx"
        if not self.two_markers:
            fixed = "<4xIIBx"
        object.__setattr__(self, "fixed", struct.Struct(fixed))

    def __deepcopy__(self, _: object) -> Format:
        return self

    @property
    def contentions(self) -> frozenset[int]:
        """The event numbers that may carry markers."""
        return frozenset(
            event for event, kind in enumerate(self.kinds) if kind in CONTENTIONS
        )

    @property
    def longest(self) -> int:
        """The size of a packet with the longest markers."""
        return self.packet.size + (510 if self.two_markers else 255)

    @property
    def ordered(self) -> bool:
        """Whether the packets of all threads stand in the order of time."""
        return self.name in {"n14", "n16"}


_COLLECTIONS = (MINOR_START, MINOR_DONE, MAJOR_START, MAJOR_DONE)
_N11 = (WRITE_READ, WAIT_FREE, WAIT_INEVITABLE, WAIT_DONE)
_N12 = (WRITE_READ, WAIT_FREE, WAIT_SYNC_PAUSE, WAIT_INEVITABLE, WAIT_DONE)
_N13 = (WRITE_READ, INEVITABLE, *_N12[1:])
_N14 = (INEVITABLE, WRITE_READ, WAIT_FREE, WAIT_SYNCING, *_N12[2:])
_N16 = (DETACH, REATTACH, *_N14)
_SHORT = struct.Struct("<IIIBB")


def _c8(name: str, middle: tuple[int, ...]) -> Format:
    """Return one of the tables of C8."""
    kinds = (START, COMMIT, ABORT, *middle, *_COLLECTIONS)
    return Format(name, _C8, _SHORT, kinds, two_markers=False)


FORMATS: Final = {
    one.name: one
    for one in (
        Format("c7", _C7, struct.Struct("<III4xBH"), tuple(range(15)), True, 12),
        Format("c7-15", _C7, struct.Struct("<IIIBH"), tuple(range(15)), True),
        # The newest first: between equals, `grammar` takes the first.
        _c8("n16", _N16),
        _c8("n14", _N14),
        _c8("n13", _N13),
        _c8("n12", _N12),
        _c8("n11", _N11),
    )
}
"""Every format by its name."""
