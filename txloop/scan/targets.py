"""What an object runs that is called: a function, a method, or a `partial` of these."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING

from txloop.scan.live_objects import class_label, functions_of, has_type
from txloop.scan.member import class_value, member
from txloop.scan.value import Arguments, Bound, Family, Live, Value, shared
from txloop.stm.origin import is_own_function, own_module_of

if TYPE_CHECKING:
    from txloop.scan.walk import Walk


def target(
    walk: Walk, callee: Live, arguments: Arguments
) -> tuple[object, Value, Arguments]:
    """Return what a call of the object runs, and with which arguments.

    That is what a `partial` is one of, and the functions of this.
    """
    called = thing = callee.thing
    receiver = None
    for _ in range(32):  # partial of a method of a partial ..., each adds something
        if has_type(thing, partial):
            preset = (replace(callee, thing=each, slots=()) for each in thing.args)
            named = {
                name: replace(callee, thing=each, slots=())
                for name, each in thing.keywords.items()
            }
            arguments = Arguments(tuple(preset), named).before(arguments)
            called = thing = thing.func
        elif has_type(thing, MethodType):
            receiver = _owner(thing.__self__)
            thing = thing.__func__
        else:
            break
    functions = functions_of(thing)
    if not functions and own_module_of(type(thing)) is not None:
        found = member(replace(callee, thing=thing), "__call__", walk.sources)
        return called, found, arguments
    return called, Bound(functions, receiver), arguments


def bound_to(given: Arguments) -> Bound | None:
    """Return the `partial` of a function of the program; None for any other."""
    function, *preset = given.positional or (None,)
    if isinstance(function, Live) and is_own_code(function):
        function = Bound(functions_of(function.thing), None)
    if not (isinstance(function, Bound) and is_own_code(function)):
        return None
    more = replace(given, positional=tuple(preset))
    return replace(function, preset=function.preset.before(more))


def _owner(thing: object) -> Value:
    """Return the value of the object whose bound method is called."""
    if has_type(thing, type):
        return class_value(thing)
    return shared(thing, class_label(type(thing)), Family.GLOBAL)


def is_own_code(value: Value) -> bool:
    """Tell whether it is a function of the program's."""
    if isinstance(value, Bound):
        return any(map(is_own_function, value.functions))
    return (
        isinstance(value, Live)
        and has_type(value.thing, FunctionType)
        and is_own_function(value.thing)
    )
