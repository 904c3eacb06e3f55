"""A worker: a forked process that keeps a replica of the store and runs attempts.

It has one thread and no loop. It reads a frame, brings its replica up to the version
that the frame names, runs the frame's calls and answers each. It ends when the
connection does.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from txloop.executors.carried import carry
from txloop.executors.codec.answers import pack
from txloop.executors.codec.frames import (
    FRAMING_BYTES,
    LARGEST_BYTES,
    dumps,
    frame,
    numbered,
)
from txloop.executors.codec.packing import unpack_call
from txloop.executors.debugging import have_no_terminal, set_title
from txloop.executors.faults import faults_on_purpose
from txloop.executors.processes.feed import GREETING, Feed
from txloop.executors.processes.spawner_process import flush_output
from txloop.executors.protocol import NICENESS
from txloop.executors.refusing import disown_loops
from txloop.stm.measuring import Delay
from txloop.stm.run import DOES_MORE, run_attempt
from txloop.stm.store import committed
from txloop.stm.types import Answer, Outcome, Refusal, strange
from txloop.watch import WorkerWatch, note_start_hook
from txloop.watch.outside import guard

if TYPE_CHECKING:
    import socket

    from txloop.executors.codec.contexts import Base

__all__ = [
    "LAST_WORDS",
    "become_copy",
    "on_worker_start",
    "run_start_hooks",
    "run_worker",
]

LAST_WORDS = signal.SIGRTMAX - 7
"""Makes a worker write its stack to the connection, and end."""

_NUMBER_BITS = 40  # a worker numbers its new containers apart from all others

_start_hooks: list[Callable[[], object]] = []  # a registry, filled at import

F = TypeVar("F", bound=Callable[[], object])


def on_worker_start(function: F) -> F:
    """Run `function` in each new worker process before its first transaction.

    For what does not survive a fork: database connections, threads. Sockets and files
    that the program had open are closed in workers. A function of `functools.cache`
    fills that in each worker with what may be its own, such as a model. Containers may
    be read in it, but written in transactions only. Register at import, from any
    thread; it may be used as a decorator. A function that raises is logged, and the
    worker goes on. On executors without processes it never runs.
    """
    _start_hooks.append(function)
    note_start_hook(function)
    return function


carry("start hooks", lambda: _start_hooks, _start_hooks.extend)


def run_worker(connection: socket.socket, number: int, *, base: Base) -> None:
    """Serve the loop's process over `connection` until it closes.

    Args:
        connection: Carries frames: ``(sent_at, version, dump, deltas, dropped, calls)``
            in (see `feed`), numbered answers out. The first answer has the number
            `GREETING`, and tells the process number and the tracebacks of failed start
            hooks.
        number: Tells this worker from all others of the program's run.
        base: The context of calls that say nothing else.
    """
    os.nice(NICENESS)
    become_copy(number)
    set_title(f"worker {number}")
    _promise_last_words(connection.fileno())
    reply: Callable[[bytes], None] = connection.sendall
    packing: Callable[[Answer], bytes] = pack
    faults = faults_on_purpose(f"worker {number}")
    if faults is not None:
        reply, packing = faults.replying(reply), faults.packing(packing)
    feed = Feed(connection, hurries=faults is not None and faults.is_late())
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        # Until the loop's process closes it, or leaves.
        troubles = run_start_hooks(base)
        connection.sendall(frame(numbered(GREETING, dumps((os.getpid(), troubles)))))
        _serve(feed, reply, packing, base)


def become_copy(number: int) -> None:
    """Let this forked process be a copy of its own, with a replica of the store."""
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    disown_loops()
    have_no_terminal()
    committed.become_replica(number << _NUMBER_BITS)


def run_start_hooks(base: Base) -> list[str]:
    """Run what `on_worker_start` has registered; return tracebacks of what failed."""
    # What a hook sets in its context, attempts find in theirs.
    troubles = [base.context.run(_trouble, hook) for hook in _start_hooks]
    return [trouble for trouble in troubles if trouble]


def _promise_last_words(descriptor: int) -> None:
    """Have the stack written to `descriptor` when a signal ends this process."""
    if not faulthandler.is_enabled():  # or the program wants it elsewhere
        faulthandler.enable(descriptor, all_threads=False)
    if hasattr(faulthandler, "register"):
        signal.signal(LAST_WORDS, signal.SIG_DFL)
        faulthandler.register(LAST_WORDS, descriptor, all_threads=False, chain=True)


def _serve(
    feed: Feed,
    reply: Callable[[bytes], None],
    pack: Callable[[Answer], bytes],
    base: Base,
) -> None:
    watch = WorkerWatch()
    delay = Delay()
    while (found := feed.next()) is not None:
        sent_at, calls = found
        for number, payload, late, reading in calls:
            delay.begin()
            # What must not be seen here is found out by who notes what is read.
            reading = reading and not (strange.seen or committed.haunting)
            answer = _answer(payload, watch, base, feed, late, reading)
            if reading and answer is DOES_MORE:
                answer = _answer(payload, watch, base, feed, late, False)
            packed = pack(answer)
            if len(packed) > LARGEST_BYTES - FRAMING_BYTES:
                packed = dumps(Refusal(f"its answer has {len(packed)} bytes"))
            reply(frame(numbered(number, packed, delay.end(sent_at))))
            if isinstance(answer, Refusal) and answer.spoilt:
                return  # what else is to be done runs in another worker
        del found, calls
        flush_output()


def _trouble(hook: Callable[[], object]) -> str | None:
    try:
        hook()
    except BaseException:  # the program's own code; reported, not swallowed
        return traceback.format_exc()
    return None


def _answer(
    payload: bytes,
    watch: WorkerWatch,
    base: Base,
    feed: Feed,
    late: bool,
    reading: bool,
) -> Answer:
    if feed.broken is not None:
        return Refusal(feed.broken)
    try:
        call, worker = unpack_call(payload, base)
    except MemoryError as error:
        return Outcome(committed.version, error=error)
    except Exception as error:  # whatever the classes of the program raise
        return Refusal(
            f"a worker cannot load it ({error!r}); define it before the first call"
        )
    if call.guarded:
        guard()
    run = functools.partial(
        run_attempt,
        call,
        speculative=True,
        keep_reads=False,
        worker=worker,
        reading=reading,
        renew=functools.partial(feed.renew, time.monotonic()) if late else None,
    )
    answer = watch.run(call, run)
    return answer if feed.broken is None else Refusal(feed.broken)
