"""The options of a transactional loop, their defaults, and those from outside.

The environment gives those that the program leaves open: ``TXLOOP_`` and the name, in
capitals. The command ``txloop`` gives what counts more than the program's own:
``--workers 8`` or ``--debug`` means this run, also of a program that has an `install`
of its own.
"""

from __future__ import annotations

import difflib
import logging
import os
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from txloop.engine.marks import check_timeout
from txloop.errors import TxConfigurationError
from txloop.executors.protocol import Executor, executor_named, resolve_name, unknown
from txloop.stmlog import DEFAULT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "Options",
    "give_by_command",
    "given_by_environment",
    "misspelt_variables",
    "parse_fronts",
    "switch_given",
    "take_executor",
    "use_executor",
    "words_given",
]

_log = logging.getLogger("txloop")

MOST_FRONTS = 30
"""More than this does not pay: each commit goes to all of them."""

_OF_THE_COMMAND = ("transactional", "on_error", "debug", "faults")

_SWITCHES = {
    **dict.fromkeys(("1", "true", "yes"), True),
    **dict.fromkeys(("0", "false", "no"), False),
}

_by_command: dict[str, object] = {}  # of this process, and of those that it forks


# From texts


def parse_fronts(text: str, what: str) -> int | Literal["auto"]:
    """Return the number of fronts that a text says.

    Args:
        text: A number, or ``"auto"``.
        what: Where it comes from, for the error.

    Raises:
        TxConfigurationError: if it is neither.
    """
    if text == "auto":
        return "auto"
    if not text.isdecimal():
        raise TxConfigurationError(f"{what} must be an integer or auto, not {text!r}")
    return int(text)


def _word(text: str, _: str) -> str:
    return text


def _integer(text: str, variable: str) -> int:
    try:
        return int(text)
    except ValueError:
        least = _LEAST[variable.removeprefix("TXLOOP_").lower()]
        raise TxConfigurationError(
            f"{variable} must be an integer >= {least}, not {text!r}"
        ) from None


def _number(text: str, variable: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise TxConfigurationError(
            f"{variable} must be a number, not {text!r}"
        ) from None


def _switch(text: str, variable: str) -> bool:
    if text.lower() not in _SWITCHES:
        raise TxConfigurationError(f"{variable} must be 1 or 0, not {text!r}")
    return _SWITCHES[text.lower()]


def _option(
    default: object,
    parse: Callable[[str, str], object],
    least: int | None = None,
    words: tuple[str, ...] = (),
) -> Any:
    """Return a field of `Options`.

    Args:
        default: Its value where nothing gives it.
        parse: Makes a value of the text of a variable, with the variable's name.
        least: What a number can be at least.
        words: What it can be, if that is one of some words.
    """
    about = {"parse": parse, "least": least, "words": words}
    return field(default=default, metadata=about)


@dataclass(frozen=True, slots=True)
class Options:
    """How a loop runs transactions, as given to `txloop.install`.

    Raises:
        TxConfigurationError: if a value is unknown; the message names the known ones.
    """

    executor: str = _option("auto", _word)
    workers: int | None = _option(None, _integer, least=1)
    local: int = _option(0, _integer, least=0)
    fronts: int | Literal["auto"] = _option("auto", parse_fronts, least=0)
    order: Literal["completion", "arrival"] = _option(
        "completion", _word, words=("completion", "arrival")
    )
    rounds: Literal["overlapping", "barrier"] = _option(
        "overlapping", _word, words=("overlapping", "barrier")
    )
    signals: bool = _option(False, _switch)
    drain_seconds: float = _option(10.0, _number)
    max_queue: int | None = _option(None, _integer, least=0)
    timeout: float | None = _option(None, _number)
    max_calls: int | None = _option(None, _integer, least=1)
    log: str | None = _option(None, _word)
    log_bytes: int = _option(DEFAULT_BYTES, _integer, least=1)
    auto: bool = _option(False, _switch)

    def __post_init__(self) -> None:
        resolve_name(self.executor)
        for name, least in _LEAST.items():
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
        for one in fields(self):
            word, known = getattr(self, one.name), one.metadata["words"]
            if known and word not in known:
                raise TxConfigurationError(unknown(one.name, word, known))

    @classmethod
    def split(cls, keywords: dict[str, object]) -> tuple[Options, dict[str, object]]:
        """Return the options among `keywords`, and the rest.

        The environment stands in for what is not given, and the command goes before
        what is.
        """
        names = {one.name for one in fields(cls)}
        given = {
            name: value
            for name, value in keywords.items()
            if name in names and value is not None
        }
        rest = {name: value for name, value in keywords.items() if name not in names}
        options = {**given_by_environment(), **given, **_by_command}
        return cls(**options), rest  # type: ignore[arg-type] # checked right after


_LEAST: dict[str, int] = {
    one.name: one.metadata["least"]
    for one in fields(Options)
    if one.metadata["least"] is not None
}
"""The options that are numbers, with the least that each can be."""


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


def give_by_command(options: Mapping[str, object]) -> None:
    """Let options count more than what the program says; None leaves one open."""
    given = {name: one for name, one in options.items() if one is not None}
    _by_command.update(given)


def given_by_environment() -> dict[str, object]:
    """Return the options that variables give; an empty one gives none.

    ``PYPYSTM``, as PyPy-STM had it, is another name of ``TXLOOP_LOG``.

    Raises:
        TxConfigurationError: if one is no number where it has to be one.
    """
    given: dict[str, object] = {}
    for one in fields(Options):
        variable = f"TXLOOP_{one.name.upper()}"
        text = os.environ.get(variable)
        if text:
            given[one.name] = one.metadata["parse"](text, variable)
    if os.environ.get("PYPYSTM"):
        given.setdefault("log", os.environ["PYPYSTM"])
    return given


def misspelt_variables() -> list[tuple[str, str]]:
    """Return variables that look like those of txloop and are none, with these."""
    names = (*(one.name for one in fields(Options)), *_OF_THE_COMMAND)
    known = {f"TXLOOP_{name.upper()}" for name in names}
    found = []
    for name in sorted(os.environ.keys() - known):
        if name.startswith("TXLOOP"):
            meant = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
            found += [(name, each) for each in meant]
    return found


def switch_given(variable: str) -> bool:
    """Tell whether a variable says yes.

    Raises:
        TxConfigurationError: if it says neither yes nor no.
    """
    return _switch(os.environ.get(variable) or "0", variable)


def words_given(variable: str) -> list[str]:
    """Return the words of a variable, between spaces or commas."""
    return os.environ.get(variable, "").replace(",", " ").split()
