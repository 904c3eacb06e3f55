"""What the reports show, in the order in which they show it: rows before rendering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conflict_log.advice import Evidence, Rule, advise, pairs_of
from conflict_log.rows import rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from conflict_log.markers import Site
    from conflict_log.report import Report
    from conflict_log.rows import Row
    from conflict_log.sources import Sources, Text

__all__ = ["Entry", "Part", "Rest", "Summary", "binned", "summarize"]

# Below it, nothing is gained by looking at conflicts.
WORTH: Final = 0.02

# From then on it is said first: conflicts are not what keeps it from more.
IDLE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the workers' time, its share from 0 to 1; `inner` is part of a part."""

    name: str
    spent_ns: int
    share: float
    inner: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A row with all that is said of it.

    Attributes:
        rank: Its place, from 1.
        row: The row.
        text: The source text of its place, or None.
        against: The places of the other side, the dearest first.
        rule: What to do, or None.
    """

    rank: int
    row: Row
    text: Text | None
    against: Sequence[Site]
    rule: Rule | None


@dataclass(frozen=True, slots=True)
class Rest:
    """The rows that are not shown, and what they hold."""

    rows: int
    count: int
    lost_ns: int
    share: float


@dataclass(frozen=True, slots=True)
class Summary:
    """A report made ready to be rendered.

    Attributes:
        report: The report.
        by: How the rows are grouped.
        verdict: What can be gained, in a sentence.
        parts: Where the workers' time went; those that are not inner add up.
        entries: The rows that are shown.
        rest: Those that are not, None if all are.
        filtered_ns: What was lost to conflicts that a filter has left out.
    """

    report: Report
    by: str
    verdict: str
    parts: Sequence[Part]
    entries: Sequence[Entry]
    rest: Rest | None
    filtered_ns: int


def summarize(
    report: Report, sources: Sources, by: str = "line", top: int = 10
) -> Summary:
    """Return what to show of a report.

    Args:
        report: The report; its losses may be some of those that it had.
        sources: Where the source text is.
        by: How to group, see `rows`.
        top: How many rows to show, 0 for all.

    Raises:
        UsageError: There is no such grouping.
    """
    grouped = rows(report, by)
    shown = grouped[:top] if top else grouped
    hidden = grouped[len(shown) :]
    rest = None
    if hidden:
        rest = Rest(
            len(hidden),
            sum(one.count for one in hidden),
            sum(one.lost_ns for one in hidden),
            sum(one.share for one in hidden),
        )
    pairs = pairs_of(report)
    entries = [
        _entry(rank, row, report, sources, pairs) for rank, row in enumerate(shown, 1)
    ]
    kept = sum(one.lost_ns for one in report.losses)
    return Summary(
        report,
        by,
        verdict(report, grouped),
        list(_parts(report)),
        entries,
        rest,
        report.totals.lost_ns - kept,
    )


def verdict(report: Report, grouped: Sequence[Row]) -> str:
    """Return what the best possible gain from the first row is, shortly."""
    totals = report.totals
    lost, busy = totals.lost_ns, totals.busy_ns
    if not busy:
        return "No transaction in this log."
    idle = totals.idle_ns / totals.worker_ns if totals.worker_ns else 0.0
    begin = ""
    if idle >= IDLE:
        begin = f"The workers were idle {idle:.0%} of the time. "
    if lost < WORTH * busy:
        where = ": what keeps cores idle lies outside of transactions" if begin else ""
        return (
            f"{begin}Conflicts cost {lost / busy:.1%} of the busy time, not worth "
            f"tuning{where}."
        )
    if not grouped:
        return f"{begin}{lost / busy:.0%} of the busy time was lost."
    first = grouped[0]
    left = busy - first.lost_ns
    share = f"{begin}{lost / busy:.0%} of the busy time was lost"
    if left <= 0:
        return f"{share}, all of it at {first.label}."
    gain = f"up to {busy / left:.2f}x faster"
    if first.site is None and not first.aborts:
        return f"{share}; without its waits ({first.kinds[0]}) this would be {gain}."
    return f"{share}; fixing {first.label} would make this {gain}."


def _parts(report: Report) -> Iterator[Part]:
    totals = report.totals
    whole = totals.worker_ns or 1

    def part(name: str, spent: int, inner: bool = False) -> Part:
        return Part(name, spent, spent / whole, inner)

    yield part("committed", totals.committed_ns)
    yield part("aborted", totals.aborted_ns)
    yield part("paused", totals.waiting_ns)
    for cause, spent in totals.paused_ns.items():
        yield part(cause, spent, inner=True)
    if totals.detached_ns:
        yield part("detached", totals.detached_ns)
    yield part("idle", totals.idle_ns)
    yield part("unattributed", totals.unattributed_ns)


def _entry(
    rank: int,
    row: Row,
    report: Report,
    sources: Sources,
    pairs: Collection[tuple[str, str]],
) -> Entry:
    victims, culprits = row.victims, row.culprits
    sites = [*victims[:1], *culprits[:1]]
    found = [sources.text(one) for one in sites]
    texts = [one for one in found if one is not None]
    rule = advise(Evidence(row, texts, report, pairs))
    against = _distinct(culprits) if victims else []
    return Entry(rank, row, sources.text(row.site), against, rule)


def _distinct(sites: Sequence[Site]) -> list[Site]:
    """Return one site for each line, the first."""
    seen: dict[str, Site] = {}
    for site in sites:
        seen.setdefault(site.place, site)
    return list(seen.values())


def binned(curve: Mapping[int, int], pieces: int, columns: int) -> list[int]:
    """Return a curve in so many columns."""
    bins = [0] * columns
    for piece, spent in curve.items():
        bins[min(columns - 1, piece * columns // max(pieces, 1))] += spent
    return bins
