"""What comes back of an attempt in another process: errors, records, effects."""

from __future__ import annotations

import functools
import logging
import pickle
import threading

import pytest
from tornado.web import Finish, HTTPError, MissingArgumentError

from txloop import TVar
from txloop.executors.codec.answers import RemoteTraceback, pack
from txloop.executors.codec.packing import unpack_answer
from txloop.stm.types import Effect, Outcome, Refusal

LOCK = threading.Lock()
NAMES: list[object] = []


def arrived(outcome):
    """Return what arrives of an outcome at the loop."""
    return unpack_answer(pack(outcome))


def raised(error):
    """Return an error as it is after having been raised."""
    try:
        raise error
    except BaseException as caught:
        return caught


class Detailed(Exception):
    def __init__(self, code, *, detail):
        super().__init__(f"code {code}")
        self.code = code
        self.detail = detail


class Changing(Exception):
    """Pickles, and comes back as another error."""

    def __reduce__(self):
        return ValueError, ("another",)


class Silent(Exception):
    """Unpickles only with arguments that it does not keep."""

    def __init__(self, needed):
        super().__init__()
        self.needed = needed


ERRORS = [
    KeyError("k"),
    OSError(2, "No such file", "name"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    SystemExit(3),
    Finish(),
    HTTPError(404),
    HTTPError(404, "no %s", "page", reason="Lost"),
    MissingArgumentError("name"),
    Detailed(5, detail=("a", 1)),
    Changing("kept"),
    Silent("kept"),
    ExceptionGroup("several", [KeyError(1), Finish()]),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_come_back_as_they_are(error):
    # WHEN
    found = arrived(Outcome(0, error=raised(error))).error

    # THEN
    assert type(error) is type(found)
    assert (str(error), repr(error)) == (str(found), repr(found))
    assert vars(error) == vars(found)


def test_an_error_brings_its_traceback_as_text():
    # GIVEN
    def fail():
        raise HTTPError(500) from raised(KeyError("first"))

    with pytest.raises(HTTPError) as caught:
        fail()

    # WHEN
    found = arrived(Outcome(0, error=caught.value)).error

    # THEN
    assert isinstance(found.__cause__, RemoteTraceback)
    text = str(found.__cause__)
    assert f'File "{__file__}", line ' in text
    assert "raise HTTPError(500) from raised(" in text
    assert "KeyError: 'first'" in text
    assert text.endswith("HTTP 500: Internal Server Error")
    assert text == str(pickle.loads(pickle.dumps(found.__cause__)))


def test_what_of_an_error_does_not_pickle_stays_behind():
    # GIVEN
    error = Detailed(5, detail=LOCK)
    error.args = ("text", LOCK)
    vars(error)["kept"] = {"a": 1}

    # WHEN
    found = arrived(Outcome(0, error=raised(error))).error

    # THEN
    assert {"code": 5, "kept": {"a": 1}} == vars(found)
    assert ("text", repr(LOCK)) == found.args


def test_a_class_of_error_known_only_there_comes_by_value():
    # GIVEN
    class Local(KeyError):
        pass

    # WHEN
    found = arrived(Outcome(0, error=raised(Local("k")))).error

    # THEN
    assert ("Local", "'k'") == (type(found).__name__, str(found))


# What does not pickle


def unpicklable_writes():
    return ((TVar(0), "k", functools.partial(LOCK.acquire)),)


@pytest.mark.parametrize(
    ("outcome", "what"),
    [
        (Outcome(0, value=LOCK), "result"),
        (
            Outcome(0, effects=(Effect(print, (LOCK,), {}, "here"),)),
            "effect's argument",
        ),
        (Outcome(0, writes=unpicklable_writes()), "shared value"),
    ],
    ids=["value", "effect", "write"],
)
def test_an_outcome_that_does_not_pickle_is_refused(outcome, what):
    # WHEN
    refusal = arrived(outcome)

    # THEN
    assert isinstance(refusal, Refusal)
    # Where something has been held before, it says more than Python does.
    reason = f"its {what} does not pickle (cannot pickle '_thread.lock' object"
    assert refusal.reason.startswith(reason)


def test_an_error_whose_class_does_not_pickle_is_refused():
    # GIVEN
    class Local(Exception):
        lock = LOCK

    # WHEN
    refusal = arrived(Outcome(0, error=raised(Local())))

    # THEN
    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith("its exception does not pickle")


# Effects


class Thing:
    def method(self):
        pass

    @classmethod
    def of_class(cls):
        pass

    @staticmethod
    def static():
        pass

    def __call__(self):
        pass


def plain():
    pass


VARIABLE = TVar(0)


@pytest.mark.parametrize(
    "function",
    [
        plain,
        print,
        Thing,
        Thing.of_class,
        Thing.static,
        VARIABLE.set,
        functools.partial(plain),
        functools.partial(VARIABLE.set, 1),
    ],
)
def test_effects_that_have_a_name_come_back(function):
    # GIVEN
    effect = Effect(function, (1,), {"key": "value"}, "here")

    # WHEN
    (found,) = arrived(Outcome(0, effects=(effect,))).effects

    # THEN
    assert (effect.args, effect.kwargs, "here") == (
        found.args,
        found.kwargs,
        found.origin,
    )
    assert getattr(function, "func", function) == getattr(
        found.function, "func", found.function
    )


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda: None, "<lambda>"),
        (Thing().method, "Thing.method"),
        (NAMES.append, "list.append"),
        (functools.partial(NAMES.append, 1), "partial"),
        (Thing(), "Thing"),
    ],
)
def test_effects_that_would_run_on_a_copy_are_refused(function, name):
    # GIVEN
    effect = Effect(function, (), {}, 'File "program.py", line 5')

    # WHEN
    refusal = arrived(Outcome(0, effects=(effect,)))

    # THEN
    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith(f"its effect {name}")
    assert refusal.reason.endswith(
        'is not a function that can be found by name (File "program.py", line 5)'
    )


