"""Groups: the pieces of one function that wait, and how many travel together.

A chunk should last long beside its transport, and short beside the whole: it grows
while all goes well (as a TCP window does, by doubling), is halved by a conflict, and
is never more than a fair share of what is left.
"""

from __future__ import annotations

import types
from collections import deque
from typing import TYPE_CHECKING

from txloop.engine.marks import UNMARKED, mark_of
from txloop.engine.profile import Profile
from txloop.scan import scan_function
from txloop.stm.callables import name_of
from txloop.stm.measuring import Average
from txloop.transaction.pieces import Hindrance, Piece, Report, is_immutable, peeled

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

__all__ = ["CHUNK_SECONDS", "Group", "key_of"]

CHUNK_SECONDS = 0.02
"""How long a chunk should take: a hundred times its transport."""

LARGEST_CHUNK = 4096  # pieces

AHEAD_SECONDS = 0.002
"""For how long chunks are taken by executors that keep long work back."""


class PieceProfile(Profile):
    """The record of a function's pieces in one place: here, or away.

    Where they run is decided by the group, not by what a call has cost.
    """

    __slots__ = ("_stays",)

    def __init__(self, label: str, stays: bool) -> None:
        super().__init__(label)
        self._stays = stays

    def decide_stay(self, transport_seconds: float) -> bool:
        return self._stays or self.on_loop_because is not None

    def short(self, transport_seconds: float) -> bool:
        return self.decide_stay(transport_seconds)

    def has_medium_length(self, transport_seconds: float) -> bool:
        return False  # or a last chunk, which comes alone, would run here

    def estimate(self) -> float | None:
        # So little that one more is sent ahead: a worker that has done a chunk should
        # not idle until the next one has come.
        seconds = super().estimate()
        return None if seconds is None else min(seconds, AHEAD_SECONDS)


class Group:
    """The waiting pieces of one function; owned by the thread that runs them.

    Attributes:
        label: The function's name.
        waiting: Its pieces that may travel together.
        singles: Those that must travel alone.
        here: The record of what runs on the calling thread.
        away: The record of the chunks; its `on_loop_because` says why none may travel.
        alone: Whether each one travels alone from now on.
        watched: Whether the pieces are given objects that they might change.
        trusted: Whether their function is marked so.
        timeout_seconds: After how long a piece is ended in a worker, or None.
    """

    def __init__(self, piece: Piece, seconds: float | None) -> None:
        """Begin with a first example; `seconds` is how long one takes, if known."""
        mark = mark_of(piece.function) or UNMARKED
        self.label = name_of(piece.function)
        self.waiting: deque[Piece] = deque()
        self.singles: deque[Piece] = deque()
        self.here = PieceProfile(self.label, stays=True)
        self.away = PieceProfile(self.label, stays=False)
        self.timeout_seconds = mark.timeout_seconds(None)
        self.alone = self.timeout_seconds is not None
        self.watched = not (mark.trust or all(map(is_immutable, piece.given)))
        self.trusted = mark.trust
        self._average = Average()
        self._average.seconds = seconds
        self._limit = 1
        self._conflicts = 0

    def __len__(self) -> int:
        return len(self.waiting) + len(self.singles)

    @property
    def seconds(self) -> float | None:
        """How long a piece takes; None before the first one has run."""
        here = self.here.here.seconds
        return self._average.seconds if here is None else here

    def hindrance(self, piece: Piece) -> Hindrance | None:
        """Return why pieces like this one must not run in a worker, or None."""
        if self.trusted:
            return None
        owner = _changeable_owner(piece.function)
        if owner is not None:
            kind = type(owner).__name__
            reason = f"{self.label} may change the {kind} that it belongs to"
            return Hindrance(reason)
        found = scan_function(piece.function, piece.args, piece.kwargs)
        return Hindrance(found[0].describe()) if found else None

    def take(self, workers: int) -> tuple[Piece, ...]:
        """Remove the pieces of the next chunk and return them."""
        if self.singles:
            return (self.singles.popleft(),)
        return tuple(self.waiting.popleft() for _ in range(self._size(workers)))

    def _size(self, workers: int) -> int:
        if self.alone or self.seconds is None:
            return 1
        fair_share = -(-len(self.waiting) // (2 * workers))
        in_time = int(CHUNK_SECONDS / max(self.seconds, 1e-9))
        return max(1, min(fair_share, in_time, self._limit))

    def ended(self, pieces: tuple[Piece, ...], report: Report) -> None:
        """Learn from how a chunk went; what does not count of it waits again."""
        if report.executed:
            self._average.add(report.seconds / report.executed)
        if report.stopped:
            self._take_apart(pieces, report)
        elif self.away.conflicts > self._conflicts:
            self._limit = max(1, self._limit // 2)
        elif len(pieces) >= self._limit:
            self._limit = min(2 * self._limit, LARGEST_CHUNK)
        self._conflicts = self.away.conflicts

    def _take_apart(self, pieces: tuple[Piece, ...], report: Report) -> None:
        before, rest = pieces[: report.executed], pieces[report.executed :]
        self.alone = self.alone or report.retries
        self.singles.append(rest[0])
        self.waiting.extendleft(reversed((*before, *rest[1:])))


def key_of(piece: Piece) -> Hashable:
    """Return what pieces have in common that can be judged alike.

    A function made anew for each piece counts as one, but not if what it or its
    arguments hold is immutable once and mutable another time.
    """
    bare: object
    function, args, kwargs = piece
    if type(function) is types.FunctionType and not function.__closure__:
        bare, things = function, (*args, *kwargs.values())  # the same, but faster
    else:
        bare, things = peeled(function).bare, (*piece.given,)
    code: object = getattr(bare, "__code__", None)
    if code is None:
        code = (type(bare), getattr(bare, "__qualname__", ""))
    kinds = tuple([(type(thing), is_immutable(thing)) for thing in things])
    return code, kinds, tuple(kwargs)


def _changeable_owner(function: Callable[..., object]) -> object:
    """Return the mutable object whose method, without source, this is; or None."""
    bare, owner, _ = peeled(function)
    code: object = getattr(bare, "__code__", None)
    # PyPy's own methods have code, but not in a file.
    if isinstance(code, types.CodeType) and not code.co_filename.startswith("<"):
        return None
    return None if is_immutable(owner) else owner
