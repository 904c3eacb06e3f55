"""The events of a log as slices and marks, for the trace viewers of browsers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from conflict_log import formats
from conflict_log.errors import UsageError
from conflict_log.escaping import escaped
from conflict_log.files import STDIN
from conflict_log.formats import CONTENTIONS, KIND_NAMES, WAITS
from conflict_log.markers import parse_marker
from conflict_log.opening import open_reader
from conflict_log.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conflict_log.report import Report
    from conflict_log.sources import Sources
    from conflict_log.summary import Summary

__all__ = ["to_chrome"]

_SECOND: Final = 1_000_000_000

# What a browser can still show.
MOST_EVENTS: Final = 1_000_000

_Entry = dict[str, object]


def to_chrome(summary: Summary, _: Sources) -> str:
    """Return a trace: a track for each worker, waits inside of transactions.

    Raises:
        UsageError: The log cannot be read twice, or has too many events.
    """
    report = summary.report
    if report.events > MOST_EVENTS:
        raise UsageError(
            f"{report.events:,} events are too many for a trace: use --from and --to"
        )
    entries: list[_Entry] = []
    for process, source in enumerate(report.sources):
        if source.path == STDIN:
            raise UsageError("a trace needs a file, not standard input")
        name = {"name": escaped(source.path)}
        entries.append(_entry("process_name", "M", process, 0, args=name))
        with open_reader(_Tracer, source.path, source.format) as tracer:
            tracer.prepare(entries, process, report)
            tracer.read()
            tracer.close_all()
    document = {"traceEvents": entries, "displayTimeUnit": "ms"}
    return json.dumps(document) + "\n"


def _entry(name: str, phase: str, process: int, thread: int, **more: object) -> _Entry:
    return {"name": name, "ph": phase, "pid": process, "tid": thread, **more}


class _Tracer(Reader):
    """Makes entries of events instead of adding them up."""

    def prepare(self, entries: list[_Entry], process: int, report: Report) -> None:
        """Set where entries go, and the time that they are of."""
        self._entries, self._process = entries, process
        of_process = [one for one in report.workers if one.process == process]
        self._titles = {one.number: one.title for one in of_process}
        self._from, self._to = report.start_ns, report.stop_ns
        # For each thread, what has begun: a transaction, and a wait in it.
        self._begun: dict[int, dict[str, tuple[int, str]]] = {}

    def add(self, data: bytes, markers: Iterator[tuple[bytes, bytes, int]]) -> None:
        """Make entries of records."""
        kinds = self.form.kinds
        for seconds, nanos, number, event, _ in self.form.packet.iter_unpack(data):
            now, kind = seconds * _SECOND + nanos, kinds[event]
            self.last = max(self.last, now)
            self.ledger.events += 1
            if number not in self._begun:
                self._begun[number] = {}
                name = {"name": escaped(self._titles.get(number, f"worker {number}"))}
                entry = _entry("thread_name", "M", self._process, number, args=name)
                self._entries.append(entry)
            marker = next(markers) if kind in CONTENTIONS else None
            self._put(number, now, kind, marker)

    def close_all(self) -> None:
        """End what the log leaves open."""
        for number, begun in self._begun.items():
            for track in list(begun):
                self._end(number, self.last, track, "unfinished")

    def _put(
        self,
        number: int,
        now: int,
        kind: int,
        marker: tuple[bytes, bytes, int] | None,
    ) -> None:
        if kind == formats.START:
            self._end(number, now, "wait")
            self._end(number, now, "transaction", "unfinished")
            self._begun[number]["transaction"] = now, "committed"
        elif kind in {formats.COMMIT, formats.ABORT}:
            self._end(number, now, "wait")
            ended = "committed" if kind == formats.COMMIT else "aborted"
            self._end(number, now, "transaction", ended)
        elif kind in WAITS:
            self._end(number, now, "wait")
            self._begun[number]["wait"] = now, KIND_NAMES[kind]
        elif kind == formats.WAIT_DONE:
            self._end(number, now, "wait")
        elif marker is not None and self._from <= now <= self._to:
            sites = [parse_marker(one) for one in marker[:2]]
            places = {
                f"place {index}": escaped(one.place)
                for index, one in enumerate(sites, 1)
                if one
            }
            at = (now - self._from) / 1000
            mark = _entry(KIND_NAMES[kind], "i", self._process, number, ts=at, s="t")
            self._entries.append({**mark, "args": places})

    def _end(self, number: int, now: int, track: str, name: str = "") -> None:
        """End a slice; those outside of the time asked for are left out."""
        begun = self._begun[number].pop(track, None)
        if begun is None:
            return
        since, what = begun
        since, until = max(since, self._from), min(now, self._to)
        if since > until:
            return
        self._entries.append(
            _entry(
                name or what,
                "X",
                self._process,
                number,
                ts=(since - self._from) / 1000,
                dur=(until - since) / 1000,
                cat=track,
            )
        )
