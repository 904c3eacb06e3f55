"""What a load generator does, and what it hands back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Load:
    """A closed-loop load: so many users, each waiting for its answer, for so long."""

    url: str
    paths: tuple[str, ...]
    clients: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Throughput:
    """What a closed-loop load achieved, and what the generator said word for word."""

    transactions: int
    elapsed_seconds: float
    client_cpu_seconds: float
    command: str
    exit_code: int
    stdout: str
    stderr: str

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.transactions / self.elapsed_seconds


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
