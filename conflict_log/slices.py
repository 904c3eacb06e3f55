"""A log's accounts in slices of time, so that the oldest can be let go.

A slice holds what ended in it: a transaction counts, with all its time, where it
commits or aborts, a wait where it ends. So slices add up to what one ledger would hold.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from conflict_log.accounts import Cost
from conflict_log.curve import Curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conflict_log.accounts import Thread
    from conflict_log.ledger import Ledger

__all__ = ["cut_off", "join"]

_SUMS = ("commits", "aborts", "committed", "aborted", "paused", "detached", "lost")
_SUMS_OF_COLLECTIONS = ("minor", "major")
_SUMS_OF_COSTS = ("count", "aborts", "aborted", "paused")


def cut_off(ledger: Ledger, last: int, now: int) -> Ledger:
    """Return the accounts so far; the ledger goes on with empty ones.

    Args:
        ledger: The ledger.
        last: The time of the last event in it.
        now: The time from which on it goes on.
    """
    ledger.reach(last)
    ledger.mark(last)
    slice_ = copy.copy(ledger)
    slice_.stop = last
    ledger.threads, ledger.costs, ledger.marks = {}, {}, {}
    ledger.events = ledger.unfinished = ledger.unstarted = 0
    ledger.open(now)
    for number, thread in slice_.threads.items():
        ledger.threads[number] = _successor(thread)
    return slice_


def _successor(thread: Thread) -> Thread:
    """Return a thread with empty accounts, in the midst of the same things."""
    after = copy.copy(thread)
    for name in (*_SUMS, *_SUMS_OF_COLLECTIONS):
        setattr(after, name, 0)
    after.waited, after.waits = {}, {}
    if after.contention is not None:
        # What it costs from here on is this slice's.
        after.contention.cost = None
    return after


def join(slices: Sequence[Ledger], stop: int) -> Ledger:
    """Return one ledger of slices that follow one another, up to a time.

    The last one may go on: nothing of it is changed.
    """
    *before, last = slices
    whole = copy.deepcopy(last)
    if not before:
        return whole
    whole.start = before[0].start
    whole.curve = Curve(whole.start)
    whole.curve.shift = max(one.curve.shift for one in slices)
    whole.stop = stop
    for cost in whole.costs.values():
        cost.bins = _moved(cost.bins, last.curve, whole.curve)
    for one in before:
        _add(whole, one)
    _add_marks(whole, slices)
    whole.reach(stop)
    return whole


def _add(whole: Ledger, part: Ledger) -> None:
    """Add the sums of a slice."""
    for name in ("events", "unfinished", "unstarted"):
        setattr(whole, name, getattr(whole, name) + getattr(part, name))
    whole.crowded = whole.crowded or part.crowded
    for number, thread in part.threads.items():
        same = whole.threads[number]
        for name in (*_SUMS, *_SUMS_OF_COLLECTIONS):
            setattr(same, name, getattr(same, name) + getattr(thread, name))
        for kind, spent in thread.waited.items():
            same.waited[kind] = same.waited.get(kind, 0) + spent
    for key, cost in part.costs.items():
        known = whole.costs.get(key)
        if known is None:
            known = whole.costs[key] = Cost(*key)
        for name in _SUMS_OF_COSTS:
            setattr(known, name, getattr(known, name) + getattr(cost, name))
        known.longest = max(known.longest, cost.longest)
        for place, spent in _moved(cost.bins, part.curve, whole.curve).items():
            known.bins[place] = known.bins.get(place, 0) + spent


def _add_marks(whole: Ledger, slices: Sequence[Ledger]) -> None:
    """Let the accounts of each slice begin where those of the last one end."""
    whole.marks = {}
    ended: dict[int, tuple[int, int, int]] = {}
    for one in slices:
        for place, mark in sorted(one.marks.items()):
            to = whole.curve.place(one.curve.begin + (place << one.curve.shift))
            now = {
                number: _sum(values, ended.get(number, (0, 0, 0)))
                for number, values in mark.items()
            }
            whole.marks[to] = {**whole.marks.get(to, {}), **now}
        for number, thread in one.threads.items():
            grown = (thread.committed, thread.aborted, thread.paused)
            ended[number] = _sum(grown, ended.get(number, (0, 0, 0)))


def _sum(
    one: tuple[int, int, int], other: tuple[int, int, int]
) -> tuple[int, int, int]:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def _moved(bins: dict[int, int], old: Curve, new: Curve) -> dict[int, int]:
    """Return what is filed under the pieces of one curve under those of another."""
    moved: dict[int, int] = {}
    for place, spent in bins.items():
        to = new.place(old.begin + (place << old.shift))
        moved[to] = moved.get(to, 0) + spent
    return moved
