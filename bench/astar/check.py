"""Every answer against the event log: which are wrong.

`check` walks through the log once. A read says for which version it stands; a change
stands for the map just before its event, which its tag finds. A refused change leaves
no event, nor does a move to where the player is: there has to be a reason for it at one
version at least of those that real time allows (`bench.astar.moments`). Reads and
changes have to lie within the same bounds. Each answered change is in the log once, no
refused one is, and nothing that nobody asked for. To check the newest map, give the
answer of a `GET /map` that was sent when all was over.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from bench.astar.judge import (
    CONFLICT,
    DONE,
    NOT_FOUND,
    body_of,
    judge_change,
    judge_read,
    may_be_without_event,
)
from bench.astar.moments import Moments
from bench.astar.record import READS
from bench.astar.world import Event, World, int_of
from bench.connection import NO_ANSWER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.astar.record import Answer
    from bench.astar.world import Json


def check(
    events: Iterable[Json], answers: Sequence[Answer], initial_map: Json
) -> list[str]:
    """Return what is wrong, one line each; an empty list if nothing is.

    Args:
        events: All of the server's events since `initial_map`, in their order.
        answers: What the clients saw, in any order. All requests that change anything
            belong here, those without an answer too.
        initial_map: What `GET /map` answered before the first of them.

    Raises:
        ValueError: the events or the initial map are none.
    """
    world = World(initial_map)
    log = [Event.from_json(event) for event in events]
    log = [event for event in log if event.version > world.version]
    return _Check(world, log, answers).run()


class _Check:
    """One walk through the log."""

    def __init__(
        self, world: World, log: list[Event], answers: Sequence[Answer]
    ) -> None:
        self._world = world
        self._log = log
        self._problems: list[str] = []
        self._reads: dict[int, list[Answer]] = defaultdict(list)
        self._changes: dict[int, list[tuple[Answer, Event]]] = defaultdict(list)
        self._eventless: dict[int, list[tuple[int, Answer]]] = defaultdict(list)
        self._sort(answers)

    def run(self) -> list[str]:
        """Walk and return the problems."""
        world = self._world
        pending: list[tuple[int, Answer]] = []
        for event in [*self._log, None]:
            for answer in self._reads[world.version]:
                self._judge(answer, None)
            pending = self._pending(pending + self._eventless[world.version])
            if event is None:
                break
            for answer, own in self._changes[event.version]:
                self._judge(answer, own)
            if wrong := world.apply(event):
                self._problems.append(f"{event}: {wrong}")
        return self._problems

    def _pending(self, waiting: list[tuple[int, Answer]]) -> list[tuple[int, Answer]]:
        """Return those for which there is no reason yet, but may be one later."""
        version = self._world.version
        unexplained = []
        for last, answer in waiting:
            try:
                explained = may_be_without_event(self._world, answer)
            except ValueError:
                explained = False
            if explained:
                continue
            if last > version:
                unexplained.append((last, answer))
            else:
                self._report(answer, f"no event and no reason for a {answer.status}")
        return unexplained

    def _sort(self, answers: Sequence[Answer]) -> None:
        """Find out for which version each answer stands."""
        versions, changes, eventless = [], [], []
        events = _EventsByRequest(self._log)
        for answer in answers:
            if answer.kind in READS:
                if (version := self._version_read(answer)) is not None:
                    versions.append((answer, version))
                continue
            own = events.take(answer)
            if own is not None:
                changes.append((answer, own))
            if self._match(answer, own):
                eventless.append(answer)
        self._problems += [f"{event}: nobody asked for it" for event in events.rest()]
        self._problems += [f"{event}: is in the log twice" for event in events.doubles]
        self._place(versions, changes, eventless)

    def _match(self, answer: Answer, event: Event | None) -> bool:
        """Return whether there must be a reason for the event not to be there."""
        done = answer.status == DONE[answer.kind]
        if answer.status in (CONFLICT, NOT_FOUND):
            if event is None:
                return True
            self._report(answer, f"refused ({answer.status}), and yet: {event}")
        elif not done and answer.status != NO_ANSWER:
            self._report(answer, f"answered with {answer.status}: {answer.body[:80]}")
        elif done and event is None:
            if answer.kind == "move":
                return True
            self._report(answer, "answered, but not in the log")
        return False

    def _version_read(self, answer: Answer) -> int | None:
        if answer.status == NO_ANSWER:
            return None
        if answer.status != DONE[answer.kind]:
            self._report(answer, f"answered with {answer.status}: {answer.body[:80]}")
            return None
        try:
            return int_of(body_of(answer)["version"])
        except (KeyError, ValueError) as error:
            self._report(answer, f"has no version: {error}")
            return None

    def _place(
        self,
        versions: list[tuple[Answer, int]],
        changes: list[tuple[Answer, Event]],
        eventless: list[Answer],
    ) -> None:
        """Note what has to be judged at which version, within real time's bounds."""
        first = self._world.version
        last = self._log[-1].version if self._log else first
        made = [(answer, event.version) for answer, event in changes]
        answered = [one for one in made if one[0].status != NO_ANSWER]
        seen = [one for one in versions if one[1] <= last]
        moments = Moments(first, last, [*seen, *answered], made)
        for answer, version in versions:
            self._reads[version].append(answer)
            if not first <= version <= last:
                self._report(answer, f"version {version} is not in {first}..{last}")
            else:
                self._require_time(answer, moments, version, version)
        for answer, event in changes:
            if answer.status == DONE[answer.kind]:
                self._changes[event.version].append((answer, event))
            self._require_time(answer, moments, event.version - 1, event.version)
        for answer in eventless:
            begin, end = moments.first(answer), moments.last(answer)
            self._eventless[begin].append((end, answer))

    def _require_time(
        self, answer: Answer, moments: Moments, begin: int, end: int
    ) -> None:
        if begin < (known := moments.first(answer)):
            self._report(
                answer, f"stands for version {begin}, after {known} had been answered"
            )
        if answer.status != NO_ANSWER and end > (known := moments.last(answer)):
            self._report(
                answer, f"stands for version {end}, but {known + 1} was asked for later"
            )

    def _judge(self, answer: Answer, event: Event | None) -> None:
        try:
            if event is None:
                wrong = judge_read(self._world, answer)
            else:
                wrong = judge_change(self._world, answer, event)
        except KeyError as error:
            wrong = f"the answer has no {error}"
        except ValueError as error:
            wrong = str(error)
        if wrong:
            self._report(answer, wrong)

    def _report(self, answer: Answer, wrong: str) -> None:
        self._problems.append(f"{answer}: {wrong}")


class _EventsByRequest:
    """Finds the event of a request: by its tag, or a leave's by its player."""

    def __init__(self, log: list[Event]) -> None:
        self.doubles: list[Event] = []
        self._events: dict[tuple[str, str | None], Event] = {}
        for event in log:
            key = self._key(event.kind, event.tag, event.player)
            if key in self._events:
                self.doubles.append(event)
            self._events[key] = event

    def take(self, answer: Answer) -> Event | None:
        """Return the event of this request, which is accounted for from now on."""
        key = self._key(answer.kind, answer.tag, answer.player)
        return self._events.pop(key, None)

    def rest(self) -> list[Event]:
        """Return the events that no request was found for."""
        return list(self._events.values())

    def _key(
        self, kind: str, tag: str | None, player: str | None
    ) -> tuple[str, str | None]:
        return ("leave", player) if kind == "leave" else ("tag", tag)
