"""The spawner's own process: it forks workers, reaps them, and tells how they ended.

It keeps each worker's end of the connection open until that worker is reaped, and sends
it along with the report of that: what the worker has not read is in it still. When the
loop sees the connection close, it has had the report.
"""

from __future__ import annotations

import errno
import gc
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Never

from txloop.executors.debugging import set_title

__all__ = ["Report", "RunWorker", "flush_output", "run_child", "spawn_workers"]

_GRACE_SECONDS = 0.5  # for workers to leave by themselves when their sockets close

_REPORT = struct.Struct(">QIi")
_NEWBORN = -1  # in the place of a status

_O_PATH = getattr(os, "O_PATH", 0o10000000)  # PyPy does not name it

RunWorker = Callable[[socket.socket, int], None]


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a worker.

    Attributes:
        number: The one that was asked for.
        pid: Its process number; 0 if it could not be forked.
        status: How it ended, as `os.wait` says it, or why it could not be forked, as
            an ``errno``; None for one that was born.
    """

    number: int
    pid: int
    status: int | None

    def packed(self) -> bytes:
        """Return it as one message."""
        status = _NEWBORN if self.status is None else self.status
        return _REPORT.pack(self.number, self.pid, status)

    @classmethod
    def unpacked(cls, message: bytes) -> Report:
        """Undo `packed`."""
        number, pid, status = _REPORT.unpack(message)
        return cls(number, pid, None if status == _NEWBORN else status)


def run_child(body: Callable[..., None], *args: object) -> Never:
    """Run `body` in a forked child and end it.

    It never returns into the parent's frames, and never runs its exit handlers.
    """
    status = 1
    try:
        body(*args)
        status = 0
    except BaseException:
        with suppress(Exception):  # stderr may be closed
            sys.excepthook(*sys.exc_info())
    finally:
        flush_output()
        os._exit(status)


def spawn_workers(control: socket.socket, run_worker: RunWorker) -> None:
    """Fork a worker for each message on `control`, until that closes."""
    _leave_parent(control.fileno())
    set_title("spawner")
    gc.freeze() if hasattr(gc, "freeze") else None
    brood = _Brood(control, run_worker)
    control.setblocking(False)  # `recv_fds` takes flags, and forgets them
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(brood.wakeups, select.POLLIN)
    while True:
        poll.poll()
        brood.reap()
        try:
            message, fds, _, _ = socket.recv_fds(control, 8, 1)
        except BlockingIOError:
            continue
        except ConnectionResetError:
            break
        if not message:
            break
        brood.fork(int.from_bytes(message, "big"), fds)
    brood.end()


class _Brood:
    """The living workers; owned by the spawner's only thread."""

    def __init__(self, control: socket.socket, run_worker: RunWorker) -> None:
        self._control = control
        self._run_worker = run_worker
        self._living: dict[int, tuple[int, socket.socket]] = {}  # by process number
        self.wakeups, self._waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # it only has to wake us

    def fork(self, number: int, fds: list[int]) -> None:
        """Fork a worker that has the descriptor in `fds`."""
        if not fds:  # there was no room for it among ours
            self._tell(Report(number, 0, errno.EMFILE))
            return
        connection = socket.socket(fileno=fds[0])
        # A worker waits for calls as long as need be, and for room to answer, whatever
        # the program has made the default timeout of sockets, here or at the other end.
        connection.settimeout(None)
        try:
            pid = os.fork()
        except OSError as error:
            self._tell(Report(number, 0, error.errno or 0))
            connection.close()
            return
        if pid == 0:
            self._leave_to_child()
            run_child(self._run_worker, connection, number)
        self._living[pid] = number, connection
        self._tell(Report(number, pid, None))

    def _leave_to_child(self) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for descriptor in (self.wakeups, self._waker):
            os.close(descriptor)
        self._control.close()
        for _, connection in self._living.values():
            connection.close()

    def reap(self) -> None:
        """Report the workers that have ended."""
        with suppress(BlockingIOError):
            os.read(self.wakeups, 4096)
        for pid, (number, connection) in list(self._living.items()):
            try:
                ended, status = os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                ended, status = pid, 0
            if ended:
                del self._living[pid]
                self._tell(Report(number, pid, status), connection.fileno())
                connection.close()

    def _tell(self, report: Report, *ends: int) -> None:
        message = report.packed()
        with suppress(OSError):  # it is closed, or the loop reads nothing any more
            try:
                socket.send_fds(self._control, [message], ends)
            except OSError:  # or too many descriptors are on their way
                self._control.send(message)

    def end(self) -> None:
        """Wait for the workers to leave, and kill those that do not."""
        deadline = time.monotonic() + _GRACE_SECONDS
        while self._living and time.monotonic() < deadline:
            time.sleep(0.005)
            self.reap()
        for pid in self._living:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


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
    dead = os.open("/", _O_PATH)
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


def flush_output() -> None:
    """Write out what is buffered for stdout and stderr, if these are open."""
    for stream in (sys.stdout, sys.stderr):
        # A program may have put what only has a `write` there.
        if not getattr(stream, "closed", False) and hasattr(stream, "flush"):
            with suppress(OSError):
                stream.flush()
