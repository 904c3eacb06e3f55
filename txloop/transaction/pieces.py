"""Pieces of work, what each could change that is not shared, and how a chunk runs.

A piece is one transaction of the program: a function with its arguments. Several that
are short travel as one chunk, which is one transaction: as pieces have no order, that
equals running them one after another. A chunk with trouble changes nothing and says
where the trouble is.
"""

from __future__ import annotations

import enum
import functools
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from txloop.errors import BecomeInevitable, Retrying, TxInternalError
from txloop.executors.codec.answers import found_by_name
from txloop.stm.attempt import Attempt, current
from txloop.stm.callables import contents_of, layers, name_of
from txloop.stm.container import Container
from txloop.stm.immutability import CONSTANTS, PLAIN
from txloop.stm.measuring import BodyTimer
from txloop.watch import ROOTS_OF, Given, Roots, roots_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Hindrance", "Piece", "Report", "is_immutable", "peeled", "run_pieces"]

_IMMUTABLE = (*CONSTANTS, enum.Enum, type, types.ModuleType, Container)

_CALLABLE = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    functools.partial,
)

_MOST_PARTS = 100  # that are looked at, of a tuple


class Hindrance(str):
    """Why a piece cannot run in a worker, as the user is told."""

    __slots__ = ()


class Piece(NamedTuple):
    """A call that is to be made as a transaction of its own."""

    function: Callable[..., object]
    args: tuple[object, ...]
    kwargs: Mapping[str, object]

    def run(self) -> None:
        """Make the call; what it returns is dropped."""
        self.function(*self.args, **self.kwargs)

    @property
    def given(self) -> list[object]:
        """What the function holds and is given, in order."""
        return [*things_of(self.function), *self.args, *self.kwargs.values()]


@dataclass(frozen=True, slots=True)
class Report:
    """How a chunk went.

    Attributes:
        executed: How many of its pieces ran to their end.
        seconds: How long they took together.
        stopped: Whether nothing of it counts: the piece after those executed has
            raised or retried, or must run alone.
        retries: Whether that piece retried.
    """

    executed: int
    seconds: float = 0.0
    stopped: bool = False
    retries: bool = False


def run_pieces(pieces: tuple[Piece, ...], watched: bool) -> Report:
    """Run a chunk inside an attempt, which it is the body of.

    A single piece raises and retries as it does by itself.

    Args:
        pieces: What to run.
        watched: Whether they are given mutable objects, which they may not change
            where they have copies.
    """
    attempt = current()
    if attempt is None:
        raise TxInternalError("a chunk runs outside of a transaction")
    if len(pieces) == 1:
        timer = BodyTimer()
        _run(pieces[0], attempt, watched)
        return Report(1, timer.seconds())
    if not attempt.speculative:  # nothing can be undone on the loop thread
        return Report(0, stopped=True)
    timer = BodyTimer()
    for index, piece in enumerate(pieces):
        try:
            _run(piece, attempt, watched)
            if attempt.retrying:  # even if it caught Retrying
                raise Retrying
        except BecomeInevitable:
            raise
        except BaseException:  # the piece raises it again when it runs alone
            retries = attempt.retrying
            _undo(attempt)
            return Report(index, timer.seconds(), stopped=True, retries=retries)
    return Report(len(pieces), timer.seconds())


def _roots_of_pieces(pieces: tuple[Piece, ...], *_: object) -> Roots:
    """Return what a chunk really runs: all of its pieces have one function."""
    return roots_of(pieces[0].function, pieces[0].args)


setattr(run_pieces, ROOTS_OF, _roots_of_pieces)


def _undo(attempt: Attempt) -> None:
    """Undo all that the attempt has done; what it has read stays."""
    attempt.roll_back()
    attempt.records.clear()
    attempt.retrying = False
    attempt.patience_seconds = None


def _run(piece: Piece, attempt: Attempt, watched: bool) -> None:
    if not (watched and attempt.speculative):
        piece.run()
        return
    before = Given([("an object that it was given", one) for one in piece.given])
    try:
        piece.run()
    finally:
        label = name_of(piece.function)
        if before.change() is not None:
            reason = f"{label} changes an object that it was given, of which a worker"
            attempt.abandon(Hindrance(f"{reason} has a copy"))
        if not all(found_by_name(effect.function) for effect in attempt.effects):
            reason = f"an effect of {label} may change what a worker has copies of"
            attempt.abandon(Hindrance(reason))


class Peeled(NamedTuple):
    """A callable without the partials and methods around it.

    Attributes:
        bare: The function itself, or an object that can be called.
        owner: The object whose method it is, or None.
        things: What all of them hold.
    """

    bare: object
    owner: object
    things: list[object]


def peeled(function: Callable[..., object]) -> Peeled:
    """Return the function inside of partials and methods, and what those hold."""
    things: list[object] = []
    *around, bare = layers(function)
    owner: object = None
    for layer in around:
        if isinstance(layer, functools.partial):
            things += [*layer.args, *layer.keywords.values()]
        else:
            owner = layer.__self__
            things.append(owner)
    if isinstance(bare, types.BuiltinFunctionType | types.MethodWrapperType):
        owner = bare.__self__
        things.append(owner)
    return Peeled(bare, owner, things)


def things_of(function: Callable[..., object]) -> list[object]:
    """Return the objects that a callable holds and could change when it is called."""
    bare, _, things = peeled(function)
    if isinstance(bare, types.FunctionType):
        around = contents_of(bare).values()
        return [*things, *(thing for thing in around if thing is not bare)]
    if isinstance(bare, types.BuiltinFunctionType | types.MethodWrapperType):
        return things
    return [*things, bare]  # an object that can be called


def is_immutable(thing: object, _around: tuple[object, ...] = ()) -> bool:
    """Tell whether a copy of it, in another process, is as good as the original.

    So is what refers to shared state: containers, and what is made of them. False
    where that would take long to find out.
    """
    if type(thing) in PLAIN or isinstance(thing, _IMMUTABLE) or _is_ours(thing):
        return True
    if isinstance(thing, tuple | frozenset):
        return len(thing) <= _MOST_PARTS and all(
            is_immutable(part, _around) for part in thing
        )
    if isinstance(thing, _CALLABLE):
        if any(thing is one for one in _around):
            return True
        around = (*_around, thing)
        return all(is_immutable(part, around) for part in things_of(thing))
    return False


def _is_ours(thing: object) -> bool:
    return type(thing).__module__.partition(".")[0] == "txloop"
