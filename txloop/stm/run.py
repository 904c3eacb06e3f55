"""Running a call as one attempt, on whichever thread this is."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from txloop.errors import BecomeInevitable, Retrying, TxInternalError
from txloop.stm.arithmetic import OwnDecimals
from txloop.stm.attempt import Attempt, current, make_current
from txloop.stm.measuring import BodyTimer
from txloop.stm.store import committed
from txloop.stm.traced import TracedAttempt
from txloop.stm.types import Answer, Call, Ready, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["run_attempt", "run_body"]

_KINDS: dict[bool, type[Attempt]] = {False: Attempt, True: TracedAttempt}
"""What runs a call, by whether it is traced."""


def run_attempt(
    call: Call,
    *,
    speculative: bool,
    keep_reads: bool = True,
    worker: int = 0,
    snapshot: int | None = None,
    on_begin: Callable[[Attempt], object] | None = None,
) -> Answer:
    """Run `call` once against one version, on this thread, in its context.

    Args:
        call: The transaction's function call.
        speculative: Whether the result may be thrown away; then what cannot be undone
            (the running loop, `inevitable`) ends it with a `Refusal`.
        keep_reads: Whether to report the reads even where they cannot matter.
        worker: Whose thread this is, from 1; 0 for the loop's.
        snapshot: The version; None for the newest one.
        on_begin: Given the attempt before it begins, for those who may condemn it.
    """
    context = call.context.copy()
    own = OwnDecimals(context) if speculative else None
    if snapshot is None:
        snapshot = committed.version
    answer, stays = context.run(
        _run, call, snapshot, speculative, keep_reads, worker, on_begin
    )
    if own is not None and own.changed:
        if stays:
            own.share()
            return answer
        return Refusal(
            "it changes decimal's context, which others use, too; use "
            "decimal.localcontext()",
            trace=answer.trace,
        )
    return answer


def _run(
    call: Call,
    snapshot: int,
    speculative: bool,
    keep_reads: bool,
    worker: int,
    on_begin: Callable[[Attempt], object] | None,
) -> tuple[Answer, bool]:
    """Return the answer, and whether the attempt cannot be thrown away any more."""
    attempt = _KINDS[call.traced](snapshot, speculative)
    attempt.waited_seconds = call.waited_seconds
    if call.guarded and speculative:
        attempt.files = set()
    if on_begin is not None:
        on_begin(attempt)
    timer = BodyTimer()
    if speculative:
        with _no_running_loop():
            value, error = run_body(attempt, call)
    else:
        value, error = run_body(attempt, call)
    answer = _answer(attempt, value, error, timer.seconds(), call, keep_reads, worker)
    return answer, not attempt.speculative


def _answer(
    attempt: Attempt,
    value: object,
    error: BaseException | None,
    body_seconds: float,
    call: Call,
    keep_reads: bool,
    worker: int,
) -> Answer:
    # Even if user code caught BecomeInevitable or Retrying:
    if attempt.abandoned is not None:
        where = attempt.trace(worker)
        return Refusal(attempt.abandoned, warn=attempt.warns, trace=where)
    if attempt.retrying:
        return attempt.given_up(body_seconds, attempt.trace(worker))
    failed = error is not None or attempt.error_answered
    if not (keep_reads or attempt.writes or failed or call.ordered):
        attempt.forget_reads()
    return attempt.outcome(value, error, body_seconds, attempt.trace(worker))


def run_body(attempt: Attempt, call: Ready) -> tuple[object, BaseException | None]:
    """Run a call's function in an attempt; return what it returned, or raised.

    Of the program's code that runs in attempts, all is called from here. An error has
    undone the writes, unless it is one of those that commit; one that gives the attempt
    up is not returned, the attempt knows.
    """
    value: object = None
    error: BaseException | None = None
    outer = current()
    make_current(attempt)
    committed.forget_views()  # what others have read, this one has not
    try:
        value = call.function(*call.args, **call.kwargs)
    except (BecomeInevitable, Retrying):
        pass
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
    return value, error


class _ForbiddenLoop:
    """Stands in for the running loop: touching it cannot be undone."""

    def __getattr__(self, name: str) -> Any:
        attempt = current()
        if attempt is None:
            raise TxInternalError(f"no attempt runs, yet the loop's {name} is hidden")
        loop = asyncio._get_running_loop()
        if not attempt.speculative and loop is not None:  # since it asked for the loop
            return getattr(loop, name)
        return attempt.abandon("it uses the running event loop")


_forbidden_loop = _ForbiddenLoop()


@contextmanager
def _no_running_loop() -> Iterator[None]:
    # The running loop is per thread, so this hides it from no other thread.
    before = asyncio._get_running_loop()
    asyncio._set_running_loop(_forbidden_loop)  # type: ignore[arg-type] # see the class
    try:
        yield
    finally:
        asyncio._set_running_loop(before)
