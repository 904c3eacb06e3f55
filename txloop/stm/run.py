"""Running a call as one attempt, on whichever thread this is."""

from __future__ import annotations

import asyncio
import functools
import sys
import time
from typing import TYPE_CHECKING, Any, Never

from txloop.errors import BecomeInevitable, Retrying, TxInternalError
from txloop.stm.attempt import Attempt, current, make_current
from txloop.stm.attempt_kinds import (
    LateAttempt,
    LateTracedAttempt,
    ReadingAttempt,
    TracedAttempt,
)
from txloop.stm.measuring import BodyTimer
from txloop.stm.signals import exits_by_signal, raise_again
from txloop.stm.store import committed
from txloop.stm.types import Answer, Call, Outcome, Ready, Refusal, Retry
from txloop.stm.variables import own_decimals

if TYPE_CHECKING:
    import contextvars
    from collections.abc import Callable

__all__ = [
    "DOES_MORE",
    "hide_task",
    "run_attempt",
    "run_body",
    "run_here",
    "run_reading",
    "run_ready",
]

_CHANGES_DECIMALS = (
    "it changes decimal's context, which others use, too; use decimal.localcontext()"
)

_KINDS: dict[bool, type[Attempt]] = {False: Attempt, True: TracedAttempt}
"""What runs a call, by whether it is traced."""

_LATE_KINDS: dict[bool, type[LateAttempt | LateTracedAttempt]] = {
    False: LateAttempt,
    True: LateTracedAttempt,
}
"""The same, where its first read may be of a newer version."""


DOES_MORE = Refusal("it does more than read", lasting=False)
"""The answer of an attempt that has to run again, and to note what it reads."""

_TASK_OF_THREAD: bool = sys.version_info >= (3, 14)
"""Whether asyncio keeps the current task with the thread, not by loop."""


def run_attempt(
    call: Call,
    *,
    speculative: bool,
    keep_reads: bool = True,
    worker: int = 0,
    snapshot: int | None = None,
    renew: Callable[[], int] | None = None,
    on_begin: Callable[[Attempt], object] | None = None,
    reading: bool = False,
) -> Answer:
    """Run `call` once against one version, on this thread, in its context.

    Args:
        call: The transaction's function call.
        speculative: Whether the result may be thrown away; then what cannot be undone
            (the running loop, `inevitable`) ends it with a `Refusal`.
        keep_reads: Whether to report the reads even where they cannot matter.
        worker: Whose thread this is, from 1; 0 for the loop's.
        snapshot: The version; None for the newest one.
        renew: Returns the one that is read instead, when something is read first.
        on_begin: Given the attempt before it begins, so that it can be condemned.
        reading: Whether to note nothing that it reads. Nothing may be committed
            meanwhile. Where it does more than read, the answer is `DOES_MORE`.
    """
    context = call.context.copy()
    own = own_decimals(context) if speculative else None
    if snapshot is None:
        snapshot = committed.version
    answer, stays = context.run(
        _run, call, snapshot, speculative, keep_reads, worker, renew, on_begin, reading
    )
    if own is not None and own.changed:
        if stays:
            own.share()
            return answer
        return Refusal(_CHANGES_DECIMALS, trace=answer.trace)
    return answer


def run_here(call: Call) -> Outcome | Retry:
    """Run `call` at once on this thread, the loop's, where nothing can interfere."""
    answer = run_attempt(call, speculative=False)
    if isinstance(answer, Refusal):
        raise TxInternalError(f"{call.label} was refused where everything is allowed")
    return answer


def run_reading(
    ready: Ready, context: contextvars.Context, guarded: bool
) -> Answer | float | None:
    """Run what is short as `run_ready` does, without a note of what it reads.

    Nothing may be committed meanwhile.

    Returns:
        Likewise; or None if it does more than read, and has to run by `run_ready`.
    """
    attempt = ReadingAttempt(committed.version, context.copy())
    found = _run_in(attempt, ready, context, guarded)
    return None if attempt.has_to_note else found


def run_ready(
    ready: Ready,
    context: contextvars.Context,
    guarded: bool,
    worker: int = 0,
    snapshot: int | None = None,
) -> Answer | float:
    """Run what is short once against one version, as an attempt of its own.

    Args:
        ready: What to run.
        context: Its context; no copy is made.
        guarded: Whether it is stopped before it changes anything outside the program.
        worker: The number under which it is traced; 0 if it is not.
        snapshot: The version; None for the newest one.

    Returns:
        The answer, without the value, which `ready` has to keep; or how many seconds it
        took, if it has only read and did not fail, so that nothing is left to be
        decided, or done.
    """
    if snapshot is None:
        snapshot = committed.version
    # What the function sets in its context has to travel: it is what a copy lacks.
    attempt = _KINDS[worker > 0](snapshot, True, context.copy())
    return _run_in(attempt, ready, context, guarded, worker)


