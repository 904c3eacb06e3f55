"""What a callable is under its partials and methods."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, cast

import pytest

from txloop.stm.callables import (
    contents_of,
    is_found_by_name,
    layers,
    name_of,
    without_partials,
)

if TYPE_CHECKING:
    from types import FunctionType


class Counter:
    def add(self, number: int) -> int:
        return number

    def __call__(self) -> None:
        """Do nothing."""


def plain() -> None:
    """Do nothing."""


def test_layers_lead_through_partials_and_methods():
    method = Counter().add
    once = functools.partial(method, 1)
    twice = functools.partial(functools.partial(once), number=2)

    found = list(layers(twice))

    # A partial of a partial is one, with the arguments of both.
    assert [twice, method, Counter.add] == found


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (plain, "plain"),
        (Counter().add, "Counter.add"),
        (functools.partial(plain), "plain"),
        (functools.partial(Counter().add, 7), "Counter.add"),
        (Counter(), "Counter"),
    ],
)
def test_a_name_shows_no_arguments(function, name):
    assert name == name_of(function)


def test_a_method_is_no_partial():
    method = Counter().add

    assert method == without_partials(functools.partial(method, 1))


def test_what_is_around_a_function_is_told_as_far_as_it_is_assigned():
    number = 1

    def inner() -> object:
        return number, later

    function = cast("FunctionType", inner)  # as all that `def` makes
    before = contents_of(function)
    later = 2

    assert {"number": 1} == before
    assert {"number": 1, "later": 2} == contents_of(function)


def test_only_what_its_name_leads_to_is_found():
    def inner() -> None:
        """Do nothing."""

    assert (True, True, False) == (
        is_found_by_name(plain),
        is_found_by_name(Counter.add),
        is_found_by_name(inner),
    )
