"""The same script on a container and on what it stands for: both must do the same."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from txloop import TCounter, TObject, TVar
from txloop.stm.container import Container
from txloop.stm.run import run_attempt
from txloop.stm.store import committed
from txloop.stm.types import Call, Outcome

__all__ = [
    "RUNS",
    "as_plain",
    "attempted",
    "contents",
    "directly",
    "in_a_transaction",
    "raised",
    "told",
]


def attempted(body: Callable[[], object]) -> Outcome:
    """Run a body as one attempt at the newest version, without committing it."""
    outcome = run_attempt(Call(body), speculative=True)
    assert isinstance(outcome, Outcome)
    return outcome


def in_a_transaction(script: Callable[..., object], *arguments: object) -> object:
    """Run a script on shared state as a transaction that commits."""
    call = Call(script, arguments, commits_on=(Exception,))
    outcome = run_attempt(call, speculative=True)
    assert isinstance(outcome, Outcome)
    committed.install(outcome.writes)  # type: ignore[arg-type] # containers
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


def directly(script: Callable[..., object], *arguments: object) -> object:
    """Run a script on shared state outside a transaction."""
    return script(*arguments)


RUNS = [directly, in_a_transaction]

# Exceptions whose words are not compared: a TypeError names types, which are not the
# same, and PyPy's lists word some otherwise than CPython's, and than ours.
_OF_OTHER_WORDS: tuple[type[Exception], ...] = (TypeError,)
if sys.implementation.name == "pypy":
    _OF_OTHER_WORDS += (IndexError, ValueError)


def as_plain(value: Any, find: Callable[[Container], Any] = lambda one: one) -> Any:
    """Return a plain copy of containers and plain objects alike, deeply.

    Args:
        value: What may hold containers; it must not contain itself.
        find: Called with each container; returns the one to look into.
    """
    if isinstance(value, Container):
        value = find(value)
    if isinstance(value, str | bytes | range):
        return value
    if isinstance(value, Mapping):
        return {key: as_plain(part, find) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(as_plain(part, find) for part in value)
    if isinstance(value, Sequence):
        return [as_plain(part, find) for part in value]
    if isinstance(value, Set):
        return {as_plain(part, find) for part in value}
    if isinstance(value, TVar | TCounter):
        return as_plain(value.value, find)
    if hasattr(value, "as_plain"):
        return value.as_plain()
    if isinstance(value, TObject) or _is_plain_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        there = [name for name in names if hasattr(value, name)]
        return "object", {name: as_plain(getattr(value, name), find) for name in there}
    return value


def _is_plain_dataclass(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def contents(target: object) -> object:
    """Return what is in a container or plain object, with its keys in order.

    A key is there as it shows: `1` and `True` are equal, but a dict has one of them.
    """
    found = as_plain(target)
    if isinstance(found, dict):
        return [(repr(key), part) for key, part in found.items()]
    return found


def raised(error: Exception) -> tuple[object, object]:
    """Return what must be the same of the exceptions of containers and plain ones."""
    return type(error), () if isinstance(error, _OF_OTHER_WORDS) else error.args


def told(run: Any, script: Any, target: Any) -> tuple[object, object]:
    """Return a script's result, or its exception, and the contents after it."""
    try:
        result = run(script, target)
    except Exception as error:
        result = raised(error)
    shown = "itself" if result is target else as_plain(result)
    return shown, contents(target)
