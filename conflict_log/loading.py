"""From files to a report: `load`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from conflict_log.errors import FormatError, UsageError
from conflict_log.files import members
from conflict_log.formats import FORMATS, KIND_NAMES, WRITE_READ
from conflict_log.markers import parse_marker
from conflict_log.opening import read_log
from conflict_log.report import Loss, Report, Source, Totals, Worker

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conflict_log.accounts import Cost, Thread
    from conflict_log.files import Progress
    from conflict_log.ledger import Ledger
    from conflict_log.reader import Reading

__all__ = ["assemble", "load"]


def load(
    *paths: str | os.PathLike[str],
    numbering: str | None = None,
    forks: bool = True,
    begin_seconds: float | None = None,
    end_seconds: float | None = None,
    progress: Progress | None = None,
) -> Report:
    """Return what logs say.

    Constant memory: the logs may be of any length. May be called on any thread.

    Args:
        paths: Logs, plain or compressed by gzip, ``-`` for standard input.
        numbering: The name of their format, None to find out.
        forks: Whether the logs of forked processes, ``PATH.fork<PID>``, belong to it.
        begin_seconds: Where to begin, in seconds from the first event, or None.
        end_seconds: Where to end, likewise.
        progress: Told how many bytes were read, each time.

    Raises:
        FormatError: One is not an stm.log, or holds no event.
        OSError: One cannot be read.
        UsageError: There is no such format, or no path.
    """
    if numbering is not None and numbering not in FORMATS:
        raise UsageError(f"no numbering {numbering!r}; there are {', '.join(FORMATS)}")
    names = [os.fspath(path) for path in paths]
    if forks:
        names = list(dict.fromkeys(one for path in names for one in members(path)))
    if not names:
        raise UsageError("no log was named")
    how = numbering, begin_seconds, end_seconds, progress
    readings = [read_log(one, *how) for one in names]
    whole = [one for one in readings if one.ledger.events]
    if not whole:
        raise FormatError(names[0], "no event in it")
    return assemble(readings, whole)


def assemble(
    readings: Sequence[Reading], whole: Sequence[Reading], excerpt: bool = False
) -> Report:
    """Return one report of all that was read.

    Args:
        readings: What was read.
        whole: Those among them that hold events.
        excerpt: Whether they begin and end in the midst of things, as is to be
            expected: that transactions are cut needs no note.
    """
    start = min(one.ledger.start for one in whole)
    stop = max(one.ledger.stop for one in whole)
    # One piece length for all; a ledger's pieces start with its own first event.
    shift = max(one.ledger.curve.shift for one in whole)
    while stop - start >> shift >= 256:
        shift += 1
    workers: list[Worker] = []
    losses: list[Loss] = []
    for index, reading in enumerate(whole):
        ledger = reading.ledger
        workers.extend(_workers(ledger, index, start, shift))
        losses.extend(_losses(ledger, index, start, shift))
    losses.sort(key=lambda one: (-one.lost_ns, -one.count))
    return Report(
        [_source(one) for one in readings],
        start,
        stop,
        sum((one.totals for one in workers), Totals()),
        workers,
        losses,
        [note for one in readings for note in _notes(one, excerpt)],
        1 << shift,
        (stop - start >> shift) + 1,
        any(one.skipped or one.strays or one.cut for one in readings),
    )


def _source(reading: Reading) -> Source:
    found = reading.guess
    return Source(
        reading.path,
        found.format.name,
        found.breaks,
        found.margin,
        reading.ledger.events,
        reading.size,
    )


def _workers(ledger: Ledger, process: int, start: int, shift: int) -> Iterator[Worker]:
    for number in sorted(ledger.threads):
        thread = ledger.threads[number]
        yield Worker(
            process,
            number,
            _totals(thread, ledger.stop - ledger.start),
            _curve(ledger, number, start, shift),
            _address(ledger, number),
        )


def _address(ledger: Ledger, number: int) -> str:
    return ", then ".join(ledger.addresses.get(number, ()))


def _totals(thread: Thread, real: int) -> Totals:
    """Return a thread's accounts; what is in none of them was idle."""
    return Totals(
        thread.committed,
        thread.aborted,
        {KIND_NAMES[kind]: spent for kind, spent in sorted(thread.waited.items())},
        thread.detached,
        real - thread.busy,
        thread.lost,
        real,
        thread.commits,
        thread.aborts,
        thread.minor,
        thread.major,
    )


def _curve(
    ledger: Ledger, number: int, start: int, shift: int
) -> list[tuple[int, int, int]]:
    """Return what a thread's accounts grew by in each piece of time."""
    curve: list[list[int]] = []
    before = (0, 0, 0)
    for place, mark in sorted(ledger.marks.items()):
        now = mark.get(number)
        if now is None:
            continue
        piece = ledger.curve.begin + (place << ledger.curve.shift) - start >> shift
        while len(curve) <= piece:
            curve.append([0, 0, 0])
        for index in range(3):
            curve[piece][index] += now[index] - before[index]
        before = now
    return [(one[0], one[1], one[2]) for one in curve]


def _losses(ledger: Ledger, process: int, start: int, shift: int) -> Iterator[Loss]:
    for cost in ledger.costs.values():
        victim, culprit = _sides(ledger, cost)
        curve: dict[int, int] = {}
        for place, spent in cost.bins.items():
            piece = ledger.curve.begin + (place << ledger.curve.shift) - start >> shift
            curve[piece] = curve.get(piece, 0) + spent
        yield Loss(
            KIND_NAMES[cost.kind],
            parse_marker(victim),
            parse_marker(culprit),
            f"{process}.{cost.thread}" if process else str(cost.thread),
            cost.count,
            cost.aborts,
            cost.aborted,
            cost.paused,
            cost.longest,
            curve,
            _address(ledger, cost.thread),
        )


def _sides(ledger: Ledger, cost: Cost) -> tuple[bytes, bytes]:
    """Return the victim's marker and the culprit's."""
    if not ledger.form.two_markers:
        # C8's write-read points to the write of the other; inevitable, to its own.
        if cost.kind == WRITE_READ:
            return b"", cost.marker1
        return cost.marker1, b""
    if cost.remote:  # who wrote the event has won
        return cost.marker2, cost.marker1
    return cost.marker1, cost.marker2


def _notes(reading: Reading, excerpt: bool) -> Iterator[str]:
    """Yield what is wrong with a file, or uncertain."""
    path, ledger = reading.path, reading.ledger
    found = reading.guess
    if not ledger.events:
        yield f"{path}: no event in it"
    if found.breaks > 0.1 and not found.format.two_markers:
        yield (
            f"{path}: read as {found.format.name}, but {found.breaks:.2f} things per "
            "event make no sense; is it another numbering?"
        )
    for damage in reading.damages:
        yield f"{path}: {damage.size} bytes at {damage.offset} are no events"
    if reading.skipped > sum(one.size for one in reading.damages):
        yield f"{path}: {reading.skipped} bytes are no events, more places than these"
    if reading.strays:
        yield f"{path}: {reading.strays} events left out, whose time cannot be right"
    if reading.cut:
        yield f"{path}: cut in its last event, {reading.cut} bytes left out"
    if ledger.unstarted and not excerpt:
        yield f"{path}: {ledger.unstarted} transactions end that have not started"
    if ledger.unfinished and not excerpt:
        yield f"{path}: {ledger.unfinished} transactions have no end"
    if ledger.crowded:
        yield f"{path}: too many lines or threads to keep apart; some share a row"
