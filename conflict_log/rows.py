"""Losses grouped into rows: by line, pair of lines, handler, cell, worker or kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, TypeVar

from conflict_log.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from conflict_log.markers import Site
    from conflict_log.report import Loss, Report

__all__ = ["GROUPINGS", "Row", "keep", "rows"]

_T = TypeVar("_T", bound="Hashable")

NO_LINE: Final = "(no line)"


@dataclass(frozen=True, slots=True)
class Row:
    """Losses that belong together.

    Attributes:
        label: What they have in common, as text.
        losses: The losses, the dearest first.
        share: Their part of all that was lost, from 0 to 1.
        cumulated: That of this row and all before it.
        curve: The nanoseconds lost in each piece of time.
    """

    label: str
    losses: Sequence[Loss]
    share: float
    cumulated: float
    curve: Mapping[int, int]

    @property
    def lost_ns(self) -> int:
        """What they have cost."""
        return self.aborted_ns + self.paused_ns

    @property
    def aborted_ns(self) -> int:
        """The time of the attempts that were thrown away."""
        return sum(one.aborted_ns for one in self.losses)

    @property
    def paused_ns(self) -> int:
        """The time waited."""
        return sum(one.paused_ns for one in self.losses)

    @property
    def count(self) -> int:
        """How often it happened."""
        return sum(one.count for one in self.losses)

    @property
    def aborts(self) -> int:
        """How many attempts were thrown away."""
        return sum(one.aborts for one in self.losses)

    @property
    def mean_ns(self) -> int:
        """What one of them cost."""
        return self.lost_ns // self.count if self.count else 0

    @property
    def longest_ns(self) -> int:
        """The longest single loss."""
        return max((one.longest_ns for one in self.losses), default=0)

    @property
    def kinds(self) -> Sequence[str]:
        """What kinds they are of, the dearest first."""
        return _by_cost((one.kind, one.lost_ns) for one in self.losses)

    @property
    def victims(self) -> Sequence[Site]:
        """The places whose time was lost, the dearest first."""
        return _by_cost((one.victim, one.lost_ns) for one in self.losses if one.victim)

    @property
    def culprits(self) -> Sequence[Site]:
        """The places of the other side, the dearest first."""
        return _by_cost(
            (one.culprit, one.lost_ns) for one in self.losses if one.culprit
        )

    @property
    def site(self) -> Site | None:
        """The place to look at, None if no line is known."""
        return next((one.site for one in self.losses if one.site), None)


def _line(site: Site | None) -> tuple[str, int] | None:
    return None if site is None else (site.file, site.line)


def _by_line(loss: Loss) -> Hashable:
    # What no line is known of is kept apart by its cause.
    return _line(loss.site) or loss.kind


def _by_pair(loss: Loss) -> Hashable:
    lines = _line(loss.victim), _line(loss.culprit)
    return lines if any(lines) else loss.kind


def _by_handler(loss: Loss) -> Hashable:
    return loss.site.handler if loss.site else ""


def _by_cell(loss: Loss) -> Hashable:
    return loss.site.cell if loss.site else ""


def _name_line(loss: Loss) -> str:
    return loss.site.place if loss.site else f"{NO_LINE} {loss.kind}"


def _name_pair(loss: Loss) -> str:
    if loss.site is None:
        return f"{NO_LINE} {loss.kind}"
    sides = [one.place if one else "?" for one in (loss.victim, loss.culprit)]
    return " <- ".join(sides)


_Grouping = tuple["Callable[[Loss], Hashable]", "Callable[[Loss], str]"]

GROUPINGS: Final[Mapping[str, _Grouping]] = {
    "line": (_by_line, _name_line),
    "pair": (_by_pair, _name_pair),
    "handler": (_by_handler, lambda loss: str(_by_handler(loss)) or "(no handler)"),
    "cell": (_by_cell, lambda loss: str(_by_cell(loss)) or "(no cell)"),
    "thread": (lambda loss: loss.worker, lambda loss: loss.worker_title),
    "kind": (lambda loss: loss.kind, lambda loss: loss.kind),
}
"""How losses can be grouped: what they must have in common, and what that is called."""


def rows(report: Report, by: str = "line") -> list[Row]:
    """Return the losses of a report in groups, the dearest group first.

    Args:
        report: The report.
        by: "line", "pair", "handler", "cell", "thread" or "kind".

    Raises:
        UsageError: There is no such grouping.
    """
    if by not in GROUPINGS:
        raise UsageError(f"cannot group by {by!r}, only by {', '.join(GROUPINGS)}")
    key_of, name_of = GROUPINGS[by]
    groups: dict[Hashable, list[Loss]] = {}
    for loss in report.losses:
        groups.setdefault(key_of(loss), []).append(loss)
    costs = {key: sum(one.lost_ns for one in group) for key, group in groups.items()}
    counts = {key: sum(one.count for one in group) for key, group in groups.items()}
    whole = sum(costs.values()) or 1
    made: list[Row] = []
    before = 0
    for key in sorted(groups, key=lambda one: (-costs[one], -counts[one])):
        group = groups[key]
        before += costs[key]
        share, cumulated = costs[key] / whole, before / whole
        made.append(Row(name_of(group[0]), group, share, cumulated, _curve(group)))
    return made


def keep(
    losses: Iterable[Loss],
    kinds: Sequence[str] = (),
    files: Sequence[str] = (),
    handlers: Sequence[str] = (),
) -> list[Loss]:
    """Return the losses that fit; patterns are those of file names, `*` and `?`.

    Args:
        losses: The losses.
        kinds: Keep those of one of these kinds; all if empty.
        files: Keep those of which one side is in a file that fits one of these.
        handlers: Keep those of which one side ran in a handler that fits.
    """

    def fits(loss: Loss) -> bool:
        sites = [one for one in (loss.victim, loss.culprit) if one]
        return (
            (not kinds or loss.kind in kinds)
            and (not files or any(_file_fits(one.file, files) for one in sites))
            and (
                not handlers
                or any(fnmatchcase(one.handler, to) for one in sites for to in handlers)
            )
        )

    return [loss for loss in losses if fits(loss)]


def _file_fits(name: str, patterns: Sequence[str]) -> bool:
    return any(
        fnmatchcase(name, one) or fnmatchcase(name, f"*/{one}") for one in patterns
    )


def _by_cost(items: Iterable[tuple[_T, int]]) -> list[_T]:
    """Return distinct items, the dearest first."""
    costs: Counter[_T] = Counter()
    for item, cost in items:
        costs[item] += cost
    return [item for item, _ in costs.most_common()]


def _curve(losses: Iterable[Loss]) -> dict[int, int]:
    curve: Counter[int] = Counter()
    for loss in losses:
        curve.update(loss.curve)
    return dict(curve)
