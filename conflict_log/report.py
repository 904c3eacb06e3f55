"""What a log says, as values: the report that everything else is made from.

Times are whole nanoseconds, so that sums are exact: of `Totals`, the parts add up to
`worker_ns`; the losses add up to what was aborted and paused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conflict_log.formats import INEVITABLE, KIND_NAMES, WRITE_READ, WRITE_WRITE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conflict_log.markers import Site

__all__ = ["Loss", "Report", "Source", "Totals", "Worker"]

_SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Source:
    """One file that was read.

    Attributes:
        path: The file.
        format: The name of its format, as `--numbering` takes it.
        breaks: Nonsense per packet in it; 0 is a perfect log.
        margin: How much more of it the next best format has; 0 is a tie.
        events: How many events it holds.
        size: How many bytes were read.
    """

    path: str
    format: str
    breaks: float
    margin: float
    events: int
    size: int


@dataclass(frozen=True, slots=True)
class Totals:
    """What the workers' time went into. The parts add up to `worker_ns`.

    Attributes:
        committed_ns: Transactions that took effect.
        aborted_ns: Attempts that were thrown away.
        paused_ns: Waits, by cause.
        detached_ns: Outside of the interpreter, inside of a transaction.
        idle_ns: Outside of transactions.
        unattributed_ns: What the log does not tell, being cut or damaged.
        worker_ns: The length of the log times the number of workers.
        commits: How many transactions took effect.
        aborts: How many attempts were thrown away.
        minor_ns: Small collections of garbage; a part of the times above.
        major_ns: Great ones, likewise.
    """

    committed_ns: int = 0
    aborted_ns: int = 0
    paused_ns: Mapping[str, int] = field(default_factory=dict)
    detached_ns: int = 0
    idle_ns: int = 0
    unattributed_ns: int = 0
    worker_ns: int = 0
    commits: int = 0
    aborts: int = 0
    minor_ns: int = 0
    major_ns: int = 0

    @property
    def waiting_ns(self) -> int:
        """All pauses."""
        return sum(self.paused_ns.values())

    @property
    def lost_ns(self) -> int:
        """What was aborted and paused: what the losses add up to."""
        return self.aborted_ns + self.waiting_ns

    @property
    def busy_ns(self) -> int:
        """What was committed, aborted and paused."""
        return self.committed_ns + self.lost_ns

    def __add__(self, other: Totals) -> Totals:
        causes = dict(self.paused_ns)
        for cause, spent in other.paused_ns.items():
            causes[cause] = causes.get(cause, 0) + spent
        return Totals(
            self.committed_ns + other.committed_ns,
            self.aborted_ns + other.aborted_ns,
            causes,
            self.detached_ns + other.detached_ns,
            self.idle_ns + other.idle_ns,
            self.unattributed_ns + other.unattributed_ns,
            self.worker_ns + other.worker_ns,
            self.commits + other.commits,
            self.aborts + other.aborts,
            self.minor_ns + other.minor_ns,
            self.major_ns + other.major_ns,
        )


@dataclass(frozen=True, slots=True)
class Worker:
    """One thread of one process, in PyPy's words; one worker, in txloop's.

    Attributes:
        process: Which of the files it is from, counted from 0.
        number: Its number in the file.
        totals: Its time.
        curve: For each piece of time: committed, aborted and paused nanoseconds.
        address: Where it is, as txloop calls other machines; "" if the log does not
            say. Where one took another's number, the last ones, the newest last.
    """

    process: int
    number: int
    totals: Totals
    curve: Sequence[tuple[int, int, int]] = ()
    address: str = ""

    @property
    def name(self) -> str:
        """Its number, with that of the process where there are several."""
        return f"{self.process}.{self.number}" if self.process else str(self.number)

    @property
    def title(self) -> str:
        """What it is called in words."""
        return _title(self.name, self.address)


@dataclass(frozen=True, slots=True)
class Loss:
    """What one kind of conflict between two places has cost one worker.

    Attributes:
        kind: A word for it: "write-write", "write-read", "inevitable"; for what no
            line is known of, "abort" or the cause of the wait.
        victim: The place of whom it has cost time, None if the log does not say.
        culprit: The place of the other side, likewise.
        worker: The name of the worker whose time it was.
        count: How often it happened.
        aborts: How many attempts were thrown away for it.
        aborted_ns: The time of those.
        paused_ns: The time waited for it.
        longest_ns: The longest single loss.
        curve: The nanoseconds lost in each piece of time.
        address: Where that worker is; see `Worker`.
    """

    kind: str
    victim: Site | None
    culprit: Site | None
    worker: str
    count: int
    aborts: int
    aborted_ns: int
    paused_ns: int
    longest_ns: int
    curve: Mapping[int, int] = field(default_factory=dict)
    address: str = ""

    @property
    def worker_title(self) -> str:
        """What the worker is called in words."""
        return _title(self.worker, self.address)

    @property
    def lost_ns(self) -> int:
        """All that it has cost."""
        return self.aborted_ns + self.paused_ns

    @property
    def site(self) -> Site | None:
        """The place to look at: the victim's, or the other if that is all there is."""
        return self.victim or self.culprit


@dataclass(frozen=True, slots=True)
class Report:
    """What one log, or a set of logs, says.

    Attributes:
        sources: The files.
        start_ns: The time of the first event, by the clock of the machine.
        stop_ns: That of the last.
        totals: Where the time of all workers went.
        workers: Where that of each went.
        losses: What was aborted and paused, the dearest first.
        notes: What a reader should know of the log: damage, guesses, limits.
        piece_ns: The length of a piece of time of the curves.
        pieces: How many there are.
        damaged: Whether something in a file was no event, or could not be one.
    """

    sources: Sequence[Source]
    start_ns: int
    stop_ns: int
    totals: Totals
    workers: Sequence[Worker]
    losses: Sequence[Loss]
    notes: Sequence[str]
    piece_ns: int
    pieces: int
    damaged: bool = False

    @property
    def real_ns(self) -> int:
        """The time from the first event to the last."""
        return self.stop_ns - self.start_ns

    @property
    def real_seconds(self) -> float:
        """The time from the first event to the last."""
        return self.real_ns / _SECOND

    @property
    def events(self) -> int:
        """How many events there are in all files."""
        return sum(one.events for one in self.sources)


def _title(name: str, address: str) -> str:
    return f"worker {name} of {address}" if address else f"worker {name}"


CONFLICTS = frozenset(KIND_NAMES[one] for one in (WRITE_WRITE, WRITE_READ, INEVITABLE))
"""The kinds of losses that are conflicts; the others are waits and aborts."""
