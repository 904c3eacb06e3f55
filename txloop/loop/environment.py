"""Options that come from outside of the program.

The environment gives those that the program leaves open: ``TXLOOP_`` and the name, in
capitals. The command ``txloop`` gives what counts more than the program's own:
``--workers 8`` or ``--debug`` means this run, also of a program that has an `install`
of its own.
"""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING, Literal

from txloop.errors import TxConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "LEAST",
    "give_by_command",
    "given_by_command",
    "given_by_environment",
    "misspelt_variables",
    "parse_fronts",
    "switch_given",
    "words_given",
]

LEAST = {
    "workers": 1,
    "local": 0,
    "fronts": 0,
    "max_queue": 0,
    "max_calls": 1,
    "log_bytes": 1,
}
"""The options that are numbers, with the least that each can be."""

_OF_THE_COMMAND = ("transactional", "on_error", "debug", "faults")

_SWITCHES = {
    **dict.fromkeys(("1", "true", "yes"), True),
    **dict.fromkeys(("0", "false", "no"), False),
}

_by_command: dict[str, object] = {}  # of this process, and of those that it forks


def give_by_command(options: Mapping[str, object]) -> None:
    """Let options count more than what the program says; None leaves one open."""
    given = {name: one for name, one in options.items() if one is not None}
    _by_command.update(given)


def given_by_command() -> dict[str, object]:
    """Return the options that the command has given."""
    return dict(_by_command)


def given_by_environment() -> dict[str, object]:
    """Return the options that variables give; an empty one gives none.

    ``PYPYSTM``, as PyPy-STM had it, is another name of ``TXLOOP_LOG``.

    Raises:
        TxConfigurationError: if one is no number where it has to be one.
    """
    given: dict[str, object] = {}
    for name, parse in _PARSERS.items():
        variable = f"TXLOOP_{name.upper()}"
        text = os.environ.get(variable)
        if text:
            given[name] = parse(text, variable)
    if os.environ.get("PYPYSTM"):
        given.setdefault("log", os.environ["PYPYSTM"])
    return given


def misspelt_variables() -> list[tuple[str, str]]:
    """Return variables that look like those of txloop and are none, with these."""
    known = {f"TXLOOP_{name.upper()}" for name in (*_PARSERS, *_OF_THE_COMMAND)}
    found = []
    for name in sorted(os.environ.keys() - known):
        if name.startswith("TXLOOP"):
            meant = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
            found += [(name, each) for each in meant]
    return found


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


def switch_given(variable: str) -> bool:
    """Tell whether a variable says yes.

    Raises:
        TxConfigurationError: if it says neither yes nor no.
    """
    return _switch(os.environ.get(variable) or "0", variable)


def words_given(variable: str) -> list[str]:
    """Return the words of a variable, between spaces or commas."""
    return os.environ.get(variable, "").replace(",", " ").split()


def _word(text: str, _: str) -> str:
    return text


def _integer(text: str, variable: str) -> int:
    least = LEAST[variable.removeprefix("TXLOOP_").lower()]
    try:
        return int(text)
    except ValueError:
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


_PARSERS: dict[str, Callable[[str, str], object]] = {
    "executor": _word,
    "workers": _integer,
    "local": _integer,
    "fronts": parse_fronts,
    "order": _word,
    "rounds": _word,
    "signals": _switch,
    "drain_seconds": _number,
    "max_queue": _integer,
    "timeout": _number,
    "max_calls": _integer,
    "log": _word,
    "log_bytes": _integer,
    "auto": _switch,
}
