"""When an answer can have been right: bounds from real time.

What was answered before a request was sent had happened by then; what was sent after
its answer had come had not. The bounds are those that one client's clock allows, and
hold for all that txloop promises: a transaction sees what was answered before it began.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench.astar.record import Answer


class Moments:
    """The first and the last version that each answer can stand for."""

    def __init__(
        self,
        first: int,
        last: int,
        versions: Iterable[tuple[Answer, int]],
        changes: Iterable[tuple[Answer, int]],
    ) -> None:
        """Take what is known.

        Args:
            first: The version before all of the requests.
            last: The newest version of the log.
            versions: Answers that tell of a version, and that version.
            changes: Requests whose event is in the log, and its version.
        """
        known = sorted((answer.received, version) for answer, version in versions)
        self._received = [received for received, _ in known]
        self._newest = [first, *accumulate((seen for _, seen in known), max)]
        self._newest = [max(first, version) for version in self._newest]
        coming = sorted(((one.sent, made) for one, made in changes), reverse=True)
        self._sent = [-sent for sent, _ in coming]
        self._oldest = [last, *accumulate((made - 1 for _, made in coming), min)]

    def first(self, answer: Answer) -> int:
        """Return the newest version that was known when the request was sent."""
        return self._newest[bisect_left(self._received, answer.sent)]

    def last(self, answer: Answer) -> int:
        """Return the version before the first change asked for after the answer."""
        return self._oldest[bisect_left(self._sent, -answer.received)]
