"""Which format a log has, told by what its packets would mean.

Read with the wrong table, a log is nonsense: transactions commit that never started,
waits end that never began, events carry markers that never do. The table with the
least nonsense in the first packets is the right one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from conflict_log import formats
from conflict_log.formats import CONTENTIONS, FORMATS, MAGIC_SIZE, WAITS, Format
from conflict_log.markers import WORKER

__all__ = ["Guess", "guess"]

# Enough where the tables differ at once; else, so many more.
_FEW = 1_000
_PACKETS = 10_000
_CLEAR = 0.05
_SECOND = 1_000_000_000

# How much worse than a broken order of events it is that a packet cannot be one.
_IMPOSSIBLE = 10.0
_MARKERLESS = 0.25


@dataclass(frozen=True, slots=True)
class Guess:
    """The format that fits best, and how sure that is.

    Attributes:
        format: The format.
        breaks: Nonsense per packet when read with it; 0 is a perfect log.
        margin: How much more nonsense per packet the next best has; 0 is a tie, in
            which case both read the first packets alike.
    """

    format: Format
    breaks: float
    margin: float


@dataclass(slots=True)
class _Thread:
    """What the grammar remembers of a thread."""

    inside: bool | None = None  # not known before its first event: a fork starts inside
    waiting: bool = False
    losing: bool = False
    collecting: set[int] = field(default_factory=set)


def guess(data: bytes) -> Guess:
    """Return the format that the first bytes of a log fit best.

    Args:
        data: The beginning of the log, magic and all; 250,000 bytes are plenty.
    """
    candidates = [one for one in FORMATS.values() if data.startswith(one.magic)]
    found = _best(data, candidates, _FEW)
    if found.margin < _CLEAR:
        found = _best(data, candidates, _PACKETS)
    return found


def _best(data: bytes, candidates: list[Format], packets: int) -> Guess:
    """Return the format that fits the first packets best."""
    scores = [breaks(data, one, packets) for one in candidates]
    best = min(range(len(scores)), key=scores.__getitem__)
    others = [score for index, score in enumerate(scores) if index != best]
    return Guess(candidates[best], scores[best], min(others) - scores[best])


def breaks(data: bytes, form: Format, packets: int) -> float:
    """Return how much nonsense per packet the data is when read as a format."""
    unpack, size = form.packet.unpack_from, form.packet.size
    threads: dict[int, _Thread] = {}
    position, end, total, count, last = MAGIC_SIZE, len(data) - size, 0.0, 0, 0
    while position <= end and count < packets:
        count += 1
        seconds, nanoseconds, number, event, lengths = unpack(data, position)
        marker, position = position + size, position + size + (lengths & 255)
        position += lengths >> 8
        if lengths and data.startswith(WORKER, marker):
            continue  # it says where a worker is, and is no event
        if event >= len(form.kinds) or nanoseconds >= _SECOND:
            total += _IMPOSSIBLE
            continue
        time = seconds * _SECOND + nanoseconds
        if time < last:
            total += 1.0 if time < last - _SECOND else 0.1
        last = time
        thread = threads.get(number)
        if thread is None:
            thread = threads[number] = _Thread()
        total += _nonsense(thread, form.kinds[event], bool(lengths))
    return total / count if count else 0.0


def _nonsense(thread: _Thread, kind: int, marked: bool) -> float:
    """Return what one event adds, and remember it."""
    if kind in CONTENTIONS:
        thread.losing = kind == formats.WRITE_READ
        wrong = 0.0 if marked else _MARKERLESS
        return wrong + (1.0 if thread.inside is False else 0.0)
    wrong = 5.0 if marked else 0.0
    if kind in {formats.START, formats.COMMIT, formats.ABORT}:
        return wrong + _boundary(thread, kind)
    if kind in WAITS:
        if thread.waiting or (kind == formats.WAIT_FREE and thread.inside):
            wrong += 1.0
        thread.waiting = True
    elif kind == formats.WAIT_DONE:
        wrong += 0.0 if thread.waiting else 1.0
        thread.waiting = False
    elif kind in {formats.MINOR_START, formats.MAJOR_START}:
        wrong += 1.0 if kind in thread.collecting else 0.0
        thread.collecting.add(kind)
    elif kind in {formats.MINOR_DONE, formats.MAJOR_DONE}:
        wrong += 0.0 if kind - 1 in thread.collecting else 1.0
        thread.collecting.discard(kind - 1)
    return wrong


def _boundary(thread: _Thread, kind: int) -> float:
    """Return what the start or end of a transaction adds, and remember it."""
    starts = kind == formats.START
    wrong = 1.0 if thread.inside is starts else 0.0
    if kind == formats.COMMIT and thread.losing:
        wrong += 0.5  # who has lost a race aborts
    if not starts or not thread.inside:
        thread.waiting = thread.waiting and kind == formats.COMMIT
    thread.inside = starts
    thread.losing = False
    return wrong
