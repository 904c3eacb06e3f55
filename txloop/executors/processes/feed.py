"""What a worker is sent: commits, which its replica repeats, and calls.

They come together, as a call may read what was there when it was sent. So while a call
runs, its replica grows old. Before a late attempt reads anything it asks for what has
been committed since::

    worker    {RENEW} -->                --> answers
    owner                --> {commits, no calls}        in an iteration of its own
"""

from __future__ import annotations

import os
import select
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Never, TypeAlias

from txloop.executors.codec.frames import (
    dumps,
    frame,
    loads,
    numbered,
    receive_frame,
)
from txloop.executors.codec.packing import unpack_plain
from txloop.executors.codec.plain_cells import unpack_commits
from txloop.executors.processes.spawner_process import flush_output
from txloop.stm.attempt import current, make_current
from txloop.stm.store import committed

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterable

__all__ = ["GREETING", "RENEW", "Calls", "Feed", "catch_up"]

GREETING = -1
"""The number of a worker's first message."""

RENEW = -2
"""That of a message by which it asks for what has been committed."""

WORTH_SECONDS = 0.004
"""What ran for less before it reads is cheaper to run again, now and then."""

PATIENCE_SECONDS = 0.005
"""How long to wait for the owner; what it has at hand, it sends in less."""

_QUESTION = frame(numbered(RENEW, dumps(None)))

Calls: TypeAlias = list[tuple[int, bytes, bool, bool]]
"""Of each its number, the call, packed, and as in `Work`: `late` and `reading`."""


class Feed:
    """The worker's end of its connection, for what comes in; used by its only thread.

    Attributes:
        broken: Why the replica could not follow, so that nothing can run here; or None.
    """

    def __init__(self, connection: socket.socket, hurries: bool = False) -> None:
        """Read from a connection.

        Args:
            connection: To the owner.
            hurries: Whether to ask for commits however short the time was.
        """
        self.broken: str | None = None
        self._connection = connection
        self._worth_seconds = 0.0 if hurries else WORTH_SECONDS
        self._early: deque[tuple[float, Calls]] = deque()  # came while another ran

    def next(self) -> tuple[float, Calls] | None:
        """Wait for what comes next: when it was sent, and the calls; None at the end.

        Raises:
            GarbledError: if something else arrives.
        """
        if self._early:
            return self._early.popleft()
        body = receive_frame(self._connection)
        return None if body is None else self._take(body)

    def _take(self, body: bytes) -> tuple[float, Calls]:
        sent_at, version, dump, deltas, dropped, calls = unpack_plain(body)
        if self.broken is None:
            self.broken = catch_up(version, dump, deltas, dropped)
        return sent_at, calls

    def renew(self, since: float) -> int:
        """Bring the replica up to date in the middle of an attempt: nothing was read.

        Args:
            since: When the attempt began, by `time.monotonic`.

        Returns:
            The version that it is at.
        """
        if time.monotonic() - since >= self._worth_seconds and self.broken is None:
            # What unpickles is not read by the attempt.
            attempt = current()
            make_current(None)
            try:
                self._ask()
            except (OSError, EOFError):  # the owner has gone, and wants no answer
                _leave(0)
            except BaseException:  # no code of the program may catch it, and go on
                sys.excepthook(*sys.exc_info())
                _leave(1)
            make_current(attempt)
        return committed.version

    def _ask(self) -> None:
        self._connection.sendall(_QUESTION)
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        while poll.poll(PATIENCE_SECONDS * 1000):
            body = receive_frame(self._connection)
            if body is None:
                raise EOFError
            sent_at, calls = self._take(body)
            if not calls:
                return
            self._early.append((sent_at, calls))


def _leave(status: int) -> Never:
    flush_output()
    os._exit(status)


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
            committed.kept.update({one._tx_number: one for one, _ in contents})
            dropped = committed.kept.keys() - set(living)
        for delta in deltas:
            for writes in unpack_commits(delta):
                committed.replay(writes)
                committed.keep(writes)
    except MemoryError:
        raise  # another worker may have more
    except Exception as error:  # whatever the classes of the program raise
        return f"a worker cannot load shared state ({error!r})"
    committed.forget(list(dropped))
    committed.version = version
    return None
