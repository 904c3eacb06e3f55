"""A plea: an attempt in a thread is about to act outside, and asks to go on in place.

It could be ended there and its call run again on the loop thread, as in a forked
worker. But a thread shares the program's plain objects: what the attempt has changed of
them, unseen by the scan and the watch, would be changed a second time. So it waits, and
asks the loop thread. If nothing that it has read has changed, it goes on where it is,
with the newest version, while the loop thread does nothing but wait for its answer.
Nothing can come between, so it certainly commits: the act happens once, and so does all
that came before it. From then on the function runs on the loop thread.

A plea is refused, and the attempt ended as in a worker, if it would lose to another
commit, or if it is not its turn. The attempt also gives up by itself after a while: it
may hold a lock for which the loop thread waits, or the one attempt that goes on.

What it makes belongs to its thread. So an attempt does not plead for what no other
thread can use, such as a connection of sqlite3: that is made on the loop thread.
"""

from __future__ import annotations

import enum
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING

from txloop.stm.types import Refusal, Retry

if TYPE_CHECKING:
    from txloop.stm.attempt import Attempt
    from txloop.stm.types import Answer

__all__ = ["PATIENCE_SECONDS", "Plea"]

PATIENCE_SECONDS = 2.0
"""How long an attempt waits to be heard."""


class _State(enum.Enum):
    WAITING = enum.auto()
    GRANTED = enum.auto()
    REFUSED = enum.auto()


class Plea:
    """One attempt's; used by the loop thread and by the one that runs the attempt.

    Attributes:
        reason: Why the function runs on the loop thread from now on.
        files: Those that the attempt has read so far.
    """

    def __init__(self, attempt: Attempt, reason: str) -> None:
        """Plead for an attempt, which does nothing until it is heard."""
        self.reason = reason
        self.files = frozenset(attempt.files or ())
        self._attempt = attempt
        self._lock = threading.Lock()  # guards the state
        self._state = _State.WAITING
        self._heard = threading.Event()
        self._answers: SimpleQueue[Answer] = SimpleQueue()

    @property
    def granted(self) -> bool:
        """Whether the attempt has gone on."""
        return self._state is _State.GRANTED

    # On the loop thread

    def reads(self) -> Retry:
        """Return what the attempt has read so far."""
        return self._attempt.given_up(0.0)

    def refusal(self) -> Refusal:
        """Return what keeps the function on the loop thread."""
        return Refusal(self.reason)

    def refuse(self) -> None:
        """Let the attempt end; its call has to start anew."""
        self._decide(_State.REFUSED)

    def grant(self, version: int) -> Answer | None:
        """Let the attempt go on, and wait for its answer.

        Args:
            version: The newest one. What it has read is the same there.

        Returns:
            The answer; None if it has given up before.
        """
        if not self._decide(_State.GRANTED, version):
            return None
        return self._answers.get()

    def _decide(self, state: _State, version: int = 0) -> bool:
        with self._lock:
            if self._state is not _State.WAITING:
                return False
            self._state = state
            if state is _State.GRANTED:
                self._attempt.stay(version)
        self._heard.set()
        return True

    # On the attempt's thread

    def wait(self) -> bool:
        """Wait to be heard; return whether the attempt may go on."""
        self._heard.wait(PATIENCE_SECONDS)
        self._decide(_State.REFUSED)  # too late, if it was not decided
        return self.granted

    def answer(self, answer: Answer) -> None:
        """Give the attempt's answer to the loop thread, which waits for it."""
        self._answers.put(answer)
