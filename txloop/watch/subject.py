"""One function under watch: when to look at what, and what is said of a change.

The first runs are followed by a look at everything. Later looks take at most
`limits.SHARE` of the time that the function's body took; where there is more to look
at, each look goes on where the last one stopped.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from txloop.scan import Finding, FindingKind
from txloop.scan.finding import CONTAINERS, short_path
from txloop.stm.callables import with_article
from txloop.watch import limits
from txloop.watch.definitions import Definition
from txloop.watch.names import line_of
from txloop.watch.parts import BUILTIN
from txloop.watch.pictures import Namespace

if TYPE_CHECKING:
    from txloop.watch.pictures import Thing
    from txloop.watch.places import Held, Place, Reach, Roots, Watched

__all__ = ["Change", "Subject", "change_of", "finding_of"]

_TRUSTING = "mark with @transactional(trust=True) if that does no harm"


class Change(NamedTuple):
    """A plain object that is otherwise than it was.

    Attributes:
        name: What the program calls it.
        kind: The name of its class.
        place: Where the program uses it, if known.
        of_process: Whether it is no object, but belongs to the whole process, or to
            the program's code.
    """

    name: str
    kind: str
    place: Place | None
    of_process: bool = False

    def describe(self, cause: str) -> str:
        """Return a sentence that says what has changed it, where, and what to do.

        Args:
            cause: What has changed it, with a verb.
        """
        thing = f", {with_article(self.kind)}" if self.kind else ""
        where = _where(self.place)
        return f"{cause} {self.name}{thing}{where}; {self._remedy()}"

    def _remedy(self) -> str:
        trusting = (
            "mark with @transactional(trust=True) if each worker may have its own"
        )
        if self.of_process:
            return f"do that before the first request, or {trusting}"
        name = CONTAINERS.get(self.kind)
        sharing = (
            f"make it a txloop.{name}" if name else "keep it in a txloop container"
        )
        return f"{sharing}, or {trusting}"


def _where(place: Place | None) -> str:
    if place is None:
        return ""
    file, line = short_path(place.code.co_filename), line_of(*place)
    return f", which {place.code.co_qualname}() uses at {file}:{line}"


def finding_of(held: Held) -> Finding:
    """Return what there is to say of something of which a copy is of no use."""
    file, line, function = "", 0, ""
    if held.place is not None:
        code = held.place.code
        file, line, function = code.co_filename, line_of(*held.place), code.co_qualname
    return Finding(
        FindingKind.REACHES,
        held.name,
        file,
        line,
        function,
        f"{_why(held)}; {_TRUSTING}",
        _TRUSTING,
        thing=held.kind.__name__,
        identity=held.identity,
    )


def _why(held: Held) -> str:
    """Return what is wrong with a copy of something that is held."""
    if held.is_missed:
        return "the program notices when its life ends, and a copy would prolong that"
    cls = held.kind
    if issubclass(cls, threading.local):
        return "it was set for this thread alone, in a threading.local"
    if issubclass(cls, logging.Handler):
        return "what a transaction logs gets there after it has committed, not before"
    name = f"{cls.__module__}.{cls.__qualname__}".removeprefix("builtins.")
    return (
        f"it is {with_article(name)}, of which a copy in another process is of no use"
    )


class Subject:
    """What one function can reach, in one process; owned by the thread that looks.

    Attributes:
        roots: Where its walk begins.
        reach: All of it.
        epoch: The one of the last look on the loop thread; see `Watch`.
        looked_at: When that was, by `time.monotonic`.
        checked_at: When it was last asked whether all is as it was.
        rounds: How often it was held because of a change.
        calm: Runs in a row on the loop thread, since it is held, that changed nothing.
        settling: What it reached after the last such run; None if it is not to leave.
        is_late: Whether some of what it reaches was not pictured when the workers were
            forked, and may have changed since.
    """

    def __init__(self, roots: Roots, reach: Reach) -> None:
        self.roots = roots
        self.reach = reach
        self.epoch = 0
        self.looked_at = self.checked_at = time.monotonic()
        self.rounds = 0
        self.calm = 0
        self.settling: Subject | None = None
        self.is_late = False
        self.begin_anew()

    def begin_anew(self) -> None:
        """Count runs from here: what it reaches is another, or looks otherwise."""
        self._runs = 0
        self._credit = 0.0
        self._cursor = 0
        self._parts = max(1, sum(one.thing.parts for one in self.reach.watched))
        self._seconds_a_part = 0.0  # unknown yet

    @property
    def held(self) -> str | None:
        """Why a copy of what it reaches is of no use, or None."""
        held = self.reach.held
        return None if held is None else finding_of(held).describe()

    @property
    def is_due(self) -> bool:
        """Whether it is time for a look after the next run, where they are short."""
        return self._runs < limits.FIRST_RUNS or self._credit >= limits.DUE_SECONDS

    def save(self, credit_seconds: float) -> None:
        """Let later looks take this much more time."""
        self._credit += credit_seconds

    def spend(self) -> None:
        """Begin to save anew: there was a look."""
        self._credit = 0.0

    def look(self, credit_seconds: float) -> Change | None:
        """Return what has changed, if something is found in the time there is for it.

        Args:
            credit_seconds: How much more time looks may take.
        """
        self._runs += 1
        if self._runs <= limits.FIRST_RUNS:
            return self.look_at_all()
        self._credit += credit_seconds
        whole = self._parts * self._seconds_a_part
        if self._credit >= whole:
            self._credit = min(self._credit - whole, limits.MOST_CREDIT * whole)
            return _difference_in(self.reach.watched)
        return self._go_on()

    def is_same(self, credit_seconds: float) -> bool:
        """Tell whether nothing has changed, as far as there is time to look at all.

        Args:
            credit_seconds: As for `look`.
        """
        self._credit += credit_seconds
        whole = self._parts * self._seconds_a_part
        if whole and self._credit < whole:
            return False
        self._credit = min(self._credit - whole, limits.MOST_CREDIT * whole)
        return self.look_at_all() is None

    def look_at_all(self) -> Change | None:
        """Return what has changed, whatever it takes to find it."""
        started = time.perf_counter()
        change = _difference_in(self.reach.watched)
        if change is None:
            spent = (time.perf_counter() - started) / self._parts
            known = self._seconds_a_part
            self._seconds_a_part = min(known, spent) if known else spent
        return change

    def _go_on(self) -> Change | None:
        """Look at as much as the credit pays for, from where the last look stopped."""
        watched = self.reach.watched
        found = None
        while found is None:
            one = watched[self._cursor]
            cost = one.thing.parts * self._seconds_a_part
            if self._credit < cost:
                return None
            self._credit -= cost
            found = _difference_in([one])
            self._cursor = (self._cursor + 1) % len(watched)
        return found


def _difference_in(watched: list[Watched]) -> Change | None:
    for one in watched:
        part = one.thing.difference(one.names)
        if part is not None:
            return change_of(one.thing, part, one.place)
    return None


def change_of(thing: Thing, part: str, place: Place | None = None) -> Change:
    """Return what is to be said of a thing of which a part is otherwise."""
    if thing.object is None or isinstance(thing, Definition):
        name = part if thing.object is None else f"{thing.name}{part}"
        return Change(name or thing.name, "", place, of_process=True)
    kind = type(thing.object)
    if isinstance(thing, Namespace):
        kind = type(thing.attributes.get(part.removeprefix(".")))
    plain = kind.__module__ in BUILTIN
    label = kind.__qualname__ if plain else f"{kind.__module__}.{kind.__qualname__}"
    name = f"{thing.name}{part}".lstrip(".")
    return Change(name, "" if kind is type(None) else label, place)
