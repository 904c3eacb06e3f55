"""The options of a transactional loop, their defaults, and workers started early."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import Literal

from txloop.errors import TxConfigurationError
from txloop.executors.base import Executor, executor_named, resolve_name

__all__ = ["Options", "take_executor", "use_executor"]

_ORDERS = ("completion", "arrival")


@dataclass(frozen=True, slots=True)
class Options:
    """How a loop runs transactions, as given to `txloop.install`.

    Raises:
        TxConfigurationError: if a value is unknown; the message names the known ones.
    """

    executor: str = "auto"
    workers: int | None = None
    order: Literal["completion", "arrival"] = "completion"
    signals: bool = False
    drain_seconds: float = 10.0

    def __post_init__(self) -> None:
        resolve_name(self.executor)
        if self.workers is not None and (
            not isinstance(self.workers, int) or self.workers < 1
        ):
            raise TxConfigurationError(
                f"workers must be a number from 1, not {self.workers!r}"
            )
        if self.order not in _ORDERS:
            raise TxConfigurationError(
                f"unknown order {self.order!r}; there are: {', '.join(_ORDERS)}"
            )

    @classmethod
    def split(cls, keywords: dict[str, object]) -> tuple[Options, dict[str, object]]:
        """Return the options among `keywords`, and the rest.

        ``TXLOOP_EXECUTOR`` and ``TXLOOP_WORKERS`` stand in for what is not given.
        """
        names = {field.name for field in fields(cls)}
        given = {
            name: value
            for name, value in keywords.items()
            if name in names and value is not None
        }
        rest = {name: value for name, value in keywords.items() if name not in names}
        if "executor" not in given and os.environ.get("TXLOOP_EXECUTOR"):
            given["executor"] = os.environ["TXLOOP_EXECUTOR"]
        if "workers" not in given and os.environ.get("TXLOOP_WORKERS"):
            text = os.environ["TXLOOP_WORKERS"]
            if not text.isdecimal():
                raise TxConfigurationError(f"TXLOOP_WORKERS is no number: {text!r}")
            given["workers"] = int(text)
        return cls(**given), rest  # type: ignore[arg-type] # checked right after


_waiting: list[Executor] = []  # started before there was a loop; at most one


def use_executor(executor: Executor) -> None:
    """Let the next loop take `executor`, which has its workers already."""
    _waiting.append(executor)


def take_executor(options: Options) -> Executor:
    """Return the executor for a new loop: one started early, or a new one."""
    if _waiting and _waiting[-1].name == resolve_name(options.executor):
        return _waiting.pop()
    return executor_named(options.executor, options.workers)
