"""When a verb may run in fronts: its routes are those that they know, and it pays.

A front finds the handler of a request by the routes that there were when it was forked.
Routes that are added later may take precedence over others. So as soon as an
application's routes change, none of its verbs runs in a front until new fronts are
there.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakSet

from tornado.routing import RuleRouter

from txloop.web.fronts.request import On

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tornado.web import Application

    from txloop.engine.profile import Profile

__all__ = [
    "NEARLY_ALL",
    "PAUSE_TURNS",
    "SHORT_SECONDS",
    "Pauses",
    "Routing",
    "Traffic",
    "costs_more",
    "is_dearer",
    "limit_of",
    "may_cost_more",
]

_SETTINGS = ("default_handler_class", "default_handler_args")

SHORT_SECONDS = 0.005
"""A longer body does not run in a front: other requests would wait for it."""

_SLACK = 1.3
"""Hysteresis: how many times longer, or shorter, it has to be to count as such."""

WRITING_SECONDS = 0.0003
"""A verb that writes has to take longer to be worth two cores; see `is_dearer`."""

_REQUEST_SECONDS = 0.0002  # what a request takes beside its body
_SIDES = 2  # what the owner commits or repeats, the other fronts repeat
_GAIN = 0.75  # of what each core could bring
_LEAST_SECONDS = 0.0001  # what a request takes at least, beside half its body
_CHEAPER = 0.9  # than that, to come back
_FEW_CORES = 2
_MOSTLY = 0.5  # of all runs
NEARLY_ALL = 0.9
"""Of recent runs: from that share on one kind of verb is what counts ..."""
_MANY = 0.7  # ... until it makes up no more than this
_RECENT_WEIGHT = 0.2  # of the last turn
PAUSE_TURNS = 10  # how long a verb that was switched off stays off at first
_LONGEST_PAUSE_TURNS = 600  # ... and at most, if that happens again and again


class Routing:
    """What the routes of some applications were; the loop thread's.

    Attributes:
        changed: Those of which they are known to be otherwise now.
    """

    def __init__(self) -> None:
        """Begin with no applications."""
        self._parts: WeakKeyDictionary[Application, tuple[object, ...]]
        self._parts = WeakKeyDictionary()
        self.changed: WeakSet[Application] = WeakSet()

    def take(self, application: Application) -> None:
        """Remember the routes of an application as they are now."""
        self._parts[application] = tuple(_parts(application))
        self.changed.discard(application)

    def look(self) -> bool:
        """Tell whether routes are found to be otherwise just now.

        Their applications are in `changed` until the routes are taken again.
        """
        found = False
        for application, parts in list(self._parts.items()):
            if application not in self.changed:
                now = tuple(_parts(application))
                if len(now) != len(parts) or not all(map(operator.is_, now, parts)):
                    self.changed.add(application)
                    found = True
        return found


def _parts(application: Application) -> Iterator[object]:
    yield from _parts_of(application.default_router)
    yield from _parts_of(application.wildcard_router)
    for name in _SETTINGS:
        yield application.settings.get(name)


def _parts_of(router: RuleRouter) -> Iterator[object]:
    yield router
    for rule in router.rules:
        yield from (rule, rule.matcher, rule.target, rule.target_kwargs)
        if isinstance(rule.target, RuleRouter):
            yield from _parts_of(rule.target)


class Pauses:
    """How long a verb that was switched off stays off.

    Twice as long as the last time, unless it has stayed on for as long: each change
    moves connections, which costs more than fronts can bring in a moment.

    Attributes:
        left: For how many ticks more it stays off.
    """

    __slots__ = ("_next", "_on", "left")

    def __init__(self) -> None:
        self.left = self._on = 0
        self._next = PAUSE_TURNS

    def begin(self) -> None:
        """Begin a pause: the verb is switched off."""
        self.left, self._on = self._next, 0
        self._next = min(2 * self._next, _LONGEST_PAUSE_TURNS)

    def tick(self, on: bool) -> None:
        """Count a tick, at which it is on or off."""
        self.left = max(0, self.left - 1)
        self._on += on
        if self._on >= self._next:
            self._next, self._on = PAUSE_TURNS, 0


class Traffic:
    """What share of the recent runs is of verbs that are dearer in fronts.

    These are the owner's while hardly anything else comes. Beside others they stay: a
    connection that sends both would go to and fro, or keep the others at the owner.

    Attributes:
        is_dear: Whether nearly all are of such verbs.
    """

    __slots__ = ("_dear", "_runs", "is_dear")

    def __init__(self) -> None:
        """Begin with no runs."""
        self._runs = self._dear = 0.0
        self.is_dear = False

    def turn(self, runs: int, dear: int) -> None:
        """Count the runs since the last turn, and those of dear verbs among them."""
        self._runs += _RECENT_WEIGHT * (runs - self._runs)
        self._dear += _RECENT_WEIGHT * (dear - self._dear)
        share = _MANY if self.is_dear else NEARLY_ALL
        self.is_dear = self._dear > share * self._runs


def limit_of(on: On) -> float:
    """Return how many seconds are short, for a verb of which fronts do `on` now."""
    return SHORT_SECONDS / _SLACK if on is On.AWAY else SHORT_SECONDS * _SLACK


def costs_more(alone: float, together: float, cores: int, on: On) -> bool:
    """Tell whether all cores together are slower, by what a request costs.

    Args:
        alone: In seconds of processor time, where the owner serves all.
        together: The same of all processes, where fronts do.
        cores: How many there are.
        on: What fronts do with such requests now.
    """
    most = cores * alone
    return together > (most if on is On.HERE else _CHEAPER * most)


def may_cost_more(profile: Profile, together: float, cores: int) -> bool:
    """Tell whether a request may cost so much more that it is worth a trial.

    That is: to have the owner serve all for a while.

    Args:
        profile: What is known of the verb.
        together: As in `costs_more`.
        cores: How many there are.
    """
    here = profile.here.seconds
    if here is None or profile.writing <= _MOSTLY:
        return False
    return together > cores * (_LEAST_SECONDS + here / 2)


def is_dearer(
    profile: Profile,
    seconds: float | None,
    cores: int,
    dear: float,
    commit_seconds: float = 0.0,
) -> bool:
    """Tell whether all cores together are slower with a verb than the owner alone.

    For a request whose commit is the owner's, a front and the owner need more than the
    owner where it runs the same without an attempt, together. For one that makes
    containers, all processes do. Of two cores, on which clients run as well, that takes
    more than the second one brings; and of any number, where the body takes so much
    longer in an attempt, or conflicts so often.

    Args:
        profile: What is known of the verb, of which the owner makes no attempts.
        seconds: How long its body takes, as far as that is known.
        cores: How many there are.
        dear: The share of its commits in fronts that keep more than these busy.
        commit_seconds: How long a commit of a front keeps the owner.
    """
    if dear <= _MOSTLY or profile.writing <= _MOSTLY:
        return False
    if cores <= _FEW_CORES and (seconds is None or seconds < WRITING_SECONDS):
        return True
    here, away = profile.here.seconds, profile.away.seconds
    if here is None or away is None:
        return False
    alone = _REQUEST_SECONDS + here
    together = (_REQUEST_SECONDS + away) / (1 - min(profile.wasted, NEARLY_ALL))
    return together + _SIDES * commit_seconds > _GAIN * cores * alone
