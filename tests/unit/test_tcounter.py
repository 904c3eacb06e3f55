"""TCounter without a loop: a number that is added to."""

from __future__ import annotations

import copy
import decimal
import fractions
import math
import pickle

import pytest

from tests.comparing import attempted
from tests.naming import shown
from txloop import TCounter, TxForgottenError, TxValueError
from txloop.stm.store import committed


def test_it_counts():
    # GIVEN
    hits = TCounter()

    # WHEN
    hits.add()
    hits.add(-3)
    hits += 10
    hits -= 1

    # THEN
    assert 7 == hits.value
    assert "TCounter(7)" == repr(hits)
    assert (7, 7.0, True) == (int(hits), float(hits), bool(hits))


@pytest.mark.parametrize("number", [2, 2.5, True, fractions.Fraction(1, 2)])
def test_it_takes_real_numbers(number):
    # GIVEN
    counter = TCounter(number)

    # WHEN
    counter.add(1)
    counter.add(0.5)

    # THEN
    assert number + 1.5 == counter


@pytest.mark.parametrize("what", ["1", None, 1j, decimal.Decimal(1), [1]], ids=shown)
def test_what_cannot_be_added_to_every_other_is_refused(what):
    """It would fail at the commit, where there is nobody to tell."""
    # GIVEN
    counter = TCounter(1.5)

    # THEN
    for change in (TCounter, counter.add, counter.__iadd__):
        with pytest.raises(TxValueError, match=r"^a TCounter counts in real numbers, "):
            change(what)
    with pytest.raises(TxValueError):
        counter.value = what
    assert 1.5 == counter


def test_what_is_added_is_not_known_before_the_commit():
    # GIVEN
    counter = TCounter(1)

    # WHEN
    outcome = attempted(lambda: counter.add(5))
    counter.value = 100
    committed.install(outcome.writes)  # type: ignore[arg-type] # containers

    # THEN
    assert 105 == counter


def test_the_sum_of_several_additions_travels():
    def body() -> None:
        counter.add(5)
        counter.add(6)

    # GIVEN
    counter = TCounter(1)

    # WHEN
    outcome = attempted(body)
    (write,) = pickle.loads(pickle.dumps(outcome.writes))
    committed.install([write])

    # THEN
    assert 12 == counter


def test_copies_count_on_their_own_and_pickles_are_references():
    # GIVEN
    counter = TCounter(1)

    # WHEN
    copies = [copy.copy(counter), copy.deepcopy(counter)]
    counter.add()

    # THEN
    assert [1, 1] == copies
    assert counter is pickle.loads(pickle.dumps(counter))


def test_one_of_an_undone_transaction_says_so():
    # GIVEN
    def body() -> None:
        made.append(TCounter(5))
        raise KeyError

    # WHEN
    made: list[TCounter[int]] = []
    attempted(body)

    # THEN
    with pytest.raises(TxForgottenError, match="made in a transaction that was undone"):
        _ = made[0].value


@pytest.mark.parametrize(("number", "expected"), [(1, math.inf), (-1, -math.inf)])
def test_a_sum_beyond_all_floats_does_not_fail_at_the_commit(number, expected):
    # GIVEN
    counter = TCounter(number * 10**400)

    # WHEN
    counter.add(0.5)

    # THEN
    assert expected == counter
