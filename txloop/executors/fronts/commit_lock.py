"""Who may commit just now: the owner while its loop runs, any front while that sleeps.

Most of the time the owner of a program whose requests run in fronts waits for events.
Then nothing of it changes, all that is committed stands on the board, and whoever holds
this lock may put the next commit there without waking it up::

    owner    runs ......  sleeps ....................................  runs ......
    lock     the owner's  | a front's |    | another's |    | ... |    the owner's
                                                                   reads the board

It is a record lock of the system's (`fcntl`), since the system gives that back when its
holder is killed. Both the lock and what it guards are right without the word in the
page: that keeps fronts from trying in vain.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from txloop.executors.fronts.page import Page

__all__ = ["CommitLock"]

_TRIES_SECONDS = 0.002  # of a front, while others commit
_PATIENCE_SECONDS = 0.05  # after which a holder may be stopped: nobody needs so long
_PAUSE_SECONDS = 0.0001


class CommitLock:
    """The lock; made by the owner, which holds it, before fronts are forked."""

    def __init__(self, page: Page) -> None:
        """Make one that this process holds.

        Args:
            page: What is shared with fronts; says whether they may try.
        """
        self._page = page
        descriptor, name = tempfile.mkstemp()
        os.unlink(name)
        self._close = weakref.finalize(self, os.close, descriptor)
        self._descriptor: int | None = descriptor
        # What a front has inherited is closed there; each opens the file by itself.
        self._path = f"/proc/{os.getpid()}/fd/{descriptor}"
        fcntl.lockf(descriptor, fcntl.LOCK_EX)

    # The owner's

    def give(self) -> None:
        """Let fronts commit: this process does not change anything any more."""
        assert self._descriptor is not None
        self._page.open = 1
        fcntl.lockf(self._descriptor, fcntl.LOCK_UN)

    def take_back(self, on_stuck: Callable[[], object]) -> None:
        """Take the lock again, as soon as the front that commits has done so.

        Args:
            on_stuck: Called, again and again, if that takes too long.
        """
        self._page.open = 0
        patience = 0.0
        while not self._try():
            if not patience:
                patience = time.monotonic() + _PATIENCE_SECONDS
            elif time.monotonic() > patience:
                on_stuck()
            time.sleep(_PAUSE_SECONDS)

    def close(self) -> None:
        """Let go of it, when there are no fronts any more."""
        self._close()

    # A front's

    def join(self) -> None:
        """Make ready to use it in this process, which was just forked."""
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        except OSError:  # it is not to be had here: then the owner commits all
            self._descriptor = None

    def take(self) -> bool:
        """Take the lock if the owner sleeps; return whether this process has it."""
        end = 0.0
        while self._descriptor is not None and self._page.open:
            if self._try():
                return True
            now = time.monotonic()
            end = end or now + _TRIES_SECONDS
            if now > end:
                break
            os.sched_yield()
        return False

    def release(self) -> None:
        """Give it back."""
        assert self._descriptor is not None
        fcntl.lockf(self._descriptor, fcntl.LOCK_UN)

    def _try(self) -> bool:
        assert self._descriptor is not None
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):  # which one, POSIX leaves open
            return False
        return True
