"""Effects of committed transactions, waiting to be run in commit order."""

from __future__ import annotations

import logging
from collections import deque
from types import FunctionType
from typing import TYPE_CHECKING

from txloop.stm.callables import name_of
from txloop.stm.log_capture import emission
from txloop.stm.signals import exits_by_signal
from txloop.stm.types import Effect, Outcome

if TYPE_CHECKING:
    import contextvars
    from collections.abc import Callable, Iterable

    from txloop.executors.faults import Faults

__all__ = ["EffectQueue", "check_before_commit", "too_late"]

_checks: dict[Callable[..., object], Callable[..., str | None]] = {}
"""What tells of an effect, before its commit, why it comes too late; by function."""

_log = logging.getLogger("txloop")


def check_before_commit(
    function: Callable[..., object], check: Callable[..., str | None]
) -> None:
    """Refuse attempts made elsewhere if an effect of theirs would come too late.

    That cannot be known where they are made. Their call runs on the loop thread.

    Args:
        function: The function of the effect.
        check: Given the effect's arguments, returns why it comes too late, or None; on
            the loop thread.
    """
    _checks[function] = check


def too_late(effects: Iterable[Effect]) -> str | None:
    """Return why one of these cannot take place any more, or None."""
    for effect in effects:
        function = effect.function
        known = type(function) is FunctionType  # others may have no hash
        check = _checks.get(function) if known else None
        reason = None if check is None else check(*effect.args, **effect.kwargs)
        if reason is not None:
            return reason
    return None


class EffectQueue:
    """Runs effects one after another; owned by the loop thread.

    One commit's effects run before the next one's, even if an effect causes a commit.

    Attributes:
        waiting: Those that have not run yet.
        running: Whether one of them runs now.
    """

    def __init__(self, faults: Faults | None = None) -> None:
        """Begin without any.

        Args:
            faults: Makes effects fail on purpose, or None.
        """
        self._faults = faults
        self.waiting: deque[Effect] = deque()
        self.running = False

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
            context: The context of the call, if it may have run in another process.
        """
        effects: Iterable[Effect] = outcome.effects
        if self._faults is not None:
            effects = map(self._faults.spoil, effects)
        for effect in (*map(emission, outcome.records), *effects):
            if effect.variables is not None and context is not None:
                effect.variables.base = context
            self.waiting.append(effect)
        self.waiting.append(Effect(done, (outcome.value, outcome.error), {}, label))

    def deliver(
        self,
        done: Callable[[object, BaseException | None], object],
        value: object,
        error: BaseException | None,
        label: str,
    ) -> None:
        """Hand a result over at once; for where no effect waits."""
        self.running = True
        try:
            done(value, error)
        except KeyboardInterrupt:  # hardly its own
            raise
        except BaseException as raised:  # an effect, of which others know nothing
            if exits_by_signal(raised):
                raise
            _log_failure(done, label)
        finally:
            self.running = False

    def run_next(self) -> bool:
        """Run the next effect, if any, and tell so; one that raises is logged."""
        if not self.waiting:
            return False
        effect = self.waiting.popleft()
        self.running = True
        try:
            if effect.variables is None:
                effect.function(*effect.args, **effect.kwargs)
            else:
                effect.variables.run(effect.function, *effect.args, **effect.kwargs)
        except KeyboardInterrupt:  # hardly the effect's own
            raise
        except BaseException as error:  # the program's code; the other effects run
            if exits_by_signal(error):
                raise
            _log_failure(effect.function, effect.origin)
        finally:
            self.running = False
        return True


def _log_failure(function: Callable[..., object], origin: str) -> None:
    """Log that an effect has raised; called where it was caught."""
    _log.exception("an effect failed: %s, asked for at %s", name_of(function), origin)
