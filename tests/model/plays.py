"""Plays, performed on shared state or on plain Python objects by the same code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from tests.comparing import raised
from tests.model.following import pause
from tests.model.object_steps import Count, PlainPoint, SharedPoint
from txloop import TCounter, TList, TVar
from txloop.stm.attempt import current

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
    seen: list[object] = []
    for operation in operations:
        pause()
        if operation.what == "raise":
            raise Ended(_snapshot(), seen)
        if operation.what == "effect":
            effect(operation.value)
        else:
            seen.append(_performed(operation, state))
    return _snapshot(), seen


def _snapshot() -> int:
    # At the end only: an attempt may settle at its first read what it reads.
    attempt = current()
    return -1 if attempt is None else attempt.snapshot


def frozen(value: object) -> object:
    """Return contents and order of containers and plain objects alike, deeply."""
    if isinstance(value, Mapping):
        return tuple((key, frozen(part)) for key, part in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(map(frozen, value))
    if isinstance(value, Set):
        return frozenset(value)
    if isinstance(value, TVar | PlainVariable | TCounter | Count):
        return value.value
    if isinstance(value, SharedPoint | PlainPoint):
        return getattr(value, "x", "none"), getattr(value, "y", "none")
    return value


def _performed(operation: Operation, state: State) -> object:
    try:
        if isinstance(operation.where, str):
            return _on_variable(operation, state[operation.where])
        target = state[operation.where[0]]
        for key in operation.where[1:]:
            target = target[key]
        if operation.where[0] in OTHERS:
            return _shown(OTHERS[operation.where[0]](operation, target))
        if not isinstance(target, MutableMapping):
            return "no dict"
        return _shown(_on_dict(operation, target))
    except (LookupError, ValueError, TypeError) as error:
        return type(error).__name__, raised(error)[1]
    except AttributeError as error:
        return type(error).__name__  # the rest names the class


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


def _on_list(operation: Operation, target: Any) -> object:
    index, value = operation.index, operation.value
    match operation.what:
        case "get":
            return target[index]
        case "slice":
            return tuple(target[index : index + 2])
        case "rest":
            return tuple(target[index:])
        case "len":
            return len(target)
        case "bool":
            return bool(target)
        case "last":
            return target[-1]
        case "items":
            return frozen(target)
        case "in":
            return value in target
        case "count":
            return target.count(value)
        case "set":
            target[index] = value
        case "add":
            target[index] += value
        case "delete":
            del target[index]
        case "pop":
            return target.pop(index)
        case "insert":
            target.insert(index, value)
        case "append":
            target.append(value)
        case "extend":
            target.extend([value, index])
        case "put slice":
            target[index : index + 1] = [value, value]
        case "cut":
            del target[index : index + 2]
        case "sort":
            target.sort(key=lambda item: item if isinstance(item, int) else 9)
        case "reverse":
            target.reverse()
        case "clear":
            target.clear()
        case "swap":
            target[0], target[index] = target[index], target[0]
        case "nest":
            target.append([value])
        case "append inside":
            target[index].append(value)
        case unknown:
            raise AssertionError(unknown)
    return None


def _on_set(operation: Operation, target: Any) -> object:
    value = operation.value
    match operation.what:
        case "in":
            return value in target
        case "len":
            return len(target)
        case "items":
            return frozenset(target)
        case "add":
            target.add(value)
        case "discard":
            target.discard(value)
        case "remove":
            target.remove(value)
        case "update":
            target.update([value, value + 1])
        case "clear":
            target.clear()
        case "keep":
            target &= {value, value + 1}
        case unknown:
            raise AssertionError(unknown)
    return None


def _on_object(operation: Operation, target: Any) -> object:
    name, value = operation.key, operation.value
    match operation.what:
        case "get":
            return getattr(target, name)
        case "set":
            setattr(target, name, value)
        case "add":
            setattr(target, name, getattr(target, name) + value)
        case "delete":
            del target.x  # y has a default, which would be there again
        case "total":
            return target.total
        case "equal":
            return frozen(target) == (value, value)
        case unknown:
            raise AssertionError(unknown)
    return None


def _on_counter(operation: Operation, target: Any) -> object:
    match operation.what:
        case "get":
            return target.value
        case "set":
            target.value = operation.value
        case "add":
            target.add(operation.value)
        case unknown:
            raise AssertionError(unknown)
    return None


OTHERS: dict[str, Callable[[Operation, Any], object]] = {
    "l": _on_list,
    "s": _on_set,
    "o": _on_object,
    "n": _on_counter,
}


def _shown(value: object) -> object:
    """Return what a play saw, without looking into containers."""
    if isinstance(value, Mapping):
        return "a dict"
    if isinstance(value, list | TList):
        return "a list"
    if isinstance(value, tuple):
        return tuple(map(_shown, value))
    return value
