"""One verb that fronts may run, and what is known of its runs."""

from __future__ import annotations

import dataclasses
import operator
from typing import TYPE_CHECKING

from txloop.executors.fronts.page import Done
from txloop.stm.measuring import Average
from txloop.web.fronts.conditions import (
    Pauses,
    costs_more,
    is_dearer,
    may_cost_more,
)
from txloop.web.fronts.costs import Cost
from txloop.web.fronts.request import On

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tornado.web import Application

    from txloop.engine.profile import Profile
    from txloop.engine.transaction import Transaction
    from txloop.executors.fronts.reception import FrontEnd
    from txloop.stm.types import Call
    from txloop.web.eligible import Plan

__all__ = ["Verb"]

_DEAR_WEIGHT = 0.02
_FORGET_WEIGHT = 0.005  # in each turn in which a verb is off


@dataclasses.dataclass(slots=True, eq=False)
class Verb:
    """One verb of one target, which may run in fronts.

    Attributes:
        kind: The number by which fronts know it.
        key: Target and method.
        application: The target's.
        profile: The record of its function.
        plan: How it runs.
        call: What stands for any request of the kind.
        watching: A transaction that never runs, by which plain objects are looked at.
        on: What fronts do with it.
        suits: What they should do, as it was found the last time.
        pauses: For how long it stays off.
        deaths: How many fronts have died while they ran it, in the last time.
        forgiven_at: When these are forgotten (`time.monotonic`).
        done: What is counted of it already, by place.
        written: How many that fronts have committed are not counted yet.
        seen: How many commits there were at the last turn.
        dear: The share of its commits in fronts that keep more than these busy, as a
            moving average: the owner was asked for them, or each replica has to make
            containers, or to write many cells. Without any it falls.
        commit_time: How long a commit of fronts keeps the owner, which makes or repeats
            it.
        alone: What a request costs while it is the owner's.
        together: What one costs while it is the fronts', of late.
        stood: What fronts did with it at the last turn.
        proved_at: After how many attempts it may run in threads beside itself; None if
            plain objects have not been looked at.
        looked_at: After how many attempts they were, last.
    """

    kind: int
    key: tuple[int, str]
    application: Application
    profile: Profile
    plan: Plan
    call: Call
    watching: Transaction
    on: On
    suits: On
    pauses: Pauses
    deaths: int
    done: dict[int, Done]
    written: int = 0
    seen: int = 0
    dear: float = 0.0
    commit_time: Average = dataclasses.field(default_factory=Average)
    alone: Cost = dataclasses.field(default_factory=Cost)
    together: Cost = dataclasses.field(default_factory=Cost)
    stood: On | None = None
    forgiven_at: float = 0.0
    proved_at: int | None = None
    looked_at: int = 0

    @property
    def seconds(self) -> float | None:
        """How long a body takes, as far as that is known."""
        here, away = self.profile.here.seconds, self.profile.body.seconds
        return away if here is None else min(here, away or here)

    def is_dearer(self, cores: int) -> bool:
        """Tell whether all cores together are slower with it than the owner alone.

        By what a request costs here and there, as soon as both are known; also if that
        has to be found out.
        """
        together = self.together.seconds
        if together is not None:
            alone = self.alone.seconds
            if alone is not None:
                return costs_more(alone, together, cores, self.on)
            if may_cost_more(self.profile, together, cores):
                return True
        commit_seconds = self.commit_time.seconds or 0.0
        return is_dearer(self.profile, self.seconds, cores, self.dear, commit_seconds)

    def forget(self) -> None:
        """Forget a little of how dear it was: it has been off for a turn."""
        self.dear *= 1 - _FORGET_WEIGHT
        self.together.pass_by()

    def note_cost(self, seconds: float | None, runs: int) -> None:
        """Take note of a turn in which nearly all requests were its own.

        Args:
            seconds: What all processes have computed in it, if that is known.
            runs: How many requests there were.
        """
        stood, self.stood = self.stood, self.on
        if seconds is not None and stood is self.on:  # nothing was on its way
            if self.on is On.OFF:
                self.alone.add(seconds, runs)
            elif self.on is On.HERE:
                self.together.add(seconds, runs)

    def runs_since(self) -> int:
        """Return how often it has run anywhere since this was last asked."""
        runs = self.profile.commits - self.seen
        self.seen += runs
        return runs

    def count(self, fronts: Iterable[FrontEnd]) -> int:
        """Add what fronts have done by themselves to its figures.

        That of all at once: it is not known which of them have written.

        Returns:
            How often it has run there since the last time.
        """
        seconds = 0.0
        counts: list[int] = []
        for front in fronts:
            done = front.slot.done(self.kind)
            before = self.done.get(front.place) or Done()
            if done.counts != before.counts:
                self.done[front.place] = done
                more = map(operator.sub, done.counts, before.counts)
                counts = [*map(operator.add, counts, more)] if counts else [*more]
                seconds += done.seconds - before.seconds
        if counts:
            self.profile.note_others(counts, seconds, self.written)
            self.written = 0
        return sum(counts)

    def note_written(self, number: int, costly: int, seconds: float) -> None:
        """Take note of commits of fronts; see `Repertoire.note_written`."""
        self.written += number
        self.commit_time.add(seconds)
        left = (1 - _DEAR_WEIGHT) ** number
        self.dear = left * self.dear + (1 - left) * costly / number
        heat = self.profile.heat
        if heat.cell is not None:  # now: conflicts are noted one by one, too
            for _ in range(number):
                heat.note_commit()

    def note_asked(self, seconds: float) -> None:
        """Take note of a commit that a front has asked for, and the owner made."""
        self.dear += _DEAR_WEIGHT * (1 - self.dear)
        self.commit_time.add(seconds)
