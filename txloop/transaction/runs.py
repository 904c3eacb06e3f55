"""One run: hands pieces to a dispatcher until none is left, or one raises.

::

    added --> group --> away: in chunks, while there is room ----+--> commit
                 |                                               |
                 +----> here: what is short, and alone here: ----+
                        what changes plain objects, when nothing is under way

What may not leave this thread (rule 9) runs when no chunk is under way: then no copy
of a plain object is in use anywhere, so a change to one is seen by all that run later.
"""

from __future__ import annotations

import functools
import logging
from collections import deque
from typing import TYPE_CHECKING

from txloop import stmlog
from txloop.engine.dispatcher import Dispatcher
from txloop.errors import TransactionError
from txloop.executors.protocol import executor_named
from txloop.loop.patches import patch
from txloop.stm.log_capture import handle
from txloop.stm.types import Call
from txloop.transaction.groups import Group, key_of
from txloop.transaction.pieces import Hindrance, Piece, Report, run_pieces
from txloop.transaction.reactor import Reactor

if TYPE_CHECKING:
    from collections.abc import Hashable

    from txloop.loop.options import Options

__all__ = ["Run"]

SHORT_SECONDS = 3e-5
"""What takes less is not worth its pickling, however many travel together."""

START_SECONDS = 0.05
"""Less known work than that in all is not worth forking workers for."""

_MOST_HERE = 16  # pieces that run here before what has arrived is looked at

_MOST_SORTED = 256  # pieces, too, so that workers need not wait for all of them

_log = logging.getLogger("txloop")

_seconds: dict[Hashable, float] = {}  # by function, as measured in earlier runs


