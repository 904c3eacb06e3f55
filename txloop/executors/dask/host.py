r"""What runs beside a Dask worker: a process that forks, with nothing of Dask in it.

::

    Dask worker --- template ------ program A ------ worker, worker
                  (txloop only)  \- program B ------ worker

The template has txloop imported and nothing else; it forks a process for each program,
which loads that program's image and forks the workers, one for each thread of the Dask
worker. So two programs never meet, all that a program has brought goes with it, and a
worker is the same as on the machine of the program: a process with one thread, which
may die. A Dask worker's own threads could be none of this: there is one store in a
process, modules have one name, and the thread that talks to the scheduler would wait
for the GIL.
"""

from __future__ import annotations

import functools
import os
import pickle
import socket
import subprocess
import sys
import traceback

from txloop.executors.codec.contexts import Base
from txloop.executors.codec.frames import frame, receive_frame
from txloop.executors.dask.loading import load_image
from txloop.executors.debugging import set_title
from txloop.executors.processes.feed import catch_up
from txloop.executors.processes.spawner import Spawner
from txloop.executors.processes.spawner_process import spawn_workers
from txloop.executors.processes.worker import run_worker
from txloop.stm.store import committed
from txloop.stm.threads import NO_THREAD

__all__ = ["Host", "Template", "living", "without_txloop"]

_NUMBER_BITS = 40  # as a worker's: what a process numbers itself is apart

_COMMAND = (
    "import sys; from txloop.executors.dask.host import serve; serve(int(sys.argv[1]))"
)


def without_txloop() -> dict[str, str]:
    """Return the environment without what tells txloop how to run."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("TXLOOP_") and name != "PYPYSTM"
    }
    # What this process can import, that one can.
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


class Template(Spawner):
    """The Dask worker's end of the template; owned by the thread of its loop."""

    def __init__(self) -> None:
        """Start the process, without waiting for it.

        Raises:
            OSError: if that is impossible just now.
        """
        self.control, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with theirs:
            number = theirs.fileno()
            self.process = subprocess.Popen(
                [sys.executable, "-c", _COMMAND, str(number)],
                pass_fds=[number],
                env=without_txloop(),
                stdin=subprocess.DEVNULL,
            )
        self.pid = self.process.pid
        self.control.setblocking(False)


def living(template: Template | None) -> Template:
    """Return a template that runs: this one, or another in its place.

    Raises:
        OSError: if there can be none just now.
    """
    if template is not None and template.process.poll() is not None:
        template.control.close()
        template = None
    return template or Template()


class Host(Spawner):
    """The Dask worker's end of a program's process, which forks its workers."""

    def __init__(self, template: Template, number: int) -> None:
        """Have the process forked.

        Args:
            template: What forks it.
            number: Tells its replica from all others of the program.

        Raises:
            OSError: if that is impossible just now.
        """
        self.pid = 0  # not our child
        self.stream = template.spawn(number)
        self.control, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with theirs:
            socket.send_fds(self.stream, [b"\0"], [theirs.fileno()])
        self.control.setblocking(False)

    def load(self, image: bytes) -> str:
        """Have it load the program; return why it cannot, or "". In any thread."""
        with self.stream as stream:
            stream.sendall(frame(image))
            answer = receive_frame(stream)
        return "it died of that" if answer is None else pickle.loads(answer)

    def close(self) -> bool:
        """Let it end, with its workers."""
        self.control.close()
        return True


# In the other processes


def serve(descriptor: int) -> None:
    """Be the template, until the Dask worker ends."""
    control = socket.socket(fileno=descriptor)
    spawn_workers(control, _run_program)


def _run_program(connection: socket.socket, number: int) -> None:
    """Load a program and fork its workers, until the Dask worker lets it go."""
    set_title("spawner")
    _, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
    control = socket.socket(fileno=descriptors[0])
    image = receive_frame(connection)
    if image is None:
        return
    trouble = _load(image, number)
    del image
    connection.sendall(frame(pickle.dumps(trouble)))
    connection.close()
    if not trouble:
        spawn_workers(control, functools.partial(run_worker, base=Base()))


def _load(image: bytes, number: int) -> str:
    committed.become_replica(number << _NUMBER_BITS)
    committed.owner = None  # installed modules make containers when they are imported
    try:
        dump, version = load_image(image)
    except Exception:  # whatever the classes of the program raise
        return traceback.format_exc()
    committed.owner = NO_THREAD
    return catch_up(version, dump, [], []) or ""
