"""Calls and answers as bytes: marshalled where they have a plain form, else pickled."""

from __future__ import annotations

import marshal
import operator
from typing import TYPE_CHECKING, Any, Final

from txloop.executors.codec.frames import GarbledError, dumps, loads
from txloop.executors.codec.plain_forms import form_named, form_of
from txloop.stm.immutability import PLAIN
from txloop.stm.types import Call, Outcome

if TYPE_CHECKING:
    from txloop.executors.codec.contexts import Base

__all__ = [
    "ANY_PLACE",
    "is_pickled",
    "pack_call",
    "pack_marshalled",
    "pack_outcome",
    "pack_plain",
    "unpack_answer",
    "unpack_call",
    "unpack_plain",
]

ANY_PLACE: Final = -1
"""In the place of a worker's number: of the one that will run it."""

_PICKLED = b"\x80"  # how a pickle begins, and nothing that is marshalled

# What is pickled of an outcome that has a plain value, and what it is mostly.
_found = operator.attrgetter(
    "values", "presences", "writes", "effects", "records", "files"
)
_NOTHING = _found(Outcome(0))


def is_pickled(body: bytes) -> bool:
    """Tell whether something was pickled; else it was marshalled."""
    return body.startswith(_PICKLED)


def pack_plain(parts: tuple[object, ...]) -> bytes:
    """Pack what is plain, of any size."""
    packed = pack_marshalled(parts)
    return dumps(parts) if packed is None else packed


def unpack_plain(body: bytes) -> Any:
    """Undo `pack_plain`.

    Raises:
        GarbledError: if it was not packed so.
    """
    return loads(body) if is_pickled(body) else _unmarshalled(body)


def pack_call(call: Call, place: int, base: Base) -> bytes:
    """Pack what a worker has to know of a call.

    Args:
        call: The call.
        place: The worker's number, if the call is traced, `ANY_PLACE` if that is not
            known yet; else 0.
        base: The context that the worker has inherited.

    Raises:
        UNPICKLABLE: if something in it does not pickle.
    """
    if call.packed is not None:
        return call.packed
    context = base.difference(call.context)
    flags = call.watched, call.guarded
    rest = call.ordered, call.waited_seconds, place, flags, context
    form = form_of(call.function)
    if form is not None and not (call.kwargs or call.commits_on):
        plain = form.flatten(call.args)
        if plain is not None:
            packed = pack_marshalled((form.name, plain, rest))
            if packed is not None:
                return packed
    return dumps((call.function, call.args, call.kwargs, call.commits_on, rest))


def unpack_call(payload: bytes, base: Base) -> tuple[Call, int]:
    """Return a call, as far as a worker has to know it, and the worker's number."""
    if is_pickled(payload):
        function, args, kwargs, commits_on, rest = loads(payload)
    else:
        name, plain, rest = _unmarshalled(payload)
        function, args = form_named(name).restore(plain)
        kwargs, commits_on = {}, ()
    ordered, waited_seconds, place, (watched, guarded), context = rest
    call = Call(
        function,
        args,
        kwargs,
        "",
        ordered,
        commits_on,
        waited_seconds,
        traced=bool(place),
        watched=watched,
        guarded=guarded,
        context=base.restored(None if context is None else loads(context)),
    )
    return call, place


def pack_outcome(outcome: Outcome) -> bytes:
    """Pack an outcome.

    Raises:
        UNPICKLABLE: if something in it does not pickle.
    """
    packed = None
    if outcome.error is None and outcome.trace is None:
        packed = _packed_in_parts(outcome)
    return dumps(outcome) if packed is None else packed


def _packed_in_parts(outcome: Outcome) -> bytes | None:
    """Marshal the value, and pickle the rest; None where the value is not plain."""
    name, value = "", outcome.value
    if type(value) not in PLAIN:
        form = form_of(type(value))
        if form is None:
            return None
        name, value = form.name, form.flatten(value)
        if value is None:
            return None
    found = _found(outcome)
    pickled = dumps(found) if any(found) else None
    run = outcome.snapshot, outcome.body_seconds, outcome.error_answered
    return pack_marshalled((name, value, pickled, run))


def unpack_answer(body: bytes) -> Any:
    """Return what a worker answered, packed by `pack_outcome` or pickled.

    Raises:
        GarbledError: if it is neither.
        Exception: whatever the classes of the program raise when they are unpickled.
    """
    if is_pickled(body):
        return loads(body)
    match _unmarshalled(body):
        case name, value, pickled, (snapshot, body_seconds, error_answered):
            if name:
                value = form_named(name).restore(value)
        case other:
            raise GarbledError(f"{other!r} is no answer")
    found = _NOTHING if pickled is None else loads(pickled)
    values, presences, writes, effects, records, files = found
    return Outcome(
        snapshot,
        value,
        None,
        values,
        presences,
        writes,
        effects,
        records,
        body_seconds,
        error_answered,
        files=files,
    )


def pack_marshalled(parts: object) -> bytes | None:
    """Pack what is plain; None if it is too large, or not as plain as it looked."""
    try:
        return marshal.dumps(parts)  # type: ignore[arg-type] # plain, as far as known
    except ValueError:
        return None


def _unmarshalled(body: bytes) -> Any:
    try:
        return marshal.loads(body)
    except (EOFError, TypeError, ValueError) as error:
        raise GarbledError(f"it does not unmarshal ({error!r})") from None
