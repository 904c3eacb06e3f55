"""Values of cells, as plain data: what `plain_cells` is made of.

A container travels as its number and the name of its class, an operation as its name
and its arguments, a date or a decimal number as a pickle of its own. Each is a tuple
that begins as no plain one does.
"""

from __future__ import annotations

import datetime
import pickle
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from txloop.executors.codec.plain_forms import is_plain
from txloop.stm.container import Container, Operation, refer, refer_with
from txloop.stm.immutability import PLAIN
from txloop.stm.types import MISSING, Key

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "NotPlainError",
    "agree_on_kinds",
    "agreed_kinds",
    "container_of",
    "key_of",
    "plain_container",
    "plain_key",
    "plain_value",
    "value_of",
]

_THERE = ...  # in the place of the one key of a `TVar`, and of what deletes a key

# What stands for another of our keys, or for a value, is a tuple that begins so; no
# plain one does.
_OURS = ...

# The standard library's, which have no parts of the program's. No subclasses.
_PICKLED = frozenset({datetime.date, datetime.timedelta, Decimal, UUID})
_WITH_ZONE = frozenset({datetime.datetime, datetime.time})
_ZONES = frozenset({datetime.timezone, type(None)})


def agree_on_kinds() -> Mapping[str, type[Container]]:
    """Return all classes of containers that there are now, by name.

    Processes that are forked from this one from now on take these names for the same
    classes. What a function makes at each call has no name that would tell it from the
    last one.
    """
    global _agreed
    kinds = dict(Container._tx_kinds)
    _agreed = {name: kind for name, kind in kinds.items() if "<locals>" not in name}
    return _agreed


def agreed_kinds() -> Mapping[str, type[Container]]:
    """Return what the process that this one was forked from has agreed on."""
    return _agreed


_agreed: dict[str, type[Container]] = {}  # one object for each agreement


class NotPlainError(Exception):
    """Something has to be pickled with all that it is."""


def plain_key(key: object) -> object:
    """Return a cell's key as plain data.

    Raises:
        NotPlainError: if it has no such form.
    """
    if type(key) in PLAIN or (type(key) is tuple and is_plain(key)):
        return key
    if not isinstance(key, Key):
        raise NotPlainError
    return _THERE if key is Key.VALUE else (_OURS, key.value)


def key_of(plain: Any) -> Any:
    """Undo `plain_key`."""
    if plain is _THERE:
        return Key.VALUE
    if type(plain) is tuple and plain and plain[0] is _OURS:
        return Key(plain[1])
    return plain


def plain_value(value: Any, kinds: Mapping[str, type[Container]]) -> object:
    """Return what is stored, or done, as plain data.

    Args:
        value: A value, MISSING or an operation.
        kinds: The classes that are the same on the other side.

    Raises:
        NotPlainError: if it has no such form.
    """
    if value is MISSING:
        return _THERE
    if isinstance(value, Operation):
        return _plain_operation(value, kinds)
    return _plain_stored(value, kinds)


def value_of(plain: Any) -> Any:
    """Undo `plain_value`."""
    if plain is _THERE:
        return MISSING
    if type(plain) is not tuple or not plain or plain[0] is not _OURS:
        return plain
    what = plain[1]
    if type(what) is not str:
        return _stored(plain)
    operation = Operation.named[what](*plain[2])
    return operation.mapped(_stored) if plain[3] else operation


def _plain_operation(
    operation: Operation, kinds: Mapping[str, type[Container]]
) -> tuple[object, ...]:
    kind = type(operation)
    arguments = _arguments_of(operation)
    if is_plain(arguments):
        return _OURS, kind.__name__, arguments, False
    # What it stores is converted one by one; the rest of it has to be plain as it is.
    if not is_plain(_arguments_of(operation.mapped(_without))):
        raise NotPlainError
    converted = operation.mapped(lambda value: _plain_stored(value, kinds))
    return _OURS, kind.__name__, _arguments_of(converted), True


def _arguments_of(operation: Operation) -> tuple[object, ...]:
    kind = type(operation)
    if kind.__reduce__ is object.__reduce__:
        raise NotPlainError
    reduced: Any = operation.__reduce__()
    made, arguments = reduced
    if made is not kind:
        raise NotPlainError
    return arguments  # type: ignore[no-any-return] # by the protocol of pickle


def _without(_: object) -> None:
    """Stand for what an operation stores."""


def _plain_stored(value: Any, kinds: Mapping[str, type[Container]]) -> object:
    kind = type(value)
    if kind in PLAIN or (kind is tuple and is_plain(value)):
        return value
    if isinstance(value, Container):
        return plain_container(value, kinds)
    if kind in _PICKLED or (kind in _WITH_ZONE and type(value.tzinfo) in _ZONES):
        return _OURS, pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    raise NotPlainError


def _stored(plain: Any) -> Any:
    if type(plain) is not tuple or not plain or plain[0] is not _OURS:
        return plain
    if len(plain) == 2:
        return pickle.loads(plain[1])
    return container_of(plain)


def plain_container(
    container: Container, kinds: Mapping[str, type[Container]]
) -> tuple[object, ...]:
    """Return a container's number and class as plain data; see `plain_value`."""
    if container._tx_forgotten:
        raise NotPlainError
    kind = type(container)
    name = kind._tx_name()
    reduced: Any = container.__reduce__()
    made, (_, number, *slot) = reduced
    if kinds.get(name) is not kind:
        raise NotPlainError
    if made is not refer and not (made is refer_with and is_plain(slot)):
        raise NotPlainError
    return _OURS, number, name, *slot


def container_of(plain: tuple[Any, ...]) -> Container:
    """Undo `plain_container`; the container is an empty one where it was unknown.

    Raises:
        KeyError: if its class is none of those agreed on.
    """
    kind = _agreed[plain[2]]
    if len(plain) > 3:
        return refer_with(kind, plain[1], *plain[3:])
    return refer(kind, plain[1])
