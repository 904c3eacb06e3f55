"""What a front commits by itself, while the owner sleeps and has lent it the lock."""

from __future__ import annotations

import time
import traceback
from typing import TYPE_CHECKING, Any

from txloop.executors.codec.plain_cells import pack_conflict
from txloop.executors.fronts.board import ABORTED, Made
from txloop.executors.fronts.carrier import Verdict
from txloop.executors.fronts.posted import PostedOutcomes
from txloop.stm.store import committed
from txloop.stm.validation import decide

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from txloop.executors.fronts.commit_lock import CommitLock
    from txloop.executors.fronts.following import Following
    from txloop.executors.fronts.page import Page
    from txloop.executors.fronts.posted import Posted

__all__ = ["OwnCommits"]

_HOLD_SECONDS = 0.002
"""What the owner could commit waits so long for it to sleep again."""

_OPENS_SECONDS = 0.02
"""... if it slept so long ago."""


class OwnCommits:
    """Commits what may be committed here; used by the front's only thread."""

    def __init__(
        self,
        page: Page,
        lock: CommitLock,
        following: Following,
        is_certain: Callable[[], bool],
        on_verdicts: Callable[[Sequence[tuple[int, int]]], object],
        end: Callable[[], object],
    ) -> None:
        """Begin with nothing to commit.

        Args:
            page: What is shared with the owner.
            lock: Likewise.
            following: Knows what others have committed.
            is_certain: Tells whether plain objects are as the owner knows them.
            on_verdicts: Takes the numbers of transactions with what became of each.
            end: Ends this process: its replica may be of no use any more.
        """
        self._page, self._lock, self._following = page, lock, following
        self._is_certain, self._on_verdicts, self._end = is_certain, on_verdicts, end
        self._posted = PostedOutcomes()  # since the last `settle` or `take`
        self._opened_at = 0.0  # when the owner slept, as far as that was seen

    def may_hold(self) -> bool:
        """Tell whether the owner sleeps, or did a moment ago."""
        if self._page.open:
            return True
        return time.monotonic() - self._opened_at < _OPENS_SECONDS

    def post(self, posted: Posted) -> None:
        """Have an outcome committed with the next `settle`."""
        self._posted.add(posted)

    def take(self) -> list[Posted]:
        """Return what has to be committed by the owner."""
        return self._posted.take(len(self._posted))

    def settle(self) -> bool:
        """Commit what may be committed here and now; see `Carrier.settle`."""
        if not self._posted or not self._following.ready:
            return False
        now = time.monotonic()
        if self._page.open:
            self._opened_at = now
            if self._lock.take():
                self._settle_held()
        # The owner, which cannot do without the lock either, mostly sleeps again soon.
        return bool(self._posted) and (
            now - self._opened_at < _OPENS_SECONDS
            and now - self._posted.since < _HOLD_SECONDS
        )

    # With the lock

    def _settle_held(self) -> None:
        """Commit what is posted, if that may be; give the lock back."""
        try:
            settled = self._commit() if self._may_commit() else []
        except BaseException:  # it may have repeated what no other process will
            traceback.print_exc()
            self._end()
            raise
        finally:
            self._lock.release()
        if settled:
            self._posted.take(len(settled))
            self._on_verdicts(settled)

    def _may_commit(self) -> bool:
        return self._following.follow_to_end() and self._is_certain()

    def _commit(self) -> list[tuple[int, Verdict]]:
        """Put on the board what may commit, and what may not; return the verdicts.

        There are none for the last ones if there was no more room.
        """
        board, slot = self._following.board, self._following.slot
        assert slot is not None
        verdicts: list[tuple[int, Verdict]] = []
        version, end = committed.version, board.end
        for one in self._posted:
            outcome, kind = one.outcome, one.kind.number
            conflict = decide(outcome, committed, False)
            if conflict is None:
                made = Made(version + 1, one.packed, kind)
            else:
                packed = pack_conflict(conflict, outcome.body_seconds)
                made = Made(ABORTED, packed, kind)
            after = board.put_alone(made, end)
            if after is None:
                break
            end = after
            if conflict is not None:
                verdicts.append((one.number, Verdict.CONFLICT))
                continue
            version = made.version
            slot.count(kind, outcome.body_seconds)
            writes: tuple[Any, ...] = outcome.writes
            committed.replay(writes, version)
            committed.keep(writes)
            verdicts.append((one.number, Verdict.COMMITTED))
        if verdicts:
            board.publish(end)
            self._page.version = version
            self._following.skip(end)
        return verdicts
