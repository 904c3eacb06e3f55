"""The options of a transactional loop, their defaults, and workers started early."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, fields
from typing import Literal

from txloop.engine.marks import check_timeout
from txloop.errors import TxConfigurationError
from txloop.executors.protocol import Executor, executor_named, resolve_name, unknown
from txloop.loop.environment import LEAST, given_by_command, given_by_environment
from txloop.stmlog import DEFAULT_BYTES

__all__ = ["Options", "take_executor", "use_executor"]

_log = logging.getLogger("txloop")

MOST_FRONTS = 30
"""More than this does not pay: each commit goes to all of them."""

_WORDS = {
    "order": ("completion", "arrival"),
    "rounds": ("overlapping", "barrier"),
}
"""The options that are one of some words."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a loop runs transactions, as given to `txloop.install`.

    Raises:
        TxConfigurationError: if a value is unknown; the message names the known ones.
    """

    executor: str = "auto"
    workers: int | None = None
    local: int = 0
    fronts: int | Literal["auto"] = "auto"
    order: Literal["completion", "arrival"] = "completion"
    rounds: Literal["overlapping", "barrier"] = "overlapping"
    signals: bool = False
    drain_seconds: float = 10.0
    max_queue: int | None = None
    timeout: float | None = None
    max_calls: int | None = None
    log: str | None = None
    log_bytes: int = DEFAULT_BYTES
    auto: bool = False

    def __post_init__(self) -> None:
        resolve_name(self.executor)
        for name, least in LEAST.items():
            number = getattr(self, name)
            if (name, number) == ("fronts", "auto"):
                continue
            if number is not None:
                check_count(name, number, least)
        if self.fronts not in ("auto", *range(MOST_FRONTS + 1)):
            raise TxConfigurationError(
                f"fronts must be a number up to {MOST_FRONTS}, not {self.fronts!r}"
            )
        if self.local and self.executor != "dask":
            raise TxConfigurationError(
                f"local={self.local} needs executor='dask', not {self.executor!r}; use "
                "workers= instead"
            )
        check_timeout(self.timeout)
        _check_drain(self.drain_seconds)
        if type(self.auto) is not bool:
            raise TxConfigurationError(f"auto must be True or False, not {self.auto!r}")
        for name, known in _WORDS.items():
            word = getattr(self, name)
            if word not in known:
                raise TxConfigurationError(unknown(name, word, known))

    @classmethod
    def split(cls, keywords: dict[str, object]) -> tuple[Options, dict[str, object]]:
        """Return the options among `keywords`, and the rest.

        The environment stands in for what is not given, and the command goes before
        what is: see `txloop.loop.environment`.
        """
        names = {field.name for field in fields(cls)}
        given = {
            name: value
            for name, value in keywords.items()
            if name in names and value is not None
        }
        rest = {name: value for name, value in keywords.items() if name not in names}
        options = {**given_by_environment(), **given, **given_by_command()}
        return cls(**options), rest  # type: ignore[arg-type] # checked right after


def check_count(name: str, number: object, least: int) -> None:
    """Check what a program gives as a number of something.

    Raises:
        TxConfigurationError: if it is no integer, or less than `least`.
    """
    if type(number) is not int:
        raise TxConfigurationError(
            f"{name} must be an integer >= {least}, not {number!r}"
        )
    if number < least:
        raise TxConfigurationError(f"{name} must be at least {least}, got {number}")


def _check_drain(seconds: object) -> None:
    if type(seconds) not in (int, float) or not seconds >= 0:  # type: ignore[operator] # a number
        raise TxConfigurationError(
            f"drain_seconds must be a number of seconds >= 0, not {seconds!r}"
        )


# Started before there was a loop, with the process that did it; at most one.
_waiting: list[tuple[int, Executor]] = []


def use_executor(executor: Executor) -> None:
    """Let the next loop take `executor`, which has its workers already."""
    _waiting.append((os.getpid(), executor))


def take_executor(options: Options) -> Executor:
    """Return the executor for a new loop: one started early, or a new one."""
    if _waiting and _waiting[-1][1].name == resolve_name(options.executor):
        starter, executor = _waiting.pop()
        if starter == os.getpid():
            return executor
        executor.close()  # only our ends: its workers are another process's
        _log.warning(
            "txloop.start_workers() came before a fork (fork_processes, a daemon's): "
            "this process starts workers of its own; call it after the fork"
        )
    return executor_named(
        options.executor, options.workers, options.max_calls, options.local
    )
