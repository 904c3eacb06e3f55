"""The spawner: a child that does nothing but fork workers, so that forking stays safe.

It is forked from the loop's process once, has one thread and runs no loop, so a worker
can be replaced at any time, whatever the program has started since. Memory is shared
copy-on-write; ``gc.freeze`` keeps the collector from touching, and so copying, it.

The spawner ends when its control socket closes, and takes its workers along: nothing
outlives the loop's process, even if that was killed.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Never

__all__ = ["Spawner", "flush_output"]

_GRACE_SECONDS = 0.5  # for workers to leave by themselves when their sockets close

RunWorker = Callable[[socket.socket, int], None]


class Spawner:
    """The loop's end of the spawner; owned by the loop thread.

    Attributes:
        pid: The spawner's process number.
        control: Readable (at its end) once the spawner has died.
    """

    def __init__(self, run_worker: RunWorker) -> None:
        """Fork the spawner, which will call `run_worker` in each new worker."""
        self.control, theirs = socket.socketpair()
        flush_output()  # or parent and child would both write what is buffered
        self.pid = os.fork()
        if self.pid == 0:
            _run_child(_spawn_workers, theirs, run_worker)
        theirs.close()

    def spawn(self, number: int) -> socket.socket:
        """Ask for a worker and return the loop's end of its connection.

        Raises:
            OSError: if the spawner is dead.
        """
        ours, theirs = socket.socketpair()
        try:
            socket.send_fds(
                self.control, [number.to_bytes(8, "big")], [theirs.fileno()]
            )
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        return ours

    def close(self) -> None:
        """End the spawner and its workers, and wait until they are gone."""
        self.control.close()
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:
            return  # the program reaps all its children itself


def _run_child(body: Callable[..., None], *args: object) -> Never:
    # Never return into the parent's frames, and never run its exit handlers.
    status = 1
    try:
        body(*args)
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        flush_output()
        os._exit(status)


def _spawn_workers(control: socket.socket, run_worker: RunWorker) -> None:
    _leave_parent(control.fileno())
    gc.freeze() if hasattr(gc, "freeze") else None
    workers: set[int] = set()
    signal.signal(signal.SIGCHLD, lambda *_: _reap(workers))
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 8, 1)
        if not message:
            break
        connection = socket.socket(fileno=descriptors[0])
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            _run_child(run_worker, connection, int.from_bytes(message, "big"))
        workers.add(pid)
        connection.close()
        _reap(workers)  # it may have died before it was noted down
    _end(workers)


def _leave_parent(keep: int) -> None:
    """Give up what belongs to the parent alone: signals, sockets and files."""
    signal.set_wakeup_fd(-1)  # or our signals would wake the parent's loop
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_IGN)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the loop's process decides, not a group
    # The numbers stay taken, by a descriptor on which every use fails with EBADF: were
    # they free, the next file opened here could be mistaken for an inherited one.
    dead = os.open("/", os.O_PATH)
    for descriptor in _open_descriptors():
        if descriptor > 2 and descriptor not in (keep, dead):
            os.dup2(dead, descriptor, inheritable=False)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.close(dead)


def _open_descriptors() -> list[int]:
    names = os.listdir("/proc/self/fd")
    descriptors = []
    for name in names:
        try:
            os.fstat(int(name))
        except OSError:
            continue  # the one that listed them
        descriptors.append(int(name))
    return descriptors


def _reap(workers: set[int]) -> None:
    for pid in list(workers):
        try:
            ended, _ = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            ended = pid
        if ended:
            workers.discard(pid)


def _end(workers: set[int]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # from here on only this reaps
    deadline = time.monotonic() + _GRACE_SECONDS
    while workers and time.monotonic() < deadline:
        time.sleep(0.005)
        _reap(workers)
    for pid in workers:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
        os.waitpid(pid, 0)


def flush_output() -> None:
    """Write out what is buffered, as far as there is anybody to write it to."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            with suppress(OSError):
                stream.flush()
