"""The spawner: a child that does nothing but fork workers, so that forking stays safe.

It is forked from the loop's process once, has one thread and runs no loop, so a worker
can be replaced at any time, whatever the program has started since. Memory is shared
copy-on-write; ``gc.freeze`` keeps the collector from touching, and so copying, it.

The spawner ends when its control socket closes, and takes its workers along: nothing
outlives the loop's process, even if that was killed.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING

from txloop.executors.processes.spawner_process import (
    Report,
    RunWorker,
    flush_output,
    run_child,
    spawn_workers,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["RunWorker", "Spawner", "hang_up", "threads_besides"]

_MESSAGE_BYTES = 64


class Spawner:
    """The loop's end of the spawner; owned by the loop thread.

    Attributes:
        pid: The spawner's process number.
        control: Readable when there are reports, and at its end.
    """

    def __init__(self, run_worker: RunWorker) -> None:
        """Fork the spawner, which will call `run_worker` in each new worker.

        Raises:
            OSError: if that is impossible just now.
        """
        # Messages stay apart in a socket of this type.
        self.control, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
        self._maker = os.getpid()
        try:
            flush_output()  # or parent and child would both write what is buffered
            self.pid = _fork()
            if self.pid == 0:
                run_child(spawn_workers, theirs, run_worker)
        except OSError:
            self.control.close()
            raise
        finally:
            theirs.close()
        self.control.setblocking(False)

    def spawn(self, number: int) -> socket.socket:
        """Ask for a worker and return the loop's end of its connection.

        Raises:
            ConnectionError: if the spawner is dead.
            OSError: if there can be no worker just now.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self.give(number, theirs)
            except OSError:
                ours.close()
                raise
        return ours

    def give(self, number: int, end: socket.socket) -> None:
        """Ask for a worker that has this end of a connection, which stays open here.

        Raises:
            ConnectionError: if the spawner is dead.
            OSError: if there can be no worker just now.
        """
        socket.send_fds(self.control, [number.to_bytes(8, "big")], [end.fileno()])

    def reports(
        self, on_end: Callable[[int, socket.socket], object] | None = None
    ) -> list[Report]:
        """Return what has become of workers since the last time.

        Args:
            on_end: Given the number of one that has ended, and its end of the
                connection, with all that it has not read; that is closed afterwards.

        Raises:
            EOFError: if the spawner is dead.
        """
        reports: list[Report] = []
        while True:
            try:
                message, ends, _, _ = socket.recv_fds(self.control, _MESSAGE_BYTES, 1)
            except BlockingIOError:
                return reports
            except OSError:
                message, ends = b"", []
            if message:
                report = Report.unpacked(message)
                reports.append(report)
                for descriptor in ends:
                    with socket.socket(fileno=descriptor) as end:
                        if on_end is not None:
                            on_end(report.number, end)
            elif reports:
                return reports  # the next call says that it is dead
            else:
                raise EOFError

    def close(self) -> bool:
        """End the spawner, which takes its workers along, and wait until it is gone.

        Returns:
            Whether it has ended by itself, so that no worker is left.
        """
        hang_up(self.control, self._maker)
        with suppress(ChildProcessError, ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)  # or it would not see that
            # Where the program reaps all its children itself, there may be none.
            _, status = os.waitpid(self.pid, 0)
            return status == 0
        return True

    def kill(self) -> None:
        """End the spawner alone, at once."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def hang_up(end: socket.socket, maker: int) -> None:
    """Close an end of a connection so that the other end knows.

    The program may have forked processes of its own since (a process pool): they have
    inherited this end, so to close it here says nothing. And where they close what they
    have inherited, they must not end what belongs to the process `maker`.
    """
    if os.getpid() == maker:
        with suppress(OSError):  # the other end has gone
            end.shutdown(socket.SHUT_RDWR)
    end.close()


def _fork() -> int:
    """Fork; without Python's warning where Python's other threads are idle resolvers.

    Python 3.12 and later warn of any thread. Those in which asyncio's loop looks up
    addresses, as for Tornado's client in a test, hold nothing that a child needs; those
    of numpy's library end before a fork.
    """
    here = threading.current_thread()
    names = [one.name for one in threading.enumerate() if one is not here]
    with warnings.catch_warnings():
        if names and all(name.startswith("asyncio_") for name in names):
            warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def threads_besides() -> list[str] | None:
    """Return the names of the threads besides this one; None if they are unknown.

    What they hold when this process is forked (locks of libraries, of the allocator)
    stays held in the child for ever.
    """
    try:
        count = len(os.listdir("/proc/self/task")) - 1
    except OSError:
        return None
    here = threading.current_thread()
    names = [one.name for one in threading.enumerate() if one is not here]
    names += [f"{count - len(names)} of a library"] * (count > len(names))
    return names if count else []
