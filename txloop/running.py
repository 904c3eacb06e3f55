"""Running a call as one attempt, on whichever thread this is."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Never

from txloop.attempt import Attempt, current, make_current
from txloop.errors import BecomeInevitable, Retrying, TxInternalError
from txloop.store import committed
from txloop.timing import BodyTimer
from txloop.types import Answer, Call, Refusal, Retry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["register_traced", "run_attempt"]

# What runs a call, by whether it is traced: filled at import, once all are defined.
_kinds: dict[bool, type[Attempt]] = {False: Attempt}


def register_traced(kind: type[Attempt]) -> None:
    """Have traced calls run in attempts of this kind."""
    _kinds[True] = kind


def run_attempt(
    call: Call,
    *,
    speculative: bool,
    keep_reads: bool = True,
    worker: int = 0,
    on_begin: Callable[[Attempt], object] | None = None,
) -> Answer:
    """Run `call` once against the newest version, on this thread.

    Args:
        call: The transaction's function call.
        speculative: Whether the result may be thrown away; then what cannot be undone
            (the running loop, `inevitable`) ends it with a `Refusal`.
        keep_reads: Whether to report the reads even where they cannot matter.
        worker: Whose thread this is, from 1; 0 for the loop's.
        on_begin: Given the attempt before it begins, for those who may condemn it.
    """
    attempt = _kinds[call.traced](committed.version, speculative)
    attempt.waited_seconds = call.waited_seconds
    if on_begin is not None:
        on_begin(attempt)
    value: object = None
    error: BaseException | None = None
    outer = current()
    make_current(attempt)
    committed.forget_views()  # what others have read, this one has not
    timer = BodyTimer()
    try:
        if speculative:
            with _no_running_loop():
                value = call.function(*call.args, **call.kwargs)
        else:
            value = call.function(*call.args, **call.kwargs)
    except (BecomeInevitable, Retrying):
        pass  # the attempt knows
    except BaseException as raised:  # whatever user code raises is its answer
        # The traceback starts in user code; our frame in it would be a cycle.
        trace = raised.__traceback__
        error = raised.with_traceback(trace.tb_next if trace else None)
        del trace
        if not isinstance(raised, call.commits_on):
            attempt.roll_back()
    finally:
        committed.forget_views()
        make_current(outer)
    # Even if user code caught BecomeInevitable or Retrying:
    if attempt.abandoned is not None:
        return Refusal(attempt.abandoned, warn=False, trace=attempt.trace(worker))
    if attempt.retrying:
        return Retry(
            attempt.snapshot,
            attempt.values_read(),
            frozenset(attempt.presences),
            attempt.patience_seconds,
            timer.seconds(),
            attempt.trace(worker),
        )
    failed = error is not None or attempt.error_answered
    if not (keep_reads or attempt.writes or failed or call.ordered):
        attempt.forget_reads()
    return attempt.outcome(value, error, timer.seconds(), attempt.trace(worker))


class _ForbiddenLoop:
    """Stands in for the running loop: touching it cannot be undone."""

    def __getattr__(self, name: str) -> Never:
        attempt = current()
        if attempt is None:
            raise TxInternalError(f"no attempt runs, yet the loop's {name} is hidden")
        attempt.abandon("it uses the running event loop")


_forbidden_loop = _ForbiddenLoop()


@contextmanager
def _no_running_loop() -> Iterator[None]:
    # The running loop is per thread, so this hides it from nobody else.
    before = asyncio._get_running_loop()
    asyncio._set_running_loop(_forbidden_loop)  # type: ignore[arg-type] # see the class
    try:
        yield
    finally:
        asyncio._set_running_loop(before)
