"""Figures as text."""

from __future__ import annotations

from txloop import LabelStats, Stats

LABELS = (
    LabelStats("GET Read", 1000, 0, 0, 1000, 990, 0.000123, ""),
    LabelStats("POST Add", 20, 1, 3, 24, 2, 0.0052, "", contended="total"),
    LabelStats("DELETE All", 2, 0, 0, 2, 2, 1.5, "it writes x"),
)

TABLE = """\
executor processes, 2 workers, 0 fronts, with the GIL
1022 commits (1 errors) of 1026 attempts: 3 aborted, 0 retried, 994 on the loop thread
5 pending: 4 queued, 1 waiting; 7 rejected

label       commits  errors  attempts  aborted  on the loop  body ms  because
GET Read       1000       0      1000        0          990     0.12
POST Add         20       1        24        3            2     5.20  conflicts on total
DELETE All        2       0         2        0            2  1500.00  it writes x"""


def stats(labels: tuple[LabelStats, ...]) -> Stats:
    return Stats(
        executor="processes",
        workers=2,
        gil=True,
        rounds=9,
        marked=1,
        unmarked=2,
        commits=sum(one.commits for one in labels),
        errors=sum(one.errors for one in labels),
        aborts=sum(one.aborts for one in labels),
        attempts=sum(one.attempts for one in labels),
        inline=sum(one.inline for one in labels),
        transport_seconds=0.0,
        version=3,
        labels=labels,
        waiting=1,
        refused=7,
        pending=5,
        queued=4,
    )


def test_figures_are_a_table():
    assert TABLE == str(stats(LABELS))


def test_without_functions_there_is_none():
    assert 3 == len(str(stats(())).splitlines())
