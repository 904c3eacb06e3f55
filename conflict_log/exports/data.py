"""JSON and CSV: everything that the report knows."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

from conflict_log.escaping import escaped

if TYPE_CHECKING:
    from conflict_log.markers import Site
    from conflict_log.report import Loss, Totals
    from conflict_log.rows import Row
    from conflict_log.sources import Sources
    from conflict_log.summary import Entry, Summary

__all__ = ["FORMAT", "VERSION", "to_csv", "to_json"]

FORMAT = "conflict-log"
VERSION = 1


def to_json(summary: Summary, _: Sources) -> str:
    """Return all figures as JSON; fields may be added, none changes its meaning."""
    report = summary.report
    document = {
        "format": FORMAT,
        "version": VERSION,
        "sources": [
            {
                "path": one.path,
                "format": one.format,
                "breaks": one.breaks,
                "margin": one.margin,
                "events": one.events,
                "size": one.size,
            }
            for one in report.sources
        ],
        "start_ns": report.start_ns,
        "stop_ns": report.stop_ns,
        "verdict": summary.verdict,
        "totals": _totals(report.totals),
        "workers": [
            {
                "name": one.name,
                "address": one.address,
                "totals": _totals(one.totals),
            }
            for one in report.workers
        ],
        "by": summary.by,
        "rows": [_entry(one) for one in summary.entries],
        "rest_ns": summary.rest.lost_ns if summary.rest else 0,
        "filtered_ns": summary.filtered_ns,
        "losses": [_loss(one) for one in report.losses],
        "piece_ns": report.piece_ns,
        "pieces": report.pieces,
        "notes": list(report.notes),
    }
    return json.dumps(document, indent=1) + "\n"


def _totals(totals: Totals) -> dict[str, object]:
    return {
        "worker_ns": totals.worker_ns,
        "committed_ns": totals.committed_ns,
        "aborted_ns": totals.aborted_ns,
        "paused_ns": dict(totals.paused_ns),
        "detached_ns": totals.detached_ns,
        "idle_ns": totals.idle_ns,
        "unattributed_ns": totals.unattributed_ns,
        "commits": totals.commits,
        "aborts": totals.aborts,
        "minor_ns": totals.minor_ns,
        "major_ns": totals.major_ns,
    }


def _site(site: Site | None) -> dict[str, object] | None:
    if site is None:
        return None
    return {
        "file": site.file,
        "line": site.line,
        "function": site.function,
        "offset": site.offset,
        "handler": site.handler,
        "cell": site.cell,
        "cut": site.cut,
    }


def _figures(one: Loss | Row) -> dict[str, object]:
    return {
        "count": one.count,
        "aborts": one.aborts,
        "lost_ns": one.lost_ns,
        "aborted_ns": one.aborted_ns,
        "paused_ns": one.paused_ns,
        "longest_ns": one.longest_ns,
    }


def _loss(loss: Loss) -> dict[str, object]:
    return {
        "kind": loss.kind,
        "victim": _site(loss.victim),
        "culprit": _site(loss.culprit),
        "worker": loss.worker,
        **_figures(loss),
        "curve": sorted(loss.curve.items()),
    }


def _entry(entry: Entry) -> dict[str, object]:
    row = entry.row
    return {
        "rank": entry.rank,
        "label": row.label,
        "kinds": list(row.kinds),
        "site": _site(row.site),
        "against": [_site(one) for one in entry.against],
        **_figures(row),
        "mean_ns": row.mean_ns,
        "share": row.share,
        "cumulated": row.cumulated,
        "source": entry.text.line if entry.text else None,
        "rule": entry.rule.name if entry.rule else None,
        "advice": entry.rule.advice if entry.rule else None,
    }


_COLUMNS = [
    "rank",
    "label",
    "kinds",
    "file",
    "line",
    "function",
    "handler",
    "cell",
    "against",
    "lost_ns",
    "aborted_ns",
    "paused_ns",
    "share",
    "cumulated",
    "count",
    "aborts",
    "mean_ns",
    "longest_ns",
    "source",
    "advice",
]


def to_csv(summary: Summary, _: Sources) -> str:
    """Return the rows as a table for spreadsheets, which must not take it for code."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for entry in summary.entries:
        row, site = entry.row, entry.row.site
        cells: list[object] = [
            entry.rank,
            row.label,
            ", ".join(row.kinds),
            *((site.file, site.line, site.function) if site else ("", "", "")),
            *((site.handler, site.cell) if site else ("", "")),
            ", ".join(one.place for one in entry.against),
            *(row.lost_ns, row.aborted_ns, row.paused_ns),
            *(f"{row.share:.6f}", f"{row.cumulated:.6f}"),
            *(row.count, row.aborts, row.mean_ns, row.longest_ns),
            entry.text.line if entry.text else "",
            entry.rule.advice if entry.rule else "",
        ]
        writer.writerow([_harmless(one) for one in cells])
    return text.getvalue()


def _harmless(cell: object) -> object:
    """Return a cell that no spreadsheet runs as a formula."""
    if not isinstance(cell, str):
        return cell
    text = escaped(cell)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
