"""TVar without a loop: one shared value."""

from __future__ import annotations

import copy
import typing

import pytest

from txloop import TVar


def test_a_variable_holds_a_value():
    # GIVEN
    variable = TVar(1)

    # WHEN
    variable.set(variable.get() + 1)
    variable.value += 1

    # THEN
    assert (3, 3) == (variable.get(), variable.value)
    assert "TVar(3)" == repr(variable)


def test_variables_compare_by_identity():
    variable = TVar(1)

    assert variable != TVar(1)
    assert {variable} == {variable, variable}


def test_a_variable_can_be_a_subclass():
    class Counter(TVar[int]):
        def add(self):
            self.value += 1

    counter = Counter(1)
    counter.add()

    assert "Counter(2)" == repr(counter)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_refers_to_the_same_state(copied):
    variable = TVar(1)

    assert variable is copied(variable)


def typed(variable: TVar[int]) -> int:
    """Use its types, which mypy checks."""
    total: int = variable.get() + variable.value
    return total


def test_it_is_generic():
    variable: TVar[int] = TVar[int](1)

    assert TVar[int] == typing.get_type_hints(typed)["variable"]
    assert 2 == typed(variable)
