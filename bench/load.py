"""What a load generator does, and what it hands back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Load:
    """A closed-loop load: so many users, each waiting for its answer, for so long.

    `pid` is the server's process, for loads that look at it or at its children;
    `repeat` the number of the repeat, for loads that leave something to chance: all
    competitors of a repeat are asked for the same, and no two repeats for the same.
    """

    url: str
    paths: tuple[str, ...]
    clients: int
    seconds: int
    pid: int = 0
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Latency:
    """How long requests took that were sent at a constant rate."""

    rate: float
    seconds: tuple[float, ...]
    client_cpu_cores: float


@dataclass(frozen=True, slots=True)
class Throughput:
    """What a closed-loop load achieved, and what the generator said word for word.

    A load may measure more: the latency of other requests meanwhile, and `figures`,
    which the columns of its case name. `whole_seconds` is how long it took with all
    of that, where it is more than the throughput was counted for.
    """

    transactions: int
    elapsed_seconds: float
    client_cpu_seconds: float
    command: str
    exit_code: int
    stdout: str
    stderr: str
    latency: Latency | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    whole_seconds: float | None = None

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.transactions / self.elapsed_seconds

    @property
    def spent_seconds(self) -> float:
        """How long server and load worked, for the share of a core that they used."""
        return self.whole_seconds or self.elapsed_seconds


@dataclass(frozen=True, slots=True)
class Checked:
    """What there is to say of answers that were all checked, and all right.

    `conflicts` is the server's own count of the attempts that it threw away, or None.
    """

    answers: int
    refused: int
    conflicts: int | None


class LoadGenerator(Protocol):
    """A program that loads a server from outside, in a process of its own."""

    @property
    def title(self) -> str:
        """The name and version for the caption."""
        ...

    def run(self, load: Load) -> Throughput:
        """Return what the load achieved.

        Blocks for the time of the load.

        Raises:
            HungLoadError: the generator did not end; the same load may well do so.
            LoadError: a request failed, or the figures cannot be trusted.
        """
        ...

    def check(self, load: Load) -> Checked | None:
        """Check every answer of the load that was run last, on the same server.

        Returns None where the generator does not keep the answers.

        Raises:
            WrongAnswerError: one of them was wrong.
        """
        ...
