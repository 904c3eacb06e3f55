"""Effects of committed transactions, waiting to be run in commit order."""

from __future__ import annotations

import functools
import logging
from collections import deque
from typing import TYPE_CHECKING

from txloop.types import Effect, Outcome

if TYPE_CHECKING:
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
    ) -> None:
        """Take over what a committed outcome wants done, and `done` with its result."""
        for record in outcome.records:
            self._waiting.append(Effect(_emit, (record,), {}, record.name))
        effects: Iterable[Effect] = outcome.effects
        if self._faults is not None:
            effects = map(self._faults.spoil, effects)
        self._waiting.extend(effects)
        self._waiting.append(Effect(done, (outcome.value, outcome.error), {}, label))

    def run_next(self) -> bool:
        """Run the next effect, if any, and tell so; one that raises is logged."""
        if not self._waiting:
            return False
        effect = self._waiting.popleft()
        try:
            effect.function(*effect.args, **effect.kwargs)
        except KeyboardInterrupt:  # hardly the effect's own
            raise
        except BaseException:  # the program's code; the other effects run
            _log.exception(
                "an effect failed: %s, asked for at %s",
                _name_of(effect.function),
                effect.origin,
            )
        return True


def _name_of(function: Callable[..., object]) -> str:
    # Not its repr: that of a partial shows arguments, and they may be secret.
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(name)


def _emit(record: logging.LogRecord) -> None:
    logging.getLogger(record.name).handle(record)
