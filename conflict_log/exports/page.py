"""The report as HTML: one file without network, and the parts of the live page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tornado.template import Loader

from conflict_log import words
from conflict_log.escaping import escaped
from conflict_log.summary import binned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tornado.template import Template

    from conflict_log.figures import Figures
    from conflict_log.markers import Site
    from conflict_log.report import Report, Worker
    from conflict_log.sources import Sources
    from conflict_log.summary import Summary

__all__ = ["figures_part", "live_page", "report_part", "to_html"]

_COLUMNS: Final = 120
_SPARK_COLUMNS: Final = 40
_LANES: Final = 32
_FILES: Final = 8
_AROUND: Final = 4
_FOLDER: Final = str(Path(__file__).parent)


@dataclass(frozen=True, slots=True)
class Lane:
    """A worker's time line.

    Attributes:
        name: The worker's.
        paths: What was committed, aborted and paused, as paths of SVG; the whole is 1
            high and a column 1 wide.
    """

    name: str
    paths: Sequence[str]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of source with what was lost there; `heat` is from 0 to 1."""

    number: int
    text: str
    lost_ns: int
    heat: float


@dataclass(frozen=True, slots=True)
class Listing:
    """The lines of a file around those that cost something; None is a gap."""

    file: str
    lost_ns: int
    lines: Sequence[Line | None]


def to_html(summary: Summary, sources: Sources) -> str:
    """Return the report as a page of its own."""
    return _filled("page.html", summary, sources)


def report_part(summary: Summary, sources: Sources, home: int = 0) -> str:
    """Return what stands below the heading of a page.

    Args:
        summary: The report.
        sources: Where the source text is.
        home: The number that the log has for the loop's thread, 0 if it is unknown.
    """
    return _filled("report.html", summary, sources, home)


def figures_part(figures: Figures) -> str:
    """Return what stands above the report while the program runs."""
    page = _template("figures.html").generate(
        figures=figures, clean=escaped, words=words
    )
    return page.decode()


def live_page(part: str, by: str, groupings: Sequence[str], nonce: str) -> str:
    """Return a page that fetches its part again and again.

    Args:
        part: What it shows at first.
        by: How its rows are grouped.
        groupings: How they can be.
        nonce: What allows its script to run.
    """
    page = _template("live.html").generate(
        part=part, by=by, groupings=groupings, nonce=nonce
    )
    return page.decode()


def _filled(name: str, summary: Summary, sources: Sources, home: int = 0) -> str:
    report = summary.report
    page = _template(name).generate(
        summary=summary,
        report=report,
        lanes=[_lane(one, report, home) for one in report.workers[:_LANES]],
        more_lanes=max(0, len(report.workers) - _LANES),
        listings=_listings(report, sources),
        spark=lambda row: _bars(binned(row.curve, report.pieces, _SPARK_COLUMNS)),
        clean=escaped,
        words=words,
        brief=lambda nanoseconds: words.brief(nanoseconds / 1e9),
    )
    return page.decode()


@cache
def _template(name: str) -> Template:
    return Loader(_FOLDER).load(name)


def _bars(bins: Sequence[int]) -> str:
    """Return columns as a path of SVG; the highest is 1 high."""
    most = max(bins, default=0) or 1
    return "".join(
        f"M{column} 1v-{spent / most:.3f}h.7V1z"
        for column, spent in enumerate(bins)
        if spent
    )


def _name(worker: Worker, home: int) -> str:
    """Return what a thread of the log is called: the loop's, workers, then fronts."""
    if not home or worker.process or worker.number < home or worker.address:
        return worker.title
    return "loop" if worker.number == home else f"front {worker.number - home}"


def _lane(worker: Worker, report: Report, home: int) -> Lane:
    """Return a worker's time line, drawn to the length of a column."""
    columns = [[0, 0, 0] for _ in range(_COLUMNS)]
    for piece, grown in enumerate(worker.curve):
        column = columns[min(_COLUMNS - 1, piece * _COLUMNS // report.pieces)]
        for index in range(3):
            column[index] += grown[index]
    width = max(report.real_ns / _COLUMNS, report.piece_ns, 1)
    paths: tuple[list[str], ...] = ([], [], [])
    for place, parts in enumerate(columns):
        # What ends in a column may have begun before it.
        scale, bottom = max(width, sum(parts)), 1.0
        for path, spent in zip(paths, parts, strict=True):
            if spent:
                path.append(
                    f"M{place} {bottom:.3f}v-{spent / scale:.3f}h1V{bottom:.3f}z"
                )
                bottom -= spent / scale
    return Lane(escaped(_name(worker, home)), ["".join(one) for one in paths])


def _listings(report: Report, sources: Sources) -> list[Listing]:
    """Return the files in which most was lost."""
    files: dict[str, Counter[int]] = {}
    named: dict[str, Site] = {}
    for loss in report.losses:
        site = loss.site
        if site is not None and site.line and loss.lost_ns:
            files.setdefault(site.file, Counter())[site.line] += loss.lost_ns
            named.setdefault(site.file, site)
    dearest = sorted(files, key=lambda one: -files[one].total())
    listings = [
        Listing(one, files[one].total(), _lines(sources.lines(named[one]), files[one]))
        for one in dearest
    ]
    return [one for one in listings if one.lines][:_FILES]


def _lines(text: Sequence[str], lost: Counter[int]) -> list[Line | None]:
    """Return the lines near those that cost something, gaps between them."""
    near = {
        line + distance
        for line in lost
        for distance in range(-_AROUND, _AROUND + 1)
        if line <= len(text)
    }
    most = max(lost.values())
    lines: list[Line | None] = []
    before = 0
    for number in sorted(one for one in near if 1 <= one <= len(text)):
        if lines and number != before + 1:
            lines.append(None)
        spent = lost[number]
        lines.append(Line(number, text[number - 1], spent, spent / most))
        before = number
    return lines
