"""Plays, performed on shared state or on plain Python objects by the same code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from tests.model.following import pause
from txloop.attempt import current

if TYPE_CHECKING:
    from tests.strategies import Operation

State = Mapping[str, Any]


class Ended(Exception):
    """How a play ends that raises: with its snapshot and what it saw."""


class PlainVariable:
    """What a TVar is to a single thread."""

    def __init__(self, value: object) -> None:
        self.value = value


def play(
    state: State, operations: tuple[Operation, ...], effect: Callable[[int], object]
) -> tuple[int, list[object]]:
    """Do the operations; return the snapshot and what was seen."""
    attempt = current()
    snapshot = -1 if attempt is None else attempt.snapshot
    seen: list[object] = []
    for operation in operations:
        pause()
        if operation.what == "raise":
            raise Ended(snapshot, seen)
        if operation.what == "effect":
            effect(operation.value)
        else:
            seen.append(_performed(operation, state))
    return snapshot, seen


def frozen(value: object) -> object:
    """Return contents and order of containers and plain objects alike, deeply."""
    if isinstance(value, Mapping):
        return tuple((key, frozen(part)) for key, part in value.items())
    if isinstance(value, tuple | list):
        return tuple(map(frozen, value))
    return value


def _performed(operation: Operation, state: State) -> object:
    try:
        if isinstance(operation.where, str):
            return _on_variable(operation, state[operation.where])
        target = state[operation.where[0]]
        for key in operation.where[1:]:
            target = target[key]
        if not isinstance(target, MutableMapping):
            return "no dict"
        return _shown(_on_dict(operation, target))
    except (KeyError, TypeError) as error:
        return type(error).__name__, str(error)


def _on_variable(operation: Operation, variable: Any) -> object:
    if operation.what == "write":
        variable.value = operation.value
    elif operation.what == "add":
        variable.value += 1
    return variable.value


def _on_dict(operation: Operation, target: MutableMapping[str, Any]) -> object:
    key, value = operation.key, operation.value
    match operation.what:
        case "get":
            return target.get(key)
        case "in":
            return key in target
        case "delete":
            del target[key]
        case "pop":
            return target.pop(key, "none")
        case "nest":
            target[key] = {}
        case "setdefault nested":
            target.setdefault(key, {})["inside"] = 1
        case "set":
            target[key] = value
        case "setdefault":
            return target.setdefault(key, value)
        case "update":
            target.update({key: value, "a": value})
        case "len":
            return len(target)
        case "keys":
            return list(target)
        case "reversed":
            return list(reversed(target))  # type: ignore[arg-type] # both can
        case "items":
            return frozen(target)
        case "clear":
            target.clear()
        case "popitem":
            return target.popitem()
        case "alias":
            target["c"] = target[key]
        case unknown:
            raise AssertionError(unknown)
    return None


def _shown(value: object) -> object:
    """Return what a play saw, without looking into containers."""
    if isinstance(value, Mapping):
        return "a dict"
    if isinstance(value, tuple | list):
        return tuple(map(_shown, value))
    return value
