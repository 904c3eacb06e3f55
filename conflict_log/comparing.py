"""`conflict-log diff`: what got better or worse from one log to another.

Two runs are never of one length, so all figures are for 1000 commits. A line that has
moved is found again by its source text, else by being the only one of its function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conflict_log.rows import rows

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from conflict_log.report import Report
    from conflict_log.rows import Row
    from conflict_log.sources import Sources

__all__ = ["Change", "Comparison", "compare"]

_PER: Final = 1000
# So many standard deviations apart, two counts are not the same by chance.
_CLEAR: Final = 2.0


@dataclass(frozen=True, slots=True)
class Change:
    """A row of two logs.

    Attributes:
        label: What it is called in the second, or in the first if it has gone.
        before: Where it was if it has moved, or "".
        old_ns: What it cost for 1000 commits in the first log.
        new_ns: What it costs in the second.
        old_count: How often it happened for 1000 commits in the first.
        new_count: How often in the second.
        clear: Whether the counts differ by more than chance.
    """

    label: str
    before: str
    old_ns: float
    new_ns: float
    old_count: float
    new_count: float
    clear: bool

    @property
    def change_ns(self) -> float:
        """What it costs more for 1000 commits; negative is better."""
        return self.new_ns - self.old_ns

    @property
    def state(self) -> str:
        """Whether it is "new", "gone", "better", "worse", or the "same" by chance."""
        if not self.clear:
            return "same"
        if not self.old_count:
            return "new"
        if not self.new_count:
            return "gone"
        return "worse" if self.change_ns > 0 else "better"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two logs side by side; times are nanoseconds for 1000 commits."""

    changes: Sequence[Change]
    old_lost_ns: float
    new_lost_ns: float
    old_busy_ns: float
    new_busy_ns: float


def compare(
    old: Report,
    new: Report,
    old_sources: Sources,
    new_sources: Sources,
    by: str = "line",
) -> Comparison:
    """Return what differs, the greatest change first.

    Raises:
        UsageError: There is no such grouping.
    """
    old_rows, new_rows = rows(old, by), rows(new, by)
    changes = [
        _change(before, after, old.totals.commits, new.totals.commits)
        for before, after in _matched(old_rows, new_rows, old_sources, new_sources)
    ]
    changes.sort(key=lambda one: (not one.clear, -abs(one.change_ns)))
    return Comparison(
        changes,
        old.totals.lost_ns * _scale(old.totals.commits),
        new.totals.lost_ns * _scale(new.totals.commits),
        old.totals.busy_ns * _scale(old.totals.commits),
        new.totals.busy_ns * _scale(new.totals.commits),
    )


def _scale(commits: int) -> float:
    return _PER / max(commits, 1)


def _change(
    old: Row | None, new: Row | None, old_commits: int, new_commits: int
) -> Change:
    of_old, of_new = _scale(old_commits), _scale(new_commits)
    old_count, new_count = old.count if old else 0, new.count if new else 0
    spread = math.sqrt(old_count * of_old**2 + new_count * of_new**2)
    distance = abs(new_count * of_new - old_count * of_old)
    old_lost, new_lost = old.lost_ns if old else 0, new.lost_ns if new else 0
    # Even where counts agree, what they cost may not.
    dearer = (
        old_count > 30
        and new_count > 30
        and _apart(old_lost / old_count, new_lost / new_count)
    )
    named = new or old
    assert named is not None
    moved = old is not None and new is not None and old.label != new.label
    return Change(
        named.label,
        old.label if moved and old is not None else "",
        old_lost * of_old,
        new_lost * of_new,
        old_count * of_old,
        new_count * of_new,
        distance > _CLEAR * spread or dearer,
    )


def _apart(one: float, other: float) -> bool:
    """Tell whether two means differ by half."""
    return max(one, other) > 1.5 * min(one, other)


def _matched(
    old_rows: Sequence[Row],
    new_rows: Sequence[Row],
    old_sources: Sources,
    new_sources: Sources,
) -> list[tuple[Row | None, Row | None]]:
    """Return rows in pairs: by label, then by source text, then by function."""
    pairs: list[tuple[Row | None, Row | None]] = []
    left_old, left_new = list(old_rows), list(new_rows)

    def take(old_keys: Sequence[Hashable], new_keys: Sequence[Hashable]) -> None:
        """Pair what has the same key, if nothing else has it."""
        matched_old, matched_new = set(), set()
        for index, key in enumerate(old_keys):
            if key is None or old_keys.count(key) > 1 or new_keys.count(key) != 1:
                continue
            other = new_keys.index(key)
            pairs.append((left_old[index], left_new[other]))
            matched_old.add(index)
            matched_new.add(other)
        left_old[:] = [
            one for index, one in enumerate(left_old) if index not in matched_old
        ]
        left_new[:] = [
            one for index, one in enumerate(left_new) if index not in matched_new
        ]

    take(
        [_text_key(one, old_sources) for one in left_old],
        [_text_key(one, new_sources) for one in left_new],
    )
    take([one.label for one in left_old], [one.label for one in left_new])
    take([_function(one) for one in left_old], [_function(one) for one in left_new])
    pairs.extend((one, None) for one in left_old)
    pairs.extend((None, one) for one in left_new)
    return pairs


def _text_key(row: Row, sources: Sources) -> Hashable:
    """Return what a line of source can be known by, None if it cannot be read."""
    text = sources.text(row.site)
    if text is None or row.site is None:
        return None
    return row.site.file, row.site.function, text.line


def _function(row: Row) -> Hashable:
    if row.site is None or not row.site.function:
        return None
    return row.site.file, row.site.function