# Log records


def record(message, *arguments, **more):
    made = logging.LogRecord(
        "name", logging.INFO, "file", 1, message, arguments, more.pop("exc_info", None)
    )
    vars(made).update(more)
    return made


def arrived_record(sent):
    (found,) = arrived(Outcome(0, records=(sent,))).records
    return found


def test_records_come_back_formatted():
    # WHEN
    found = arrived_record(record("%s and %s", LOCK, 1, extra="kept", request=LOCK))

    # THEN
    assert f"{LOCK!r} and 1" == found.getMessage()
    assert ("kept", repr(LOCK)) == (found.extra, found.request)


def test_a_record_of_an_exception_brings_its_text():
    # GIVEN
    error = raised(KeyError("missing"))
    sent = record("failed", exc_info=(KeyError, error, error.__traceback__))

    # WHEN
    found = arrived_record(sent)

    # THEN
    kind, arrived_error, trace = found.exc_info
    assert (KeyError, ("missing",), None) == (kind, arrived_error.args, trace)
    assert isinstance(arrived_error.__cause__, RemoteTraceback)
    assert found.exc_text.startswith("Traceback (most recent call last):")
    assert "KeyError: 'missing'" in logging.Formatter().format(found)


def test_a_record_of_no_exception_says_so():
    """As `logging` does it where `exc_info=True` finds none."""
    sent = record("failed", exc_info=(None, None, None))

    assert (None, None, None) == arrived_record(sent).exc_info


def test_a_text_that_was_there_already_stays():
    error = raised(KeyError("missing"))
    sent = record("failed", exc_info=(KeyError, error, None), exc_text="my own")

    assert "my own" == arrived_record(sent).exc_text


def test_a_record_whose_arguments_do_not_fit_fails_in_the_handlers():
    # WHEN
    found = arrived_record(record("%d", LOCK))

    # THEN
    with pytest.raises(TypeError):
        found.getMessage()
