"""Faults on purpose: a testing aid, for this project's tests and for programs' own.

``TXLOOP_FAULTS="before-reply=0.05,after-reply=0.05,pickling=0.02,commit=0.02,seed=7"``
in the environment makes things fail that may fail anyway, each with the probability
that stands there:

===============  =====================================================================
``before-reply`` a worker is killed when it has run a call, before it has answered
``after-reply``  a worker is killed just after it has answered
``pickling``     an answer is taken for one that does not pickle
``commit``       a commit is refused as if something that was read had changed
``effects``      an effect raises when it is done
``away``         a call is sent away although it is short; and a worker process is
                 replaced after a call
``late``         an attempt that runs elsewhere settles what it reads only when it
                 reads something, however soon that is
``fronts``       a connection is given to a front, and a verb runs there, although
                 nothing tells yet that it is short
===============  =====================================================================

The program must give the same answers as without them, and do everything once; the log
tells of each that is a failure. With ``away=1`` nothing that a call leaves in its
worker process is seen by another one: state that is not shared shows at once. What has
to run on the loop thread does so all the same. ``seed`` makes the choices repeatable,
as far as the order of events is. Without the variable nothing of this module runs: it
is read when a loop is made, and by each worker at its start.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import os
import random
import signal
from typing import TYPE_CHECKING, Never

from txloop.errors import TxConfigurationError
from txloop.stm.types import Answer, Conflict, Effect, Outcome, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from txloop.stm.store import Store

    Decide: TypeAlias = Callable[[Outcome, Store, bool], Conflict | None]

__all__ = ["VARIABLE", "Faults", "InjectedFault", "faults_on_purpose"]

VARIABLE = "TXLOOP_FAULTS"

_PLACES = (
    *("before-reply", "after-reply", "pickling", "commit", "effects", "away"),
    *("fronts", "late"),
)


class InjectedFault(RuntimeError):
    """What an effect raises that fails on purpose."""


def faults_on_purpose(part: str) -> Faults | None:
    """Return the faults of a part of the program; None where there are none.

    Args:
        part: The part's name; each makes random choices of its own.

    Raises:
        TxConfigurationError: if the variable says something unknown.
    """
    text = os.environ.get(VARIABLE)
    return Faults(_parsed(text), part) if text else None


def _parsed(text: str) -> dict[str, float]:
    known = (*_PLACES, "seed")
    numbers: dict[str, float] = {}
    for item in text.split(","):
        name, _, number = (part.strip() for part in item.partition("="))
        if name not in known:
            raise TxConfigurationError(
                f"{VARIABLE}: unknown {name!r}; there are: {', '.join(known)}"
            )
        try:
            numbers[name] = float(number)
        except ValueError:
            numbers[name] = math.nan
        least, most = (-math.inf, math.inf) if name == "seed" else (0.0, 1.0)
        if not least <= numbers[name] <= most:
            limits = "" if name == "seed" else " from 0 to 1"
            raise TxConfigurationError(
                f"{VARIABLE}: {name} must be a number{limits}, not {number!r}"
            )
    return numbers


class Faults:
    """Makes things go wrong, now and then; belongs to the thread that made it."""

    def __init__(self, numbers: Mapping[str, float], part: str) -> None:
        """Set the probabilities, and the name of this part of the program."""
        self._numbers = numbers
        seed = f"{numbers['seed']} {part}" if "seed" in numbers else None
        self._random = random.Random(seed)

    def __str__(self) -> str:
        return ", ".join(f"{name}={value:g}" for name, value in self._numbers.items())

    def _happens(self, place: str) -> bool:
        return self._random.random() < self._numbers.get(place, 0)

    def replying(self, reply: Callable[[bytes], None]) -> Callable[[bytes], None]:
        """Return `reply` in a worker that may be killed before or after it."""

        def reply_or_die(data: bytes) -> None:
            if self._happens("before-reply"):
                _die()
            reply(data)
            if self._happens("after-reply"):
                _die()

        return reply_or_die

    def packing(self, pack: Callable[[Answer], bytes]) -> Callable[[Answer], bytes]:
        """Return `pack` where an answer may not pickle."""

        def pack_or_refuse(answer: Answer) -> bytes:
            if isinstance(answer, Outcome) and self._happens("pickling"):
                answer = Refusal(f"{VARIABLE} says so", lasting=False, warn=False)
            return pack(answer)

        return pack_or_refuse

    def deciding(self, decide: Decide) -> Decide:
        """Return `decide` where a commit may be refused that could be made."""

        def decide_or_refuse(
            outcome: Outcome, store: Store, ordered: bool
        ) -> Conflict | None:
            decision = decide(outcome, store, ordered)
            cells = outcome.values | outcome.presences
            checked = outcome.writes or ordered or outcome.failed
            if decision is not None or not (cells and checked):
                return decision
            if not self._happens("commit"):
                return decision
            return Conflict(next(iter(cells)), outcome.snapshot, store.version)

        return decide_or_refuse

    def refuses(self) -> bool:
        """Tell whether any commit may be refused that could be made."""
        return self._numbers.get("commit", 0) > 0

    def sends_away(self, transport_seconds: float) -> bool:
        """Tell whether a call that may stay here is sent away all the same."""
        return not math.isinf(transport_seconds) and self._happens("away")

    def wears_out(self) -> bool:
        """Tell whether a worker is replaced after the call that it gets now."""
        return self._happens("away")

    def is_late(self) -> bool:
        """Tell whether an attempt settles late what it reads."""
        return self._happens("late")

    def hurries(self) -> bool:
        """Tell whether something goes to fronts although it may not be worth it."""
        return self._happens("fronts")

    def spoil(self, effect: Effect) -> Effect:
        """Return `effect`, or one that does the same and raises."""
        if not self._happens("effects"):
            return effect
        function = functools.partial(_do_and_fail, effect.function)
        return dataclasses.replace(effect, function=function)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _do_and_fail(
    function: Callable[..., object], *args: object, **kwargs: object
) -> Never:
    function(*args, **kwargs)
    raise InjectedFault(f"{VARIABLE} says so")
