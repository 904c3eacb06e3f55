"""Effects of committed transactions, waiting to be run in commit order."""

from __future__ import annotations

import functools
import logging
from collections import deque
from typing import TYPE_CHECKING

from txloop.logs import emission
from txloop.types import Effect, Outcome

if TYPE_CHECKING:
    import contextvars
    from collections.abc import Callable, Iterable

    from txloop.faults import Faults

__all__ = ["EffectQueue"]

_log = logging.getLogger("txloop")


class EffectQueue:
    """Runs effects one after another; owned by the loop thread.

    One commit's effects run before the next one's, even if an effect causes a commit.
    """

    def __init__(self, faults: Faults | None = None) -> None:
        """Take what shall go wrong on purpose."""
        self._faults = faults
        self._waiting: deque[Effect] = deque()

    def add(
        self,
        outcome: Outcome,
        done: Callable[[object, BaseException | None], object],
        label: str,
        context: contextvars.Context | None = None,
    ) -> None:
        """Take over what a committed outcome wants done, and `done` with its result.

        Args:
            outcome: The outcome.
            done: Takes its value or its error, after the effects.
            label: Names the call.
            context: That of the call, if it may have run in another process.
        """
        effects: Iterable[Effect] = outcome.effects
        if self._faults is not None:
            effects = map(self._faults.spoil, effects)
        for effect in (*map(emission, outcome.records), *effects):
            if effect.variables is not None and context is not None:
                effect.variables.base = context
            self._waiting.append(effect)
        self._waiting.append(Effect(done, (outcome.value, outcome.error), {}, label))

    def __len__(self) -> int:
        return len(self._waiting)

    def run_next(self) -> bool:
        """Run the next effect, if any, and tell so; one that raises is logged."""
        if not self._waiting:
            return False
        effect = self._waiting.popleft()
        try:
            if effect.variables is None:
                effect.function(*effect.args, **effect.kwargs)
            else:
                effect.variables.run(effect.function, *effect.args, **effect.kwargs)
        except KeyboardInterrupt:  # hardly the effect's own
            raise
        except BaseException:  # the program's code; the other effects run
            _tell_of_failure(effect.function, effect.origin)
        return True

    def hand_over(
        self,
        done: Callable[[object, BaseException | None], object],
        value: object,
        error: BaseException | None,
        label: str,
    ) -> None:
        """Give a result to `done` at once, as its effect: nothing waits before it."""
        try:
            done(value, error)
        except KeyboardInterrupt:
            raise
        except BaseException:  # as above
            _tell_of_failure(done, label)


def _tell_of_failure(function: Callable[..., object], origin: str) -> None:
    _log.exception("an effect failed: %s, asked for at %s", _name_of(function), origin)


def _name_of(function: Callable[..., object]) -> str:
    # Not its repr: that of a partial shows arguments, and they may be secret.
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(name)
