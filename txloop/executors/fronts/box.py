"""What the thread of a front and the owner's leave for each other.

Each has its list here, and is woken once until it has taken all that is there.

The box also keeps what the front reads from being thrown away. The owner holds a
snapshot open that is not newer than anything a front may still use. It moves that on
after each iteration that has committed, and asks every box first. Under the lock of the
box the front takes over the version that is settled then, so either the owner finds
that it reads one, or the front finds what the owner has settled since.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from txloop.executors.fronts.page import Page

__all__ = ["Box", "Given", "Posted"]

Posted: TypeAlias = tuple[Any, ...]
"""``("answer", number, kind, answer)``, ``("record", record)``, ``("note", note,
descriptor)``."""

Given: TypeAlias = tuple[tuple[Any, ...], int | None]
"""A note to the front, and a descriptor that goes with it."""


class Box:
    """One for each front; used by two threads.

    The lock guards all fields. It is held for moments only, and nothing of the program
    runs under it.
    """

    def __init__(self, page: Page, ring_owner: Callable[[], object]) -> None:
        """Begin with nothing in it.

        Args:
            page: Has what is settled, and what may be known outside.
            ring_owner: Wakes the owner; called on the front's thread.
        """
        self._lock = threading.Lock()
        self._page = page
        self._ring_owner = ring_owner
        self._ring_front: Callable[[], object] | None = None
        self._reading: int | None = None  # the version of the attempt that runs
        self._first: int | None = None  # the oldest one in `_posted`
        self._posted: list[Posted] = []
        self._verdicts: list[tuple[int, int]] = []
        self._given: list[Given] = []
        self._rung = False  # the front has been woken
        self._waits = False  # it wants to be when all that is known is settled
        self._ended = False

    # On the front's thread

    def open(self, ring: Callable[[], object]) -> None:
        """Have the owner's thread call `ring` when there is something to take."""
        with self._lock:
            self._ring_front = ring
            rings = self._rung
        if rings:
            ring()

    def begin(self) -> int:
        """Return the version that an attempt reads which begins now."""
        with self._lock:
            version = self._reading = self._page.settled
        return version

    def read(self) -> None:
        """Let go of the version of an attempt that has ended."""
        self._reading = None  # one store; if the owner sees it late, no harm is done

    def post(self, posted: Posted, snapshot: int | None = None) -> None:
        """Leave something for the owner, which is not woken yet.

        Args:
            posted: What.
            snapshot: The version that has to be readable still when it is taken: that
                of the last `begin`.
        """
        with self._lock:
            if self._first is None:
                self._first = snapshot
            self._posted.append(posted)

    def ring(self) -> None:
        """Wake the owner."""
        self._ring_owner()

    def waits(self) -> bool:
        """Have this front woken as soon as all that is known outside is settled.

        Returns:
            Whether that is not so already.
        """
        with self._lock:
            self._waits = self._page.version > self._page.settled
            return self._waits

    def take(self) -> tuple[list[tuple[int, int]], list[Given]]:
        """Return the verdicts and notes that were given.

        Raises:
            EOFError: if the front has to end.
        """
        with self._lock:
            self._rung = False
            if self._ended:
                raise EOFError
            verdicts, self._verdicts = self._verdicts, []
            given, self._given = self._given, []
        return verdicts, given

    # On the owner's thread

    def give(
        self, verdicts: Sequence[tuple[int, int]], given: Sequence[Given] = ()
    ) -> int | None:
        """Leave something for the front, and wake it.

        It is also woken if it waits for what has been settled just now.

        Returns:
            The oldest version that it still needs, or None.
        """
        with self._lock:
            self._verdicts += verdicts
            self._given += given
            rings = bool(verdicts or given or self._waits) and not self._rung
            self._rung = self._rung or rings
            self._waits = False
            ring, needed = self._ring_front, self._reading
            if self._first is not None:
                needed = self._first
        if rings and ring is not None:
            ring()
        return needed

    def end(self) -> None:
        """Have the front end."""
        with self._lock:
            self._ended = self._rung = True
            ring = self._ring_front
        if ring is not None:
            ring()

    def collect(self) -> list[Posted]:
        """Return what was posted, in that order.

        What it reads must not be thrown away before its snapshot was opened.
        """
        with self._lock:
            posted, self._posted = self._posted, []
            self._first = None
        return posted

    def left(self) -> list[int]:
        """Return the descriptors that were not taken; when the thread has ended."""
        found = [descriptor for _, descriptor in self._given]
        found += [posted[2] for posted in self._posted if posted[0] == "note"]
        self._given, self._posted = [], []
        return [one for one in found if one is not None]
