"""Contexts on their way to a worker: what is the same there does not travel."""

from __future__ import annotations

import contextvars
import decimal
import pickle
import sys
import threading
import types
from typing import Any

import pytest

from txloop.executors.codec.contexts import Base
from txloop.stm.variables import DECIMAL, own_decimals

named: contextvars.ContextVar[object] = contextvars.ContextVar("named")
other: contextvars.ContextVar[object] = contextvars.ContextVar("other")


def unnamed(name="unnamed"):
    """Return a variable that no module knows."""
    variable: contextvars.ContextVar[Any] = contextvars.ContextVar(name)
    return variable


def context_of(*pairs):
    context = contextvars.Context()
    for variable, value in pairs:
        context.run(variable.set, value)
    return context


def base_of(context):
    """Return a base as it is when workers are forked."""
    base = Base()
    base.capture(context)
    return base


def travelled(base, context):
    """Return what a worker makes of a context, and how many bytes that took."""
    sent = base.difference(context)
    restored = base.restored(None if sent is None else pickle.loads(sent))
    assert restored is not base.context
    return dict(restored), 0 if sent is None else len(sent)


def test_what_was_there_at_the_fork_does_not_travel():
    # GIVEN values that cannot change, one of them without a pickle
    hidden, function = unnamed(), unnamed("function")
    context = context_of((hidden, ("text", 1)), (named, 2.5), (function, lambda: 1))

    # WHEN
    found, length = travelled(base_of(context), context.copy())

    # THEN
    assert (dict(context), 0) == (found, length)


def test_a_new_value_travels_with_its_number_or_its_name():
    hidden = unnamed()
    base = base_of(context_of((hidden, "before")))
    context = context_of((hidden, "after"), (named, "new"))

    assert {hidden: "after", named: "new"} == travelled(base, context)[0]


def test_a_value_that_may_have_changed_travels_each_time():
    # GIVEN
    hidden, values = unnamed(), [1]
    context = context_of((hidden, values))
    base = base_of(context)

    # WHEN
    values.append(2)
    sent = base.difference(context)
    assert sent is not None
    values.append(3)  # as if here were another process

    # THEN
    assert [1, 2] == base.restored(pickle.loads(sent))[hidden]


def test_what_is_not_set_in_a_call_is_not_set_there():
    hidden = unnamed()
    base = base_of(context_of((hidden, 1), (named, 2), (other, 3)))

    assert {other: 3} == travelled(base, context_of((other, 3)))[0]
    assert {} == travelled(base, contextvars.Context())[0]


def test_what_was_set_where_it_arrives_stays():
    """As by a start hook."""
    base = base_of(context_of((named, 1)))
    base.context.run(other.set, "hook")

    assert {named: 1, other: "hook"} == dict(base.restored(None))
    assert {named: 2, other: "hook"} == dict(base.restored(([], {0: 2}, {})))
    assert {other: "hook"} == dict(base.restored(([0], {}, {})))


def test_a_variable_that_has_neither_number_nor_name_is_refused():
    with pytest.raises(TypeError, match="variable 'late' is no module global"):
        Base().difference(context_of((unnamed("late"), 1)))


def test_a_value_that_does_not_pickle_is_refused():
    context = context_of((named, threading.Lock()))

    with pytest.raises(TypeError, match=r"value of a context variable, .*lock"):
        base_of(context).difference(context)


# Decimal


def decimals_of(context):
    return context.run(decimal.getcontext)


def test_the_same_decimals_do_not_travel():
    context = contextvars.Context()
    decimals_of(context).prec = 6
    base = base_of(context)

    assert base.difference(context) is None
    decimals_of(context).flags[decimal.Inexact] = True
    assert base.difference(context) is None
    assert 6 == decimals_of(base.restored(None)).prec


@pytest.mark.parametrize(
    "change",
    [
        {"prec": 7},
        {"rounding": decimal.ROUND_UP},
        {"Emax": 99},
        {"capitals": 0},
        {"clamp": 1},
    ],
)
def test_decimals_that_were_changed_travel(change):
    # GIVEN
    context = contextvars.Context()
    base = base_of(context_of((named, 1)))
    decimals_of(context)
    late = base_of(context)

    # WHEN
    for name, value in change.items():
        setattr(decimals_of(context), name, value)

    # THEN whether there were any at the fork or not
    for one in (base, late):
        sent = one.difference(context)
        assert sent is not None
        found = decimals_of(one.restored(pickle.loads(sent)))
        assert change == {name: getattr(found, name) for name in change}


def test_traps_travel_too():
    context = contextvars.Context()
    base = base_of(context)
    decimals_of(context).traps[decimal.Inexact] = True

    sent = base.difference(context)

    assert sent is not None
    found = decimals_of(base.restored(pickle.loads(sent)))
    assert found.traps[decimal.Inexact]


def test_an_attempt_has_decimals_of_its_own():
    # GIVEN
    context = contextvars.Context()
    shared = decimals_of(context)
    shared.prec = 6
    mine = context.copy()
    own = own_decimals(mine)
    assert own is not None

    # WHEN
    mine.run(decimal.setcontext, decimal.Context(prec=3))
    assert not own.changed

    # THEN
    again = context.copy()
    own = own_decimals(again)
    assert own is not None
    decimals_of(again).prec = 9
    assert own.changed
    assert 6 == shared.prec


def test_what_nobody_shares_is_left_alone():
    context = contextvars.Context()

    assert own_decimals(context) is None
    assert DECIMAL is not None


# Numpy


class Pointer:
    """As what numpy keeps: it does not pickle."""

    def __init__(self, errors):
        self.errors = errors

    def __reduce__(self):
        raise TypeError("cannot pickle a pointer")


@pytest.fixture
def numpy(monkeypatch):
    """Give a stand-in for a module that not everybody has."""
    numpy: Any = types.ModuleType("numpy")
    state = unnamed("numpy.ufunc.extobj")
    numpy.state = state
    numpy.geterr = lambda: dict(state.get().errors)
    numpy.seterr = lambda **errors: state.set(Pointer(errors))
    numpy.getbufsize = lambda: 8192
    numpy.setbufsize = lambda size: None
    numpy.geterrcall = lambda: None
    numpy.seterrcall = lambda call: None
    monkeypatch.setitem(sys.modules, "numpy", numpy)
    return numpy


def test_the_errors_of_numpy_do_not_travel_if_they_are_the_same(numpy):
    context = contextvars.Context()
    context.run(numpy.seterr, all="raise")
    base = base_of(context)

    assert base.difference(context) is None
    assert {"all": "raise"} == base.restored(None).run(numpy.geterr)


def test_the_errors_of_numpy_travel_by_value(numpy):
    context = contextvars.Context()
    context.run(numpy.seterr, all="raise")
    early, late = Base(), base_of(context)
    context.run(numpy.seterr, all="warn")

    for base in (early, late):
        sent = base.difference(context)
        assert sent is not None
        assert {"all": "warn"} == base.restored(pickle.loads(sent)).run(numpy.geterr)
