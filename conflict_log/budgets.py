"""`conflict-log check`: what a log may cost, for continuous integration."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from conflict_log.words import percent, seconds, times

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conflict_log.comparing import Comparison
    from conflict_log.report import Report

__all__ = ["Budget", "Verdict", "check", "check_baseline"]


@dataclass(frozen=True, slots=True)
class Budget:
    """What is allowed; None and the empty sequence allow all.

    Attributes:
        abort_rate: Attempts thrown away, as a share of all; from 0 to 1.
        lost_share: Time lost, as a share of the busy time; from 0 to 1.
        lost_seconds: Time lost.
        commits: How many transactions have to commit at least: a log of nothing is
            within any other budget.
        forbidden: Places, ``file.py:7`` or ``file.py`` with `*` and `?`, at which
            nothing may be lost.
    """

    abort_rate: float | None = None
    lost_share: float | None = None
    lost_seconds: float | None = None
    commits: int | None = None
    forbidden: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """One budget: whether it was kept, and the figures."""

    kept: bool
    text: str


def check(report: Report, budget: Budget) -> list[Verdict]:
    """Return a verdict for each budget that was set."""
    return list(_verdicts(report, budget))


def _verdicts(report: Report, budget: Budget) -> Iterator[Verdict]:
    totals = report.totals
    attempts = totals.commits + totals.aborts
    if budget.abort_rate is not None:
        rate = totals.aborts / attempts if attempts else 0.0
        text = f"abort rate {percent(rate)}, allowed {percent(budget.abort_rate)}"
        yield Verdict(rate <= budget.abort_rate, text)
    if budget.lost_share is not None:
        share = totals.lost_ns / totals.busy_ns if totals.busy_ns else 0.0
        text = f"lost {percent(share)} of the busy time, allowed "
        yield Verdict(share <= budget.lost_share, text + percent(budget.lost_share))
    if budget.lost_seconds is not None:
        allowed = round(budget.lost_seconds * 1_000_000_000)
        text = f"lost {seconds(totals.lost_ns)}, allowed {seconds(allowed)}"
        yield Verdict(totals.lost_ns <= allowed, text)
    if budget.commits is not None:
        text = f"{times(totals.commits)} commits, at least {times(budget.commits)}"
        yield Verdict(totals.commits >= budget.commits, text)
    for pattern in budget.forbidden:
        count = spent = 0
        for loss in report.losses:
            places = [one for one in (loss.victim, loss.culprit) if one]
            if any(_fits(one.file, one.place, pattern) for one in places):
                count += loss.count
                spent += loss.lost_ns
        text = (
            f"{pattern}: {times(count)} conflicts, {seconds(spent)} lost, allowed none"
        )
        yield Verdict(not count, text)


def check_baseline(comparison: Comparison, tolerance: float) -> list[Verdict]:
    """Return a verdict on the whole, and one on each row that became worse.

    A row became worse if it costs more for 1000 commits, by more than chance and by
    more than a share of all that the earlier log has lost for as many.

    Args:
        comparison: The earlier log and this one.
        tolerance: How much worse is allowed, as a share.
    """
    old, new = comparison.old_lost_ns, comparison.new_lost_ns
    worse = [
        one
        for one in comparison.changes
        if one.state in {"new", "worse"} and one.change_ns > tolerance * old
    ]
    clear = any(one.clear for one in comparison.changes)
    text = (
        f"lost {seconds(round(new))} for 1000 commits, before {seconds(round(old))}, "
        f"allowed {percent(tolerance)} more"
    )
    return [
        Verdict(new <= (1 + tolerance) * old or not clear, text),
        *(
            Verdict(
                False,
                f"{one.label}: {one.state}, {seconds(round(one.new_ns))} for 1000 "
                f"commits, before {seconds(round(one.old_ns))}",
            )
            for one in worse
        ),
    ]


def _fits(file: str, place: str, pattern: str) -> bool:
    """Tell whether a pattern, of which the beginning may be missing, names a place."""
    return any(
        fnmatchcase(one, pattern) or fnmatchcase(one, f"*/{pattern}")
        for one in (file, place)
    )
