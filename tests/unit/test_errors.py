"""The tree of errors: each pickles, and is the builtin that a caller would expect."""

from __future__ import annotations

import inspect
import pickle

import pytest

from txloop import errors

ERRORS = [value for value in vars(errors).values() if inspect.isclass(value)]


@pytest.mark.parametrize("kind", ERRORS)
def test_every_error_pickles(kind):
    # GIVEN
    error = kind("what happened")
    error.detail = 5

    # WHEN
    copy = pickle.loads(pickle.dumps(error, pickle.HIGHEST_PROTOCOL))

    # THEN
    assert kind is type(copy)
    assert (str(error), error.args, vars(error)) == (str(copy), copy.args, vars(copy))


def test_all_of_them_are_exported():
    assert errors.__all__ == sorted(kind.__name__ for kind in ERRORS)


BUILTINS = {
    errors.TxConfigurationError: ValueError,
    errors.TxValueError: TypeError,
    errors.TxThreadError: RuntimeError,
    errors.TxForgottenError: LookupError,
    errors.TxWorkerError: RuntimeError,
    errors.TxTimeoutError: TimeoutError,
    errors.TxClosedError: RuntimeError,
    errors.TxInternalError: AssertionError,
}


@pytest.mark.parametrize(("kind", "builtin"), BUILTINS.items())
def test_each_is_what_a_caller_would_expect(kind, builtin):
    assert issubclass(kind, builtin)
    assert issubclass(kind, errors.TxError)


def test_becoming_inevitable_passes_through_user_code():
    error = errors.BecomeInevitable("why")

    assert not isinstance(error, Exception)
    assert "why" == error.reason
