"""Where a call runs: here, or away.

What is short runs here, what is long goes away (see `Profile`). Between them it depends
on how things are. A call of medium length that is alone runs here, where its answer is
there soonest. Of several, the others go away, as many as there are cores for, and the
loop thread helps with those that have to wait. Where other programs, or the clients,
have the cores, so that workers get on slowly, all run here, as in stock Tornado; so
does what writes so much that all would be busy with that. But what threads of this
program wait for goes away: here it would keep the interpreter from those threads.

Sending away costs twice: the loop thread packs, sends, receives and unpacks, and two
cores fetch what one had. Comparing that with the length alone was tried, and made
programs slower wherever the cores were not free.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from txloop.stm.measuring import voluntary_waits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sized
    from contextlib import AbstractContextManager

    from txloop.engine.profile import Profile
    from txloop.executors.protocol import Executor

__all__ = ["Placement"]

_SLOW = 2.5  # times longer than they compute: workers have no core of their own
_PROBE_INTERVAL = 20  # calls of one function that stay, until one goes to see

_NOT_WATCHED = nullcontext()


class Placement:
    """Decides where calls run; used by the loop thread only."""

    def __init__(self, executor: Executor, away: Sized) -> None:
        """Begin without having measured anything.

        Args:
            executor: Where they would run.
            away: The attempts that it has.
        """
        self._executor = executor
        self._away = away
        self._stayed = 0
        self._waits = -1  # of the loop thread, when it last ran one of medium length

    def decide_stay(
        self, profile: Profile, alone: bool, spare_loop: bool = False
    ) -> bool:
        """Decide whether the next call of a function runs here; each decision counts.

        Args:
            profile: What is known of the function.
            alone: Whether it came without others.
            spare_loop: Whether only what is short may run here.
        """
        transport_seconds = self._executor.transport_seconds
        if profile.decide_stay(transport_seconds):
            return True
        if spare_loop or not profile.medium(transport_seconds):
            return False
        if profile.tells_long():
            return True
        if self._executor.stretch > _SLOW:
            self._stayed += 1
            return self._stayed % _PROBE_INTERVAL != 0
        # If the loop has not slept since the last one, this one had to wait for that.
        return alone and not self._away and self._waits != voluntary_waits()

    def watching(self, profile: Profile) -> AbstractContextManager[object]:
        """Watch whether a call that runs here waits for something by itself."""
        medium = profile.has_medium_length(self._executor.transport_seconds)
        return self._watch(profile) if medium else _NOT_WATCHED

    @contextmanager
    def _watch(self, profile: Profile) -> Iterator[None]:
        """Note whether the thread has slept meanwhile."""
        before = voluntary_waits()
        try:
            yield
        finally:
            self._waits = voluntary_waits()
            profile.blocks = self._waits != before
