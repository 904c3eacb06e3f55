"""While the owner's loop sleeps, fronts commit by themselves: the owner's side.

The right to commit is lent to them with the lock. What they have done by it is taken in
every now and then, still asleep, so that little is left to do when the loop wakes up.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from txloop.executors.codec.plain_cells import unpack_commits, unpack_conflict
from txloop.executors.fronts.board import ABORTED
from txloop.executors.fronts.nap import Nap, is_alone
from txloop.stm.callables import weakly
from txloop.stm.store import committed

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.executors.fronts.board import Board
    from txloop.executors.fronts.commit_lock import CommitLock
    from txloop.executors.fronts.page import Page
    from txloop.executors.fronts.reception import Callbacks
    from txloop.executors.processes.replication import DeltaLog

__all__ = ["Lending"]

_OFFERS = 10
"""After so many sleeps of the loop in which no front has committed, none may."""

_MANY = 32  # cells in one commit, which all have to repeat

_FOLLOW_SECONDS, _CALM_SECONDS = 0.002, 0.5
"""How often to take in what fronts commit: while they do, and if they might."""


class Lending:
    """When fronts may commit, and what becomes of that; used by the loop thread only.

    Attributes:
        log: Told of what they have committed, for workers; None before it is there.
    """

    def __init__(
        self,
        page: Page,
        board: Board,
        lock: CommitLock,
        callbacks: Callbacks,
        is_certain: Callable[[], bool | None],
        may_sleep: Callable[[], bool | None],
        positions: Callable[[], list[int] | None],
        on_stuck: Callable[[], object],
        on_back: Callable[[], object],
    ) -> None:
        """Lend nothing yet; see `begin`.

        Args:
            page: What is shared with fronts.
            board: Where they put what they commit.
            lock: The lock, which this process holds.
            callbacks: Called for what they have committed and aborted.
            is_certain: Tells whether plain objects are as fronts know them.
            may_sleep: Tells whether the engine has nothing under way that the commits
                of others would concern.
            positions: Tells where on the board those are that read it.
            on_stuck: Called if the lock does not come back.
            on_back: Called when there is something new, and the loop runs again.
        """
        self.log: DeltaLog | None = None
        self._page, self._board, self._lock = page, board, lock
        self._callbacks = callbacks
        self._is_certain, self._may_sleep = is_certain, may_sleep
        self._find, self._on_stuck, self._on_back = positions, on_stuck, on_back
        self._nap: Nap | None = None
        self._pause = _CALM_SECONDS
        self._place = self._lent_at = 0  # on the board: up to where it is known here
        self._offers = 0  # how often the right is lent, as things are

    def begin(self, loop: object) -> None:
        """Lend it whenever a loop sleeps, from now on."""
        calls = weakly(self._lend), weakly(self._follow), weakly(self._resume)
        self._nap = Nap.of(loop, *calls)

    def end(self) -> None:
        """Lend it no more."""
        if self._nap is not None:
            self._nap.end()

    def note_wanted(self) -> None:
        """Take note of a commit that a front could have made by itself, maybe."""
        self._offers = _OFFERS

    def _lend(self) -> float:
        """Let fronts commit by themselves, if they would, while the loop sleeps.

        Returns:
            After how many seconds to follow what they do; 0 if they may not.
        """
        board, log = self._board, self.log
        if (
            not self._offers
            or log is None
            or not board.version == committed.version == self._page.version
            or len(committed.followers) != 2  # the desk and the log
            or log not in committed.followers
            or not self._may_sleep()
            or not is_alone()
            or not self._positions()
        ):
            return 0.0
        # Code that was not noticed may have changed them; none does while it sleeps.
        if not self._is_certain():
            return 0.0
        log.mark()
        board.open(self._positions)
        self._place = self._lent_at = board.end
        self._lock.give()
        return self._pause

    def _follow(self) -> float:
        """Take in what fronts have committed so far, while they go on.

        Returns:
            After how many seconds to do so again; 0 if they have no room, or have to be
            told of something.
        """
        place = self._place
        self._repeat()
        if not self._board.open(self._positions):
            return 0.0
        calm = self._place == place
        self._pause = min(2 * self._pause, _CALM_SECONDS) if calm else _FOLLOW_SECONDS
        return self._pause

    def _positions(self) -> list[int]:
        return self._find() or []

    def _resume(self) -> None:
        """Take in the rest of what fronts have committed, and go on by itself."""
        self._repeat()  # most of it while they go on
        self._lock.take_back(self._on_stuck)
        self._repeat()
        if self._place == self._lent_at:
            self._offers -= 1
            return
        self._offers, self._pause = _OFFERS, _FOLLOW_SECONDS
        self._page.version = self._board.version = committed.version
        self._on_back()

    def _repeat(self) -> None:
        """Repeat what fronts have committed by themselves so far."""
        assert self.log is not None
        end = self._board.end
        made = self._board.read_made(self._place, end)
        self._place = end
        counts: Counter[int] = Counter()
        costly: Counter[int] = Counter()
        started = time.perf_counter()
        for version, packed, kind in made:
            if version == ABORTED:
                self._callbacks.on_aborted(kind, *unpack_conflict(packed))
                continue
            (writes,) = unpack_commits(packed)
            committed.replay(writes)
            assert committed.version == version
            costly[kind] += self.log.repeat(packed, writes) or len(writes) > _MANY
            counts[kind] += 1
        seconds = (time.perf_counter() - started) / max(len(made), 1)
        for kind, count in counts.items():
            self._callbacks.on_committed(kind, count, costly[kind], seconds)
