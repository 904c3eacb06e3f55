"""The values that cross from the loop to an attempt and back: frozen and picklable.

Every other room speaks in these. This room imports only `txloop.errors` and decides
nothing.
"""

from __future__ import annotations

import contextvars
import enum
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    import logging

    from txloop.stm.variables import Variables

__all__ = [
    "MISSING",
    "Answer",
    "Call",
    "Cell",
    "Conflict",
    "Effect",
    "Key",
    "Missing",
    "Outcome",
    "Ready",
    "Refusal",
    "Retry",
    "Site",
    "Trace",
    "Unsendable",
]

Cell = tuple[int, Hashable]
"""The unit of conflict: a container's number and a key in it (or a `Key`)."""


class Missing(enum.Enum):
    """The value of a key that is not there: what a delete writes."""

    MISSING = enum.auto()


MISSING = Missing.MISSING


class Key(enum.Enum):
    """The cells of a container that no user key names."""

    VALUE = enum.auto()  # the one cell of a TVar
    KEYS = enum.auto()  # which keys there are, and their order: `len`, iteration
    ALL = enum.auto()  # everything in the container

    __hash__ = object.__hash__  # that of Enum is slow, and these are in every read set


@dataclass(frozen=True, slots=True)
class Call:
    """A transaction's plain function call, which may run more than once.

    Attributes:
        function: What to run.
        args: Its positional arguments.
        kwargs: Its keyword arguments.
        label: Names the call in statistics, warnings and logs.
        ordered: Whether it commits in the order in which calls were added.
        commits_on: The exceptions that commit the writes instead of undoing them.
        waited_seconds: How long it has waited since it first retried.
        timeout_seconds: After how long a run of it in a worker is ended, or None.
        traced: Whether to record where in the source it does what, for a log.
        watched: Whether plain objects that it can reach may not change.
        context: The context in which it was called; each attempt runs in a copy.
        guarded: Whether it was not vouched for: a run away from the loop thread is
            stopped before it changes anything outside the program.
        packed: What a worker is sent, where a front has packed it: then it cannot run
            on the loop thread, which has only the kind of the call.
        followed: Whether code of the program comes right after the commit that belongs
            to it, as in stock Tornado: no attempt begins between the two.
    """

    function: Callable[..., object]
    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict)
    label: str = ""
    ordered: bool = False
    commits_on: tuple[type[BaseException], ...] = ()
    waited_seconds: float = 0.0
    timeout_seconds: float | None = None
    traced: bool = False
    watched: bool = True
    context: contextvars.Context = field(
        default_factory=contextvars.copy_context, repr=False, compare=False
    )
    guarded: bool = False
    packed: bytes | None = None
    followed: bool = False

    def call(self) -> Call:
        """Return itself: it is made already."""
        return self

    def is_wanted(self) -> bool:
        """Return True: it is taken back by its transaction's number."""
        return True

    def goes_on(self, number: int) -> None:
        """Do nothing: nothing depends on it."""


class Ready(Protocol):
    """A call that may run right where it is made.

    If it cannot, a `Call` is made of it, which is one, too.
    """

    @property
    def function(self) -> Callable[..., object]:
        """What to run."""

    @property
    def args(self) -> tuple[object, ...]:
        """Its positional arguments."""

    @property
    def kwargs(self) -> Mapping[str, object]:
        """Its keyword arguments."""

    @property
    def commits_on(self) -> tuple[type[BaseException], ...]:
        """The exceptions that commit the writes instead of undoing them."""

    @property
    def timeout_seconds(self) -> float | None:
        """How long it should take at most, or None."""

    def call(self) -> Call:
        """Return what runs later, or elsewhere."""

    def is_wanted(self) -> bool:
        """Tell whether there is still something that its result is for."""

    def goes_on(self, number: int) -> None:
        """Take note that it has not ended at once: it is that transaction now."""


Site: TypeAlias = tuple[str, int, str]
"""A place in the program: file, line and function."""


