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
import traceback
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from txloop.executors.carried import carry
from txloop.executors.codec.answers import pack
from txloop.executors.codec.frames import (
    FRAMING_BYTES,
    LARGEST_BYTES,
    dumps,
    frame,
    loads,
    numbered,
    receive_frame,
)
from txloop.executors.codec.packing import is_pickled, unpack_call, unpack_plain
from txloop.executors.codec.plain_cells import unpack_writes
from txloop.executors.debugging import have_no_terminal, set_title
from txloop.executors.faults import faults_on_purpose
from txloop.executors.processes.spawner_process import flush_output
from txloop.executors.protocol import NICENESS
from txloop.executors.refusing import disown_loops
from txloop.stm.measuring import Delay
from txloop.stm.run import run_attempt
from txloop.stm.store import committed
from txloop.stm.types import Answer, Outcome, Refusal
from txloop.watch import WorkerWatch, note_start_hook
from txloop.watch.outside import guard

if TYPE_CHECKING:
    import socket

    from txloop.executors.codec.contexts import Base

__all__ = [
    "LAST_WORDS",
    "become_copy",
    "catch_up",
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
            in, numbered answers out. The first answer has number -1 and tells the
            process number and the tracebacks of failed start hooks.
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
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        # Until the loop's process closes it, or leaves.
        _serve(connection, reply, packing, base)


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
    connection: socket.socket,
    reply: Callable[[bytes], None],
    pack: Callable[[Answer], bytes],
    base: Base,
) -> None:
    troubles = run_start_hooks(base)
    connection.sendall(frame(numbered(-1, dumps((os.getpid(), troubles)))))
    broken: str | None = None
    watch = WorkerWatch()
    delay = Delay()
    while (body := receive_frame(connection)) is not None:
        sent_at, version, dump, deltas, dropped, calls = unpack_plain(body)
        del body
        if broken is None:
            broken = catch_up(version, dump, deltas, dropped)
        for attempt, payload in calls:
            delay.begin()
            found = Refusal(broken) if broken else _answer(payload, watch, base)
            answer = pack(found)
            if len(answer) > LARGEST_BYTES - FRAMING_BYTES:
                answer = dumps(Refusal(f"its answer has {len(answer)} bytes"))
            reply(frame(numbered(attempt, answer, delay.end(sent_at))))
            if isinstance(found, Refusal) and found.spoilt:
                return  # what else is to be done runs in another worker
        del calls
        flush_output()


def _trouble(hook: Callable[[], object]) -> str | None:
    try:
        hook()
    except BaseException:  # the program's own code; reported, not swallowed
        return traceback.format_exc()
    return None


def catch_up(
    version: int,
    dump: bytes | None,
    deltas: Iterable[bytes],
    dropped: Iterable[int],
) -> str | None:
    """Bring the replica to `version`; return why that is impossible, or None."""
    assert committed.kept is not None
    try:
        if dump is not None:
            contents, living = loads(dump)
            committed.load(contents, version)
            committed.kept.update({one._number: one for one, _ in contents})
            dropped = committed.kept.keys() - set(living)
        for delta in deltas:
            writes = unpack_writes(delta)
            committed.replay(writes)
            if is_pickled(delta):  # else it is about containers that are known
                committed.kept.update({one._number: one for one, _, _ in writes})
    except MemoryError:
        raise  # another worker may have more
    except Exception as error:  # whatever the classes of the program raise
        return f"a worker cannot load shared state ({error!r})"
    committed.forget(list(dropped))
    committed.version = version
    return None


def _answer(payload: bytes, watch: WorkerWatch, base: Base) -> Answer:
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
        run_attempt, call, speculative=True, keep_reads=False, worker=worker
    )
    return watch.run(call, run)