def _run_in(
    attempt: Attempt,
    ready: Ready,
    context: contextvars.Context,
    guarded: bool,
    worker: int = 0,
) -> Answer | float:
    attempt.decimals = own = own_decimals(context)
    if guarded:
        attempt.files = set()
    started = time.perf_counter()
    _, error = context.run(run_body, attempt, ready)
    seconds = time.perf_counter() - started
    if attempt.abandoned is not None:
        where = attempt.trace(worker)
        return Refusal(attempt.abandoned, warn=attempt.warns, trace=where)
    if own is not None and own.changed:
        return Refusal(_CHANGES_DECIMALS, trace=attempt.trace(worker))
    if attempt.retrying:
        return attempt.given_up(seconds, attempt.trace(worker))
    if error is None and not attempt.has_results():
        return seconds
    if not (attempt.writes or error is not None or attempt.error_answered):
        attempt.forget_reads()
    trace = attempt.trace(worker)
    return context.run(attempt.outcome, None, error, seconds, trace)


def _run(
    call: Call,
    snapshot: int,
    speculative: bool,
    keep_reads: bool,
    worker: int,
    renew: Callable[[], int] | None,
    on_begin: Callable[[Attempt], object] | None,
    reading: bool,
) -> tuple[Answer, bool]:
    """Return the answer, and whether the attempt cannot be thrown away any more."""
    attempt: Attempt
    late = None
    if reading:
        attempt = ReadingAttempt(snapshot)
    elif renew is None:
        attempt = _KINDS[call.traced](snapshot, speculative)
    else:
        attempt = late = _LATE_KINDS[call.traced](snapshot, speculative)
        late.renew_by(renew)
    attempt.waited_seconds = call.waited_seconds
    attempt.ordered = call.ordered
    if call.guarded and speculative:
        attempt.files = set()
    if on_begin is not None:
        on_begin(attempt)
    timer = BodyTimer()
    value, error = run_body(attempt, call)
    if late is not None:
        late.stop_renewing()
    if isinstance(attempt, ReadingAttempt) and attempt.has_to_note:
        return DOES_MORE, False
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

    If the attempt may be thrown away, no code of this thread finds the running loop.
    Of the program's code that runs in attempts, all is called from here. An error has
    undone the writes, unless it is one of those that commit; one that gives the attempt
    up is not returned, the attempt knows.
    """
    value: object = None
    error: BaseException | None = None
    speculative, loop = attempt.speculative, asyncio._get_running_loop()
    if speculative:
        asyncio._set_running_loop(_forbidden_loop)  # type: ignore[arg-type] # see the class
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
        if loop is not None and exits_by_signal(error):  # in a worker there is no loop
            loop.call_soon(raise_again, error)
    finally:
        committed.forget_views()
        make_current(outer)
        if speculative:
            asyncio._set_running_loop(loop)
    return value, error


class _ForbiddenLoop:
    """Stands in for the running loop: touching it cannot be undone."""

    def __hash__(self) -> int:
        # asyncio looks the current task up by it, and a coroutine has one.
        attempt = current()
        if attempt is not None:
            attempt.reveal("it asks for the current task")
        return id(self)

    def __getattr__(self, name: str) -> Any:
        attempt = current()
        if attempt is None:
            raise TxInternalError(f"no attempt runs, yet the loop's {name} is hidden")
        loop = asyncio._get_running_loop()
        if not attempt.speculative and loop is not None:  # since it asked for the loop
            return getattr(loop, name)
        return attempt.abandon("it uses the running event loop")


_forbidden_loop = _ForbiddenLoop()


class _ForbiddenTask:
    """Stands in for the current task of a coroutine that runs in an attempt."""

    def __getattr__(self, name: str) -> Any:
        attempt = current()
        if attempt is None:
            raise TxInternalError(f"no attempt runs, yet the task's {name} is hidden")
        return attempt.abandon("it uses the current task")

    def __reduce__(self) -> Never:
        raise TypeError("cannot pickle the current task")


_forbidden_task = _ForbiddenTask()


def hide_task(attempt: Attempt) -> Callable[[], object]:
    """Let a coroutine in an attempt find a task, of which it cannot use anything.

    Before Python 3.14, asyncio asks the running loop for its hash, and the one that
    attempts have ends them there.

    Returns:
        What puts back the one that there was.
    """
    loop: Any = asyncio._get_running_loop()
    if not (_TASK_OF_THREAD and attempt.speculative and loop is _forbidden_loop):
        return _do_nothing
    swap: Any = asyncio.tasks._swap_current_task  # type: ignore[attr-defined]
    return functools.partial(swap, loop, swap(loop, _forbidden_task))


def _do_nothing() -> None:
    pass
