"""Context variables that travel, by name."""

from __future__ import annotations

import contextvars
import decimal
import pickle

import pytest

from txloop.stm.variables import named, set_all

user: contextvars.ContextVar[str] = contextvars.ContextVar("user")
zone: contextvars.ContextVar[object] = contextvars.ContextVar("not the global's name")

EMPTY = contextvars.Context()
USER, ZONE = (__name__, "user"), (__name__, "zone")


def context_of(**values):
    context = contextvars.Context()
    for name, value in values.items():
        context.run(globals()[name].set, value)
    return context


def test_values_are_named_by_module_and_global():
    assert {USER: "me", ZONE: 5} == named(context_of(user="me", zone=5), EMPTY)


def test_only_what_has_changed_is_named():
    before = context_of(user="me", zone=5)
    after = before.copy()
    after.run(zone.set, 6)

    assert {ZONE: 6} == named(after, before)
    assert {} == named(before, before)


def test_a_value_that_was_not_set_before_has_changed():
    assert {USER: "me"} == named(context_of(user="me"), context_of(zone=1))


def test_values_can_be_set_in_a_context():
    context = context_of(user="me")
    context.run(set_all, {USER: "you"})

    assert "you" == context[user]


def test_a_variable_that_is_no_global_has_no_name():
    hidden: contextvars.ContextVar[int] = contextvars.ContextVar("hidden")
    context = contextvars.Context()
    context.run(hidden.set, 1)

    with pytest.raises(TypeError, match="variable 'hidden' is no module global"):
        named(context, EMPTY)


def test_the_context_of_decimal_has_a_name_of_its_own():
    context = contextvars.Context()
    context.run(decimal.setcontext, decimal.Context(prec=5))
    other = contextvars.Context()

    found = named(context, EMPTY)
    other.run(set_all, pickle.loads(pickle.dumps(found)))

    assert 5 == other.run(decimal.getcontext).prec