class Trace(NamedTuple):
    """When and where an attempt ran, and where in the source it did what.

    Attributes:
        worker: The number of the worker, from 1; 0 for the loop thread.
        began_ns: When its function was called, by `time.monotonic_ns`.
        ended_ns: When that returned.
        sites: The places named below, each once.
        reads: By cell that it read, the index of the place that did so first.
        writes: Likewise, of those that it wrote; for all of a container, `Key.ALL`.
        stop: Where it gave up, if it did.
    """

    worker: int
    began_ns: int
    ended_ns: int
    sites: tuple[Site, ...] = ()
    reads: Mapping[Cell, int] = {}
    writes: Mapping[Cell, int] = {}
    stop: Site | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """A call that waits for the commit.

    Attributes:
        function: What to run.
        args: Its positional arguments.
        kwargs: Its keyword arguments.
        origin: Where the program asked for it.
        variables: The context variables that it finds; None: those of the loop.
    """

    function: Callable[..., object]
    args: tuple[object, ...]
    kwargs: Mapping[str, object]
    origin: str
    variables: Variables | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that an attempt found out and wants done; it has changed nothing yet.

    Attributes:
        snapshot: The version that it ran against.
        value: What the function returned.
        error: What it raised instead, or None.
        values: Cells whose value it read.
        presences: Cells of which it learnt only whether the key was there.
        writes: ``(container, key, value)`` in the order of the first write to each.
        effects: What to run at commit, in order.
        records: Log records to hand to their loggers at commit, in order.
        body_seconds: How long the function kept its thread busy or blocked.
        error_answered: Whether it raised and made the answer to that itself, as a
            request does.
        trace: When and where it ran, if its call is traced.
        files: Those outside the program that it has read, if its call is guarded.
    """

    snapshot: int
    value: object = None
    error: BaseException | None = None
    values: frozenset[Cell] = frozenset()
    presences: frozenset[Cell] = frozenset()
    writes: tuple[tuple[object, Hashable, object], ...] = ()
    effects: tuple[Effect, ...] = ()
    records: tuple[logging.LogRecord, ...] = ()
    body_seconds: float = 0.0
    error_answered: bool = False
    trace: Trace | None = None
    files: frozenset[str] = frozenset()

    def __reduce__(self) -> tuple[object, ...]:
        # What a dataclass with slots does by itself takes several times as long.
        return Outcome, (
            self.snapshot,
            self.value,
            self.error,
            self.values,
            self.presences,
            self.writes,
            self.effects,
            self.records,
            self.body_seconds,
            self.error_answered,
            self.trace,
            self.files,
        )

    @property
    def failed(self) -> bool:
        """Whether it ended with an exception."""
        return self.error is not None or self.error_answered


@dataclass(frozen=True, slots=True)
class Retry:
    """An attempt that gave up until something changes: its call has to wait.

    Attributes:
        snapshot: The version that it ran against.
        values: Cells whose value it read.
        presences: Cells of which it learnt only whether the key was there.
        timeout_seconds: After how long it runs again anyway, or None.
        body_seconds: How long the function kept its thread busy or blocked.
        trace: When and where it ran, if its call is traced.
    """

    snapshot: int
    values: frozenset[Cell] = frozenset()
    presences: frozenset[Cell] = frozenset()
    timeout_seconds: float | None = None
    body_seconds: float = 0.0
    trace: Trace | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """An attempt that gave up: its call has to run on the loop thread.

    Attributes:
        reason: Why, as the end of the sentence "it runs on the loop thread because".
        lasting: Whether every later call of the same label goes there too.
        warn: Whether the program did not ask for it and should be told.
        trace: When and where it ran, if it began and its call is traced.
        spoilt: Whether the copy of the program in which it ran must not be used again.
        settles: Whether later calls may run elsewhere again, if they change nothing.
    """

    reason: str
    lasting: bool = True
    warn: bool = True
    trace: Trace | None = None
    spoilt: bool = False
    settles: bool = False

    def plain(self) -> tuple[str, bool, bool, bool, bool]:
        """Return it, without its trace, as plain data: what `from_plain` takes."""
        return self.reason, self.lasting, self.warn, self.spoilt, self.settles

    @classmethod
    def from_plain(cls, plain: tuple[str, bool, bool, bool, bool]) -> Refusal:
        """Undo `plain`."""
        reason, lasting, warn, spoilt, settles = plain
        return cls(reason, lasting, warn, None, spoilt, settles)


Answer: TypeAlias = Outcome | Retry | Refusal
"""What an attempt ends with. The first two hold their snapshot open until settled."""


class _Strange:
    """What is known of values that must not be seen everywhere: see `held.STRANGE`.

    Attributes:
        seen: Whether there has been one in this process; else none need be sought.
    """

    __slots__ = ("seen",)

    def __init__(self) -> None:
        self.seen = False


strange = _Strange()  # an object: attributes of a class are looked up slowly


class Unsendable:
    """Stands in a worker for a shared value that does not pickle.

    Attributes:
        reason: Why it does not.
    """

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason
        strange.seen = True

    def __reduce__(self) -> tuple[object, ...]:
        return Unsendable, (self.reason,)  # so that it is seen there, too

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unsendable) and self.reason == other.reason

    def __hash__(self) -> int:
        return hash(self.reason)

    def __repr__(self) -> str:
        return f"Unsendable({self.reason!r})"


@dataclass(frozen=True, slots=True)
class Conflict:
    """The decision that what an attempt read has changed since its snapshot.

    Attributes:
        cell: The first such cell found.
        snapshot: The version that the attempt ran against.
        version: The commit that changed the cell.
    """

    cell: Cell
    snapshot: int
    version: int
