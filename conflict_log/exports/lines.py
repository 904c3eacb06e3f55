"""One line for each row: annotations of GitHub, and the lists that editors jump by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conflict_log.escaping import escaped
from conflict_log.words import percent, seconds, times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conflict_log.markers import Site
    from conflict_log.sources import Sources
    from conflict_log.summary import Entry, Summary

__all__ = ["to_github", "to_quickfix"]


def to_github(summary: Summary, _: Sources) -> str:
    """Return the rows as workflow commands, which GitHub shows beside the lines."""
    lines = [
        f"::warning file={_property(site.file)},line={site.line},"
        f"title={_property(_title(entry))}::{_data(_message(entry))}"
        for entry, site in _placed(summary)
    ]
    return "".join(f"{one}\n" for one in lines)


def to_quickfix(summary: Summary, _: Sources) -> str:
    """Return the rows as `file:line: message`."""
    return "".join(
        f"{escaped(site.file)}:{site.line}: {_title(entry)}; {_message(entry)}\n"
        for entry, site in _placed(summary)
    )


def _placed(summary: Summary) -> Iterator[tuple[Entry, Site]]:
    for entry in summary.entries:
        site = entry.row.site
        if site is not None and site.line:
            yield entry, site


def _title(entry: Entry) -> str:
    row = entry.row
    return f"{seconds(row.lost_ns)} lost to conflicts here ({percent(row.share)})"


def _message(entry: Entry) -> str:
    row = entry.row
    parts = [f"{times(row.count)} times {', '.join(row.kinds)}"]
    if entry.against:
        parts.append(
            "against " + ", ".join(escaped(one.place) for one in entry.against)
        )
    if entry.rule is not None:
        parts.append(entry.rule.advice)
    return "; ".join(parts)


def _data(text: str) -> str:
    """Return text as GitHub wants it in a message."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Return text as GitHub wants it in a property."""
    return _data(escaped(text)).replace(":", "%3A").replace(",", "%2C")
