"""The watch in a worker: a look after each attempt, before its answer is sent."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from txloop.stm.types import Refusal
from txloop.watch import limits
from txloop.watch.ambient import Imports
from txloop.watch.given import GivenWatch
from txloop.watch.places import Watched, roots_of
from txloop.watch.reach import reach_of
from txloop.watch.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from txloop.stm.types import Answer, Call
    from txloop.watch.places import Reach, Roots

__all__ = ["WorkerWatch"]


class WorkerWatch:
    """What may not change in one worker process; used by its only thread.

    What a function reaches is pictured when it first runs there: until then only other
    functions under watch, and start hooks, can have changed it.
    """

    def __init__(self) -> None:
        self._subjects: dict[Hashable, Subject] = {}
        self._given = GivenWatch()
        self._disturbances = 0  # calls that are not watched

    def subject(self, roots: Roots | None) -> Subject | None:
        """Return what is watched of a function that is about to run, if anything is.

        After short runs there is a look only when the subject `is_due`; what others
        take is saved up for that.
        """
        if roots is None:
            self._disturbances += 1
            return None
        return self._subject(roots)

    def run(self, call: Call, run: Callable[[], Answer]) -> Answer:
        """Return the answer to a call; a `Refusal` if it has changed plain objects.

        Args:
            call: What runs.
            run: Makes the attempt.
        """
        if not call.watched:
            self._disturbances += 1
            return run()
        roots = roots_of(call.function, call.args)
        subject = self._subject(roots)
        return self.look(subject, self._given.run(roots.key, call, run))

    def look(self, subject: Subject, answer: Answer) -> Answer:
        """Return an answer; a `Refusal` if what has run has changed plain objects."""
        seconds = 0.0 if isinstance(answer, Refusal) else answer.body_seconds
        change = subject.look(limits.SHARE * seconds)
        if change is None:
            return answer
        if isinstance(answer, Refusal) and answer.lasting:
            return dataclasses.replace(answer, spoilt=True)
        reason = change.describe("it changes")
        return Refusal(reason, trace=answer.trace, spoilt=True, settles=True)

    def _subject(self, roots: Roots) -> Subject:
        subject = self._subjects.get(roots.key)
        if subject is None:
            subject = self._subjects[roots.key] = Subject(roots, _reach(roots))
            subject.epoch = self._disturbances
        elif subject.epoch != self._disturbances:
            subject.epoch = self._disturbances
            subject.reach = _reach(roots)
            subject.begin_anew()
        return subject


def _reach(roots: Roots) -> Reach:
    """Return what a function reaches where nothing but attempts changes anything.

    Whatever changes of the process then, its code has changed, by whatever name.
    """
    reach = reach_of(roots, {}, any_hook=True)
    for watched in reach.watched:
        if watched.thing.object is None:
            watched.names = None
    reach.watched.append(Watched(Imports(None, "")))
    return reach