class Run:
    """Runs all pieces of a queue; owned by the thread that calls `run`.

    Attributes:
        executed: How many have taken effect.
    """

    def __init__(
        self,
        options: Options,
        workers: int,
        added: deque[Piece],
        told: set[str],
    ) -> None:
        """Prepare a run.

        Args:
            options: Which executor, and whether there is a log.
            workers: How many pieces run at once; one is the calling thread itself.
            added: The pieces, which may become more while it runs.
            told: Functions of which the reason why they stay here was logged.
        """
        self.executed = 0
        self._workers = workers
        name = "serial" if workers == 1 else options.executor
        executor = executor_named(name, workers)
        self._reactor = Reactor()
        self._dispatcher = Dispatcher(executor, self._reactor)
        stmlog.connect(self._dispatcher, options.log, options.log_bytes)
        self._added = added
        self._told = told
        self._groups: dict[Hashable, Group] = {}
        self._active: deque[Group] = deque()  # those with waiting pieces, in turn
        self._here: deque[tuple[Group, Piece]] = deque()  # that must not run elsewhere
        self._error: BaseException | None = None

    def run(self) -> None:
        """Run everything.

        Raises:
            BaseException: what a piece has raised, as soon as it did; its writes stay,
                and no other piece runs after it.
            TransactionError: if all that is left waits for what no other will do.
        """
        patch(logging.Logger, "handle", handle)
        try:
            while self._error is None and self._has_work():
                self._sort_in()
                self._hand_out()
                if self._error is None:
                    self._check_progress()
                    self._reactor.turn(wait=not self._can_go_on())
        finally:
            self._close()
        if self._error is not None:
            raise self._error

    def _close(self) -> None:
        self._dispatcher.close()
        self._reactor.close()
        for key, group in self._groups.items():
            if group.seconds is not None:
                _seconds[key] = group.seconds

    def _has_work(self) -> bool:
        dispatcher = self._dispatcher
        return bool(self._added or self._here or self._active or dispatcher.pending)

    def _can_go_on(self) -> bool:
        """Tell whether there is something to do, whatever happens elsewhere."""
        return bool(self._added or (self._here and not self._dispatcher.busy))

    def _check_progress(self) -> None:
        idle = not (self._added or self._reactor.has_ready)
        if idle and self._dispatcher.stuck:
            raise TransactionError(
                f"{self._dispatcher.pending} transactions wait (in retry, or for a "
                "queue or channel), and nothing is left that could wake them"
            )

    # What was added

    def _sort_in(self) -> None:
        for _ in range(min(len(self._added), _MOST_SORTED)):
            piece = self._added.popleft()
            group = self._group_of(piece)
            if group.away.on_loop_because is not None:
                self._here.append((group, piece))
                continue
            if not group:
                self._active.append(group)
            group.waiting.append(piece)

    def _group_of(self, piece: Piece) -> Group:
        if self._workers == 1:
            return self._only_group(piece)
        key = key_of(piece)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group(piece, _seconds.get(key))
            group.away.on_loop_because = group.hindrance(piece)
            self._tell(group)
        return group

    def _only_group(self, piece: Piece) -> Group:
        """Return the group of all, where no other worker can share the work."""
        if None not in self._groups:
            group = self._groups[None] = Group(piece, None)
            group.away.on_loop_because = "there is one worker"
        return self._groups[None]

    def _tell(self, group: Group) -> None:
        reason = group.away.on_loop_because
        if isinstance(reason, Hindrance) and group.label not in self._told:
            self._told.add(group.label)
            _log.warning("%s runs on the calling thread: %s", group.label, reason)

    # What runs next

    def _hand_out(self) -> None:
        if self._here:
            if not self._dispatcher.busy:
                for _ in range(min(len(self._here), _MOST_HERE)):
                    self._run_here(*self._here.popleft())
            return
        here = 0
        while self._active and self._dispatcher.busy < 2 * self._workers + here:
            group = self._active.popleft()
            if group.away.on_loop_because is not None:  # found out on the way
                pieces = (*group.singles, *group.waiting)
                self._here.extend((group, piece) for piece in pieces)
                group.singles.clear()
                group.waiting.clear()
                continue
            if not self._stays(group):
                self._send(group)
            elif here < _MOST_HERE:
                here += 1
                self._run_here(group, (group.singles or group.waiting).popleft())
            else:
                self._active.append(group)
                return
            if group:
                self._active.append(group)

    def _stays(self, group: Group) -> bool:
        """Tell whether a piece that may run anywhere had better run here."""
        seconds = group.seconds
        if seconds is not None and seconds < SHORT_SECONDS:
            return True
        if self._dispatcher.started:
            return False
        return self._known_seconds(group) < START_SECONDS

    def _known_seconds(self, first: Group) -> float:
        """Return how long all that waits will take; long, if that is not known."""
        total = 0.0
        for group in (first, *self._active):
            if group.seconds is None:
                # One piece alone cannot be shared, however long it is.
                only = not (self._active or self._added) and len(group) == 1
                total += 0.0 if only else START_SECONDS
            else:
                total += group.seconds * max(len(group), 1)
        return total

    def _run_here(self, group: Group, piece: Piece) -> None:
        call = Call(
            piece.function,
            piece.args,
            piece.kwargs,
            group.label,
            commits_on=(BaseException,),
        )
        self._dispatcher.submit(call, group.here, self._ended_here)

    def _send(self, group: Group) -> None:
        pieces = group.take(self._workers)
        call = Call(
            run_pieces,
            (pieces, group.watched),
            label=group.label,
            commits_on=(BaseException,),
            timeout_seconds=group.timeout_seconds,
            watched=not group.trusted,
        )
        done = functools.partial(self._ended_away, group, pieces)
        self._dispatcher.submit(call, group.away, done)

    # What has ended

    def _ended_here(self, _: object, error: BaseException | None) -> None:
        if self._error is None:
            self.executed += 1
            if error is not None:
                self._fail(error)

    def _ended_away(
        self,
        group: Group,
        pieces: tuple[Piece, ...],
        report: object,
        error: BaseException | None,
    ) -> None:
        if self._error is not None:
            return  # the run has failed before this chunk could commit
        if error is not None:
            self.executed += 1
            self._fail(error)
            return
        assert isinstance(report, Report)
        self._tell(group)
        idle = not group
        group.ended(pieces, report)
        if not report.stopped:
            self.executed += report.executed
        elif idle:
            self._active.append(group)

    def _fail(self, error: BaseException) -> None:
        self._error = error
        self._dispatcher.close()
