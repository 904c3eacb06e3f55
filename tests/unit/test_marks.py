"""The mark, without a loop."""

from __future__ import annotations

import functools
import math

import pytest

from txloop import TxConfigurationError, transactional
from txloop.engine.marks import Mark, mark_of


@transactional
def marked():
    return "called"


@transactional(on_error="commit", trust=True, timeout=2.5)
def marked_with_options(*args):
    pass


def test_a_marked_function_is_the_function_that_it_was():
    assert "called" == marked()
    assert "marked" == marked.__name__


def test_the_options_of_a_mark():
    assert Mark("rollback", False) == mark_of(marked)
    assert Mark("commit", True, 2.5) == mark_of(marked_with_options)


def test_a_partial_has_the_mark_of_its_function():
    partial = functools.partial(functools.partial(marked_with_options, 1), 2)

    assert mark_of(marked_with_options) == mark_of(partial)


@pytest.mark.parametrize("target", [len, object(), functools.partial(len), None])
def test_what_is_not_marked_has_no_mark(target):
    assert mark_of(target) is None


def test_an_unknown_option_is_an_error():
    with pytest.raises(
        TxConfigurationError, match="'rollback' or 'commit', not 'keep'"
    ):
        transactional(on_error="keep")  # type: ignore[call-overload]


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), "5", True, [1]])
def test_a_timeout_that_is_no_time_is_an_error(timeout):
    with pytest.raises(TxConfigurationError, match="above 0, or None, not "):
        transactional(timeout=timeout)


@pytest.mark.parametrize(
    ("of_mark", "of_loop", "seconds"),
    [
        (None, None, None),
        (None, 5, 5),
        (2, None, 2),
        (2, 5, 2),
        (9, 5, 9),
        (math.inf, 5, None),
        (None, math.inf, None),
    ],
)
def test_the_timeout_of_a_mark_comes_before_that_of_the_loop(of_mark, of_loop, seconds):
    assert seconds == Mark(timeout=of_mark).timeout_seconds(of_loop)
