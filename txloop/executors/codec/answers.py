"""Answers that can leave the process: errors and tracebacks, records, effects."""

from __future__ import annotations

import dataclasses
import logging
import pickle
import traceback
import types
from typing import TYPE_CHECKING

from txloop.executors.codec.frames import UNPICKLABLE, dumps
from txloop.executors.codec.packing import pack_outcome
from txloop.stm.callables import without_partials
from txloop.stm.container import Container
from txloop.stm.immutability import PLAIN
from txloop.stm.types import Answer, Effect, Outcome, Refusal, Trace
from txloop.stm.variables import Variables

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["RemoteTraceback", "found_by_name", "pack", "portable"]

_formatter = logging.Formatter()


class RemoteTraceback(Exception):
    """The cause of an error that was raised in a worker: its traceback, as text."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f"\n{self.text}"


def pack(answer: Answer) -> bytes:
    """Pickle an answer; a `Refusal` where it does not pickle.

    The attempt changed nothing, so its call can simply run again on the loop thread.
    """
    if isinstance(answer, Outcome):
        return _pack_outcome(answer)
    try:
        return dumps(answer)
    except UNPICKLABLE as error:
        reason = f"a key that it waits for does not pickle ({error})"
        return dumps(Refusal(reason, trace=_bare(answer.trace)))


def _pack_outcome(outcome: Outcome) -> bytes:
    for effect in outcome.effects:
        if not found_by_name(effect.function):
            kind = type(effect.function).__qualname__
            name = getattr(effect.function, "__qualname__", kind)
            reason = f"its effect {name} is not a function that can be found by name"
            trace = _bare(outcome.trace, effect)
            return dumps(Refusal(f"{reason} ({effect.origin})", trace=trace))
    for record in outcome.records:
        portable(record)
    if outcome.error is not None:
        failure = _Failure(outcome.error)
        outcome = dataclasses.replace(outcome, error=failure)  # type: ignore[arg-type] # unpickles as the error
    try:
        return pack_outcome(outcome)
    except MemoryError as error:
        return dumps(_without_memory(outcome, error))
    except UNPICKLABLE as error:
        reason = f"its {_culprit(outcome)} does not pickle ({error})"
        return dumps(Refusal(reason, trace=_bare(outcome.trace)))


def _bare(trace: Trace | None, effect: Effect | None = None) -> Trace | None:
    """Return a trace without cells, whose keys may not pickle, and where it stopped."""
    if trace is None:
        return None
    stop = None
    if effect is not None:
        file, _, line = effect.origin.removeprefix('File "').rpartition('", line ')
        stop = file, int(line), "?"
    return Trace(*trace[:3], stop=stop)


def _without_memory(outcome: Outcome, error: MemoryError) -> Outcome:
    """Return what is left of an outcome that is too large for this process."""
    # Nor would there be room for it where the loop runs.
    return dataclasses.replace(
        outcome,
        value=None,
        error=_Failure(error),  # type: ignore[arg-type] # unpickles as the error
        writes=(),
        effects=(),
        records=(),
    )


def _culprit(outcome: Outcome) -> str:
    parts = {
        "result": outcome.value,
        "exception": outcome.error,
        "effect's argument": outcome.effects,
        "log record": outcome.records,
    }
    return next((what for what in parts if not _pickles(parts[what])), "shared value")


def found_by_name(function: Callable[..., object]) -> bool:
    """Tell whether a function is the same one wherever it is unpickled."""
    # By value it would run on a copy of what it refers to, in silence.
    function = without_partials(function)
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


def portable(record: logging.LogRecord) -> None:
    """Make a record one that pickles."""
    if not _pickles((record.msg, record.args)):
        try:
            record.msg, record.args = record.getMessage(), ()
        except Exception:  # they do not fit; the program's handlers will say so
            record.args = (repr(record.args),)
    if record.exc_info:
        if not record.exc_text:
            record.exc_text = _formatter.formatException(record.exc_info)
        text = f"{record.exc_text}".rstrip()
        record.exc_info = _Raised(record.exc_info[1], text)  # type: ignore[assignment] # unpickles as such a tuple
    for name, value in list(vars(record).items()):
        if type(value) not in PLAIN and not isinstance(value, _Raised | Variables):
            try:
                pickle.dumps(value)
            except UNPICKLABLE:
                setattr(record, name, repr(value))


class _Raised:
    """Pickles as an exception and unpickles as a record's `exc_info` of it."""

    def __init__(self, error: BaseException | None, text: str) -> None:
        self.error = error
        self.text = text  # its traceback

    def __reduce__(self) -> tuple[object, ...]:
        failure = None if self.error is None else _Failure(self.error, self.text)
        return _exc_info, (failure,)


def _exc_info(error: BaseException | None) -> tuple[object, ...]:
    return (type(error), error, None) if error is not None else (None, None, None)


class _Failure:
    """Pickles as an error and unpickles as the same error with its remote traceback."""

    def __init__(self, error: BaseException, text: str | None = None) -> None:
        self.error = error
        self.text = text  # that traceback; None if it has to be made

    def __reduce__(self) -> tuple[object, ...]:
        error, text = self.error, self.text
        if text is None:
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
