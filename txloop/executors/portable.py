"""Outcomes that can leave the process: errors and tracebacks, records, effects."""

from __future__ import annotations

import dataclasses
import functools
import logging
import pickle
import traceback
import types
from typing import TYPE_CHECKING

from txloop.executors.wire import UNPICKLABLE, dumps
from txloop.store import Container
from txloop.types import Outcome, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["RemoteTraceback", "pack"]

_formatter = logging.Formatter()


class RemoteTraceback(Exception):
    """The cause of an error that was raised in a worker: its traceback, as text."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f"\n{self.text}"


def pack(outcome: Outcome) -> bytes:
    """Pickle an outcome; a `Refusal` where it does not pickle.

    The attempt changed nothing, so its call can simply run again on the loop thread.
    """
    for effect in outcome.effects:
        if not _found_by_name(effect.function):
            name = getattr(effect.function, "__qualname__", repr(effect.function))
            reason = f"its effect {name} is not a function that can be found by name"
            return dumps(Refusal(f"{reason} ({effect.origin})"))
    for record in outcome.records:
        _make_portable(record)
    if outcome.error is not None:
        failure = _Failure(outcome.error)
        outcome = dataclasses.replace(outcome, error=failure)  # type: ignore[arg-type] # unpickles as the error
    try:
        return dumps(outcome)
    except UNPICKLABLE as error:
        return dumps(Refusal(f"its {_culprit(outcome)} does not pickle ({error})"))


def _culprit(outcome: Outcome) -> str:
    parts = {
        "result": outcome.value,
        "exception": outcome.error,
        "effect's argument": outcome.effects,
    }
    return next((what for what in parts if not _pickles(parts[what])), "shared value")


def _found_by_name(function: Callable[..., object]) -> bool:
    # By value it would run on a copy of what it refers to, in silence.
    if isinstance(function, functools.partial):
        return _found_by_name(function.func)
    if not hasattr(function, "__qualname__"):
        return False  # an object that can be called
    owner = getattr(function, "__self__", None)
    if isinstance(owner, Container):
        return True
    if not isinstance(owner, types.ModuleType | type | None):
        return False
    try:
        pickle.dumps(function)
    except UNPICKLABLE:
        return False
    return True


def _make_portable(record: logging.LogRecord) -> None:
    try:
        record.msg, record.args = record.getMessage(), None
    except Exception:  # they do not fit each other; the program's handlers will say so
        record.args = (repr(record.args),)
    if record.exc_info:
        if not record.exc_text:
            record.exc_text = _formatter.formatException(record.exc_info)
        record.exc_info = None
    for name, value in list(vars(record).items()):
        try:
            pickle.dumps(value)
        except UNPICKLABLE:
            setattr(record, name, repr(value))


class _Failure:
    """Pickles as an error and unpickles as the same error with its remote traceback."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __reduce__(self) -> tuple[object, ...]:
        error = self.error
        text = "".join(traceback.format_exception(error)).rstrip()
        try:
            body = dumps(error)
            # HTTPError and others pickle well and then fail to unpickle, or change.
            if repr(pickle.loads(body)) != repr(error):
                raise TypeError(f"{error!r} changes when pickled")
        except Exception:  # whatever the program's own __reduce__ and __init__ raise
            attributes = {
                name: value for name, value in vars(error).items() if _pickles(value)
            }
            arguments = tuple(
                value if _pickles(value) else repr(value) for value in error.args
            )
            return _rebuild, (type(error), arguments, attributes, text)
        return _restore, (body, text)


def _pickles(value: object) -> bool:
    try:
        dumps(value)
    except UNPICKLABLE:
        return False
    return True


def _restore(body: bytes, text: str) -> BaseException:
    error: BaseException = pickle.loads(body)
    error.__cause__ = RemoteTraceback(text)
    return error


def _rebuild(
    kind: type[BaseException],
    arguments: tuple[object, ...],
    attributes: dict[str, object],
    text: str,
) -> BaseException:
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    vars(error).update(attributes)
    error.__cause__ = RemoteTraceback(text)
    return error
