"""PyPy's text from what its tools add up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from conflict_log import formats
from conflict_log.compat.newer import NewerTally
from conflict_log.compat.older import OlderTally
from conflict_log.compat.packets import strict_packets
from conflict_log.errors import FormatError
from conflict_log.files import CHUNK, opened, read_fully
from conflict_log.formats import FORMATS, MAGIC_SIZE, MAGICS
from conflict_log.grammar import guess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conflict_log.compat.tally import Tally, Toll
    from conflict_log.formats import Format

__all__ = ["Printed", "print_log", "tally_log"]

_OLDER = {"c7", "c7-15", "n11", "n12"}
# Before it had an argument for it, the tool printed 15 rows, and of each 48 columns.
_FIFTEEN = {*_OLDER, "n13"}

_MARKER = re.compile(rb'File "(.+)", line (\d+)')
_NAMES = {
    formats.WRITE_WRITE: b"STM_CONTENTION_WRITE_WRITE",
    formats.WRITE_READ: b"STM_CONTENTION_WRITE_READ",
    formats.INEVITABLE: b"STM_CONTENTION_INEVITABLE",
}
_BECOME = b"STM_BECOME_INEVITABLE"


@dataclass(frozen=True, slots=True)
class Printed:
    """What `--compat` prints.

    Attributes:
        text: PyPy's text, for standard output.
        note: Where PyPy's tool gives up, or None if it succeeds.
    """

    text: bytes
    note: str | None


def print_log(path: str, numbering: str | None, rows: int | None) -> Printed:
    """Return PyPy's text about a log.

    Args:
        path: The log.
        numbering: The name of its format, None to find out.
        rows: How many rows, None for as many as the tool of its time printed.

    Raises:
        FormatError: It is not an stm.log, or there is nothing in it.
        OSError: It cannot be read.
    """
    form, tally, note = tally_log(path, numbering)
    if rows is None:
        rows = 15 if form.name in _FIFTEEN else 5
    lines: list[bytes] = []
    try:
        lines.extend(_head(tally, form))
    except ZeroDivisionError:
        note = note or "no transactions, or no time: PyPy's tool divides by zero"
    columns = 48 if form.name in _FIFTEEN else 60
    for toll in tally.ranked()[:rows]:
        bins, whole = _bins(toll, tally, columns)
        if not whole:
            note = note or "a conflict at the last moment: PyPy's tool fails there"
        lines.extend(_row(toll, form))
        shape = _crosses(bins) if form.name in _FIFTEEN else _steps(bins)
        lines.extend([b"time line: " + shape, b""])
    return Printed(b"".join(line + b"\n" for line in lines), note)


def tally_log(path: str, numbering: str | None) -> tuple[Format, Tally, str | None]:
    """Add a log up as PyPy's tool of its time does.

    Returns:
        The log's format, the sums, and where PyPy's tool gives up or None.

    Raises:
        FormatError: It is not an stm.log, or there is nothing in it.
        OSError: It cannot be read.
    """
    with opened(path) as file:
        start = read_fully(file, CHUNK)
        if not start.startswith(MAGICS):
            raise FormatError(path, "not an stm.log: it does not begin as one")
        form = FORMATS[numbering] if numbering else guess(start).format
        tally: Tally = OlderTally(form) if form.name in _OLDER else NewerTally(form)
        note = tally.add_all(strict_packets(file, start[MAGIC_SIZE:], form))
    if not tally.packets:
        raise FormatError(path, f"an empty log{f': {note}' if note else ''}")
    return form, tally, note


def _percent(part: float, whole: float) -> str:
    """Return a share in at most four characters."""
    text = f"{part * 100.0 / whole:.1f}"
    return f"{text.split('.')[0] if len(text) > 3 else text}%"


def _head(tally: Tally, form: Format) -> Iterator[bytes]:
    """Yield the lines above the rows, as far as they can be computed."""
    real = tally.stop - tally.start
    yield b""
    if isinstance(tally, OlderTally):
        yield b"Total real time:             %.3fs" % real
        share = _percent(tally.cpu, real)
        yield f"Total CPU time in STM mode:  {tally.cpu:.3f}s ({share})".encode()
        yield b""
        return
    assert isinstance(tally, NewerTally)
    yield b"Total real time:     %9.3fs" % real
    parts = [tally.total(name) for name in ("committed", "aborted", "paused")]
    every = [
        ("CPU time in STM mode:", parts[0], "committed"),
        ("", parts[1], "aborted"),
        ("", parts[2], "paused"),
        ("", sum(parts), "TOTAL"),
        ("           including ", tally.total("minor"), "minor GC collections"),
        ("                 and ", tally.total("major"), "major GC collections"),
    ]
    for title, spent, what in every:
        share = _percent(spent, real)
        yield f"{title:21}{spent:9.3f}s ({share:>4}) {what}".encode()
    if form.name not in _FIFTEEN:
        yield from _transactions(tally, sum(parts))
    yield b""


def _transactions(tally: NewerTally, spent: float) -> Iterator[bytes]:
    """Yield the two lines that count transactions."""
    commits, aborts = int(tally.total("commits")), int(tally.total("aborts"))
    count = commits + aborts
    rate = count / spent
    done, lost = _percent(commits, count), _percent(aborts, count)
    yield (
        f"Total number of transactions: {count:6.0f}"
        f" committed: {done:>4} aborted: {lost:>4}"
    ).encode()
    yield b"     transactions per second: %6.f" % rate


def _row(toll: Toll, form: Format) -> Iterator[bytes]:
    """Yield what a row cost, and its markers with their source lines."""
    name = _NAMES[toll.kind]
    if toll.kind == formats.INEVITABLE and not form.two_markers:
        name = _BECOME
    yield b"%.3fs lost in aborts, %.3fs paused (%dx %s)" % (
        toll.aborted,
        toll.paused,
        toll.count,
        name,
    )
    # PyPy's last tool searches the marker for the place, those before it match.
    find: Callable[[bytes], re.Match[bytes] | None] = _MARKER.match
    if form.name not in _FIFTEEN:
        find = _MARKER.search
    for marker in toll.markers:
        yield b"  " + marker
        match = find(marker)
        source = _source(match[1], int(match[2])) if match else b""
        if source:
            yield b"    " + source


def _source(name: bytes, line: int) -> bytes:
    """Return a line of a file as it is today, without the blanks around it."""
    if name.endswith((b".pyc", b".pyo")):
        return b""
    try:
        lines = Path(name.decode(errors="surrogateescape")).read_bytes().splitlines()
    except (OSError, ValueError):
        return b""
    return lines[line - 1].strip() if 1 <= line <= len(lines) else b""


def _bins(toll: Toll, tally: Tally, columns: int) -> tuple[list[int], bool]:
    """Return how often it happened in each column, and if all fell into one."""
    real = tally.stop - tally.start
    bins, whole = [0] * columns, True
    for seconds in toll.times:
        column = int((seconds - tally.start) / real * columns) if real else columns
        whole = whole and -columns <= column < columns
        bins[max(-columns, min(column, columns - 1))] += 1
    return bins, whole


def _crosses(bins: Sequence[int]) -> bytes:
    """Return a time line that tells where something happened."""
    return b"".join(b"x" if count else b"." for count in bins)


def _steps(bins: Sequence[int]) -> bytes:
    """Return a time line that tells in three steps how often."""
    fullest = max(bins) + 0.1
    steps = ("_xX"[int(count / fullest * 3)] if count else " " for count in bins)
    return f"|{''.join(steps)}|".encode()
