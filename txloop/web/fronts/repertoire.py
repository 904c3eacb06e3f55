"""The owner's list of verbs: which of them run in fronts, and which in workers.

A verb runs in fronts while it is known to be short, nothing keeps it on the loop thread
and what the program does with the handler after the response is seen to do no more than
log. What is longer, fronts forward to workers.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tornado import httputil

from txloop.executors.crew import ProcessStats
from txloop.executors.fronts.page import MOST_KINDS
from txloop.executors.pool import Pool
from txloop.executors.protocol import available_cores
from txloop.stm.types import Call
from txloop.web.as_stock import asks_for_attempts
from txloop.web.eligible import plan_for
from txloop.web.fronts.conditions import (
    NEARLY_ALL,
    PAUSE_TURNS,
    Pauses,
    Routing,
    Traffic,
    limit_of,
)
from txloop.web.fronts.costs import Clocks
from txloop.web.fronts.request import On
from txloop.web.fronts.verbs import Verb
from txloop.web.frozen import FrozenRequest
from txloop.web.request_attempt import run_request
from txloop.web.targets import all_targets, register_all
from txloop.web.verdicts import (
    ends_quietly,
    held_because,
    is_judged,
    is_served_elsewhere,
)

if TYPE_CHECKING:
    from txloop.executors.faults import Faults
    from txloop.executors.fronts.reception import FrontEnd, Reception
    from txloop.loop.ioloop import TransactionLoop
    from txloop.stm.types import Conflict
    from txloop.web.eligible import Plan
    from txloop.web.targets import Target

__all__ = ["Repertoire"]

_PROVING_RUNS = 5
_FORGIVE_SECONDS = 600.0  # after the last death of a front that ran a verb
_MOST_DEATHS = 3  # of fronts that ran a verb, until it runs in workers only


class _AnyRequest(FrozenRequest):
    """Stands for all requests of a method."""

    def __init__(self, method: str) -> None:
        start = httputil.RequestStartLine(method, "/", "HTTP/1.0")
        super().__init__(httputil.HTTPServerRequest(start_line=start))


class Repertoire:
    """All verbs that fronts may run, and what they do with each; the loop thread's.

    Attributes:
        desk: The fronts; set before anything is asked.
    """

    desk: Reception

    def __init__(self, loop: TransactionLoop, faults: Faults | None) -> None:
        """Begin with no verbs of a loop; `faults` may hurry."""
        self._asyncio_loop = loop.asyncio_loop
        self._timeout_seconds = loop.options.timeout
        self._dispatcher = loop.dispatcher
        self._faults = faults
        self._cores = available_cores()
        self._targets: set[int] = set()  # that fronts know, by number
        self._verbs: dict[tuple[int, str], Verb | None] = {}  # of those asked for
        self._kinds: list[Verb] = []
        self._traced_from = 0  # as in `Replica`
        self._routing = Routing()
        self._traffic = Traffic()
        self._clocks = Clocks()
        self._turns_to_renewal = 0

    def __getitem__(self, kind: int) -> Verb:
        """Return the verb that fronts know by that number."""
        return self._kinds[kind]

    def label_of(self, kind: int) -> str:
        """Return what messages call the verb that fronts know by that number."""
        return self._kinds[kind].call.label

    def find_targets(self) -> None:
        """List what fronts will know, as they are forked now."""
        register_all()
        for target in all_targets():
            if not is_served_elsewhere(target.application, self._asyncio_loop):
                self._targets.add(target.number)
                self._routing.take(target.application)
                if self.hurries() and is_judged(target.application):
                    for method in target.handler_class.SUPPORTED_METHODS:
                        self.verb_of(target, method)

    def verb_of(self, target: Target, method: str) -> Verb | None:
        """Return a verb that has been asked for, if fronts may run it."""
        key = target.number, method
        if key not in self._verbs:
            verb, plan = None, plan_for(target.handler_class, method)
            if (
                plan is not None
                and target.number in self._targets
                and self._may_run(target, plan)
                and len(self._kinds) < MOST_KINDS
            ):
                verb = self._new_verb(target, method, plan)
                self.consider(verb)
            self._verbs[key] = verb
        return self._verbs[key]

    def _may_run(self, target: Target, plan: Plan) -> bool:
        copied = self._dispatcher.executor.forks  # see `engine.elsewhere`
        return (copied or not plan.coroutine) and ends_quietly(target)

    def _new_verb(self, target: Target, method: str, plan: Plan) -> Verb:
        handler_class, application = target.handler_class, target.application
        timeout_seconds = plan.mark.timeout_seconds(self._timeout_seconds)
        profile = self._dispatcher.profiles.find(
            (handler_class, method),
            plan.label,
            lambda: held_because(handler_class, method, application),
            timeout_seconds,
        )
        call = self.desk.context.run(
            Call,
            run_request,
            (target, _AnyRequest(method), (), (), plan.commits_on, False),
            {},
            plan.label,
            timeout_seconds=timeout_seconds,
            watched=not plan.mark.trust,
            guarded=not plan.mark.vouched,
        )
        watching = self._dispatcher.new(call, profile, _ignore)
        key, kind = (target.number, method), len(self._kinds)
        verb = Verb(
            *(kind, key, application, profile, plan, call, watching),
            *(On.OFF, On.OFF, Pauses(), 0, {}),
        )
        self._kinds.append(verb)
        return verb

    def turn(self) -> None:
        """Think again about each verb; called now and then."""
        self._weigh()
        for verb in self._kinds:
            verb.pauses.tick(verb.on is not On.OFF)
            if verb.on is On.OFF:
                verb.forget()
            if verb.deaths and time.monotonic() > verb.forgiven_at:
                verb.deaths, verb.profile.deadly = 0, False
            if self._look_whether_changing(verb, verb.on):
                self.switch(verb, On.OFF)
            self.consider(verb)
        if self._turns_to_renewal:
            self._turns_to_renewal -= 1
        elif self._routing.changed:
            self._renew()

    def _weigh(self) -> None:
        """Look what came since the last turn, what it cost, and where it is dearer."""
        counts = [verb.runs_since() for verb in self._kinds]
        runs = sum(counts)
        seconds = self._clocks.spent(self._processes())
        dear = 0
        for verb, number in zip(self._kinds, counts, strict=True):
            mostly = number > NEARLY_ALL * runs
            verb.note_cost(seconds if mostly else None, number)
            if number and self._is_dearer(verb):
                dear += number
        self._traffic.turn(runs, dear)

    def _processes(self) -> list[int]:
        """Return the numbers of those besides the owner, 0 for what is part of it."""
        executor = self._dispatcher.executor
        workers = executor.members() if isinstance(executor, Pool) else []
        fronts = [front.pid for front in self.desk.fronts]
        return [*(worker.pid for worker in workers), *fronts]

    def _renew(self) -> None:
        """Have fronts forked that know the routes as they are now, if that is possible.

        There may be a series of changes; each would cost new workers and fronts.
        """
        self._turns_to_renewal = PAUSE_TURNS
        register_all()  # before: fronts know targets by the same numbers
        if self._dispatcher.executor.renew():
            self._verbs = {key: verb for key, verb in self._verbs.items() if verb}
            self.find_targets()

    def consider(self, verb: Verb) -> None:
        """Switch a verb on or off, by what is known of it now.

        From off to on only if it was found so the last time, too: one body that took
        long by chance makes many seem long.
        """
        on = self._suits_fronts(verb)
        before, verb.suits = verb.suits, on
        if on is verb.on:
            return
        if on is not On.OFF:
            sure = verb.on is not On.OFF or before is on or self.hurries()
            if verb.pauses.left or not sure or self._look_whether_old(verb, on):
                return
        self.switch(verb, on)

    def switch(self, verb: Verb, on: On) -> None:
        """Have fronts do something else with a verb from now on."""
        verb.on = on
        if on is On.OFF:
            verb.pauses.begin()
        self.desk.tell_all(("verbs", [(*verb.key, verb.kind, int(on))]))

    def _suits_fronts(self, verb: Verb) -> On:
        """Return what fronts should do with a verb, by what is known of it."""
        profile = verb.profile
        if (
            profile.on_loop_because is not None
            or profile.heat.lined_up
            or 10 * profile.retries > profile.attempts
        ):
            return On.OFF
        if self._traffic.is_dear and self._is_dearer(verb):
            return On.OFF
        seconds = verb.seconds
        short = self.hurries() or (seconds is not None and seconds < limit_of(verb.on))
        # A thread cannot be ended. What has a limit runs in those of workers.
        ended = self.desk.copies or verb.call.timeout_seconds is None
        if short and ended and verb.deaths < _MOST_DEATHS:
            return On.HERE
        return On.OFF if seconds is None else On.AWAY

    def _is_dearer(self, verb: Verb) -> bool:
        """Tell whether a verb is dearer in fronts, if nothing else comes."""
        return verb.is_dearer(self._cores) and self._needs_no_attempt(verb)

    def _needs_no_attempt(self, verb: Verb) -> bool:
        """Tell whether the owner runs it as in stock Tornado, if it runs it."""
        keeps = verb.plan.keeps and self.desk.copies
        return keeps and not (self.hurries() or asks_for_attempts())

    def hurries(self) -> bool:
        """Tell whether verbs run in fronts before it is known how long they take."""
        return self._faults is not None and self._faults.hurries()

    def _look_whether_old(self, verb: Verb, on: On) -> bool:
        """Look whether fronts are out of date for a verb; return whether they are.

        It is held on the loop thread from then on if plain objects are.
        """
        if (
            not self.desk.knows()
            or verb.application in self._routing.changed
            or self._dispatcher.holds.check_call(verb.watching)
        ):
            return True
        return self._look_whether_changing(verb, on)

    def _look_whether_changing(self, verb: Verb, on: On) -> bool:
        """Look whether a verb may change what fronts share; return whether it may.

        These are plain objects, where fronts are threads. A verb has to have run some
        times without that, where one look at them follows the other, before it runs
        there beside itself. It is held on the loop thread if it has changed any.
        """
        profile = verb.profile
        watched = verb.watching.call.watched
        if on is not On.HERE or self.desk.copies or not watched:
            return False
        if verb.proved_at is None:
            verb.proved_at = profile.attempts + _PROVING_RUNS * (not self.hurries())
        if verb.looked_at != profile.attempts:
            verb.looked_at = profile.attempts
            self._dispatcher.holds.check_answer(verb.watching)
        return profile.on_loop_because is not None or profile.attempts < verb.proved_at

    def look(self) -> None:
        """Look whether routes have changed, or plain objects that verbs can reach."""
        if self._routing.look():
            self._turns_to_renewal = PAUSE_TURNS
        for verb in self._kinds:
            if verb.on is not On.OFF and self._look_whether_old(verb, verb.on):
                self.switch(verb, On.OFF)
        self.desk.seen(self.desk.page.epoch)

    def is_certain(self) -> bool:
        """Tell whether plain objects that verbs in fronts can reach are as ever."""
        certain = self._dispatcher.holds.is_certain
        return all(certain(verb.watching) for verb in self._kinds if verb.on is On.HERE)

    def trace(self) -> None:
        """Have fronts trace what they run as long as there are listeners."""
        # The numbers of the workers and of the loop thread come first.
        workers = self._dispatcher.executor.workers
        traced_from = workers + 1 if self._dispatcher.listeners else 0
        if traced_from != self._traced_from:
            self._traced_from = traced_from
            self.desk.tell_all(("trace", traced_from))

    def count(self) -> None:
        """Add what fronts have done by themselves to the figures."""
        profiles = self._dispatcher.profiles
        profiles.fronts = sum(front.open for front in self.desk.fronts)
        profiles.front_tally = self.desk.tally
        profiles.front_processes = [*map(self._describe, self.desk.fronts)]
        for verb in self._kinds:
            profiles.marked += verb.count(self.desk.fronts)

    def note_written(self, kind: int, number: int, costly: int, seconds: float) -> None:
        """Take note of so many commits that fronts have made by themselves.

        Args:
            kind: What was committed.
            number: How often.
            costly: How many of these have made containers, or written many cells.
            seconds: How long it took to repeat one.
        """
        self._kinds[kind].note_written(number, costly, seconds)

    def note_conflict(self, kind: int, conflict: Conflict, body_seconds: float) -> None:
        """Take note of an attempt that a front has aborted by itself."""
        profile = self._kinds[kind].profile
        profile.attempts += 1
        profile.note_body(body_seconds, inline=False)
        profile.note_conflict(conflict)

    def _describe(self, front: FrontEnd) -> ProcessStats:
        running = front.slot.running()
        if running is not None:
            label = self._kinds[running[0]].profile.label
            seconds = (time.monotonic_ns() - running[1]) / 1e9
            return ProcessStats("front", front.place, front.pid, "runs", label, seconds)
        waits = "idle" if front.open else "leaves"
        state = waits if front.ready else "starts"
        return ProcessStats("front", front.place, front.pid, state)

    def note_death(self, _: FrontEnd, kind: int | None) -> None:
        """Blame the verb that a front ran when it died, if it ran one."""
        if kind is not None:
            self._blame(self._kinds[kind], 1)

    def note_overtime(self, verb: Verb) -> None:
        """Blame a verb that has run for too long: other requests have waited for it."""
        self.desk.tally.timeouts += 1
        self._blame(verb, _MOST_DEATHS)

    def _blame(self, verb: Verb, deaths: int) -> None:
        verb.deaths += deaths
        verb.forgiven_at = time.monotonic() + _FORGIVE_SECONDS
        verb.profile.deadly = True  # from now on no more on this thread
        self.consider(verb)

    def end_overdue(self) -> None:
        """End what has run in fronts for longer than it may."""
        for front in self.desk.fronts:
            running = front.slot.running()
            if running is not None:
                verb = self._kinds[running[0]]
                limit = verb.call.timeout_seconds
                seconds = (time.monotonic_ns() - running[1]) / 1e9
                if limit is not None and seconds > limit:
                    cause = f"{verb.call.label} exceeded its {limit:g} s timeout"
                    front.end_call(cause, seconds - limit)

    def greet(self, front: FrontEnd) -> None:
        """Tell a new front what to do with each verb."""
        on = [(*verb.key, verb.kind, int(verb.on)) for verb in self._kinds]
        front.notes.append(("verbs", on))
        if self._traced_from:
            front.notes.append(("trace", self._traced_from))


def _ignore(value: object, error: object) -> None:
    pass
