"""What a call for another thread shares with its maker, and what it gets as a copy."""

from __future__ import annotations

import functools
import threading
from typing import Any

import pytest

from txloop import TDict, TVar
from txloop.executors.threads.isolation import isolated, opened
from txloop.stm.types import Call, Refusal

ITEMS = [1]
SHARED = TDict(n=1)


def closure_over(thing):
    return lambda: thing


class Private:
    __txloop_private__ = True


def is_shared(thing):
    """Tell whether a run gets the very same thing."""
    call = Call(id, (thing,), {"key": thing})
    run = opened(isolated(call))
    assert isinstance(run, Call)
    (got,) = run.args
    assert (got is thing) == (run.kwargs["key"] is thing)
    return got is thing


CONSTANT: dict[str, Any] = {
    "number": 10**20,
    "text": "a",
    "nothing": None,
    "class": dict,
    "container": SHARED,
    "tuple": (1, ("a", SHARED)),
    "function": is_shared,
    "method of a container": SHARED.get,
    "builtin": len,
    "closure": closure_over((1, SHARED)),
    "partial": functools.partial(is_shared, thing=SHARED),
    "private": Private(),
}
CHANGEABLE: dict[str, Any] = {
    "list": [1],
    "dict": {},
    "in a tuple": (1, [2]),
    "closure": closure_over([1]),
    "method of a list": [1].append,
    "partial": functools.partial(len, [1]),
    "deep": (((((1,),),),),),
    "bytearray": bytearray(b"a"),
}


@pytest.mark.parametrize("thing", CONSTANT.values(), ids=CONSTANT)
def test_what_cannot_change_is_shared(thing):
    assert is_shared(thing)


@pytest.mark.parametrize("thing", CHANGEABLE.values(), ids=CHANGEABLE)
def test_what_can_change_is_copied(thing):
    assert not is_shared(thing)


def test_each_run_gets_a_copy_of_its_own_as_it_was_at_first():
    # GIVEN
    items = [1]
    sent = isolated(Call(len, (items, items), label="label"))

    # WHEN
    items.append(2)
    first, second = opened(sent), opened(sent)

    # THEN
    assert isinstance(first, Call)
    assert isinstance(second, Call)
    assert ([1], [1]) == first.args == second.args
    assert first.args[0] is first.args[1]
    assert first.args[0] is not second.args[0]
    assert (len, "label") == (first.function, first.label)


def test_a_container_in_a_copy_is_the_same_one():
    # GIVEN
    variable = TVar(1)

    # WHEN
    call = opened(isolated(Call(len, ([variable],))))

    # THEN
    assert isinstance(call, Call)
    assert call.args == ([variable],)


def test_a_function_whose_variable_is_not_set_yet_is_copied():
    # GIVEN
    def function():
        return later

    call = isolated(Call(function))
    later = [1]

    # THEN
    assert call.function is not function
    assert function() is later


def test_what_can_change_and_not_be_copied_is_refused():
    with pytest.raises(TypeError, match="cannot pickle"):
        isolated(Call(len, (threading.Lock(),)))


class Rude:
    """Cannot be made again."""

    def __reduce__(self):
        return refuse, ()


def refuse():
    raise LookupError("rude")


def test_a_copy_that_cannot_be_opened_refuses_the_run():
    refusal = opened(isolated(Call(len, (Rude(),))))

    assert isinstance(refusal, Refusal)
    assert "its arguments cannot be copied (LookupError('rude'))" == refusal.reason


def test_what_is_packed_says_so_when_it_is_called():
    with pytest.raises(TypeError, match="unpack it by opened"):
        isolated(Call(len, ([],))).function()
