"""Faults on purpose: what the variable may say, and what it makes happen."""

from __future__ import annotations

from types import NoneType

import pytest

from tests.engine import note, noted
from txloop import TxConfigurationError
from txloop.executors.faults import VARIABLE, InjectedFault, faults_on_purpose
from txloop.stm.store import Store
from txloop.stm.types import Conflict, Effect, Outcome, Refusal
from txloop.stm.validation import decide


def faults(monkeypatch, text, part="test"):
    monkeypatch.setenv(VARIABLE, text)
    found = faults_on_purpose(part)
    assert found is not None
    return found


@pytest.mark.parametrize("text", [None, ""])
def test_nothing_goes_wrong_where_the_variable_is_not_set(monkeypatch, text):
    monkeypatch.delenv(VARIABLE, raising=False)
    if text is not None:
        monkeypatch.setenv(VARIABLE, text)

    assert faults_on_purpose("test") is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("commits=0.5", "unknown 'commits'; there are: before-reply, after-reply, pi"),
        ("commit=0.5,", "unknown ''; there are: before-reply"),
        ("commit", "commit must be a number from 0 to 1, not ''"),
        ("commit=often", "commit must be a number from 0 to 1, not 'often'"),
        ("commit=1.5", "commit must be a number from 0 to 1, not '1.5'"),
        ("effects=-1", "effects must be a number from 0 to 1, not '-1'"),
        ("commit=nan", "commit must be a number from 0 to 1, not 'nan'"),
        ("seed=x", "seed must be a number, not 'x'"),
    ],
)
def test_what_it_may_not_say(monkeypatch, text, complaint):
    monkeypatch.setenv(VARIABLE, text)

    with pytest.raises(TxConfigurationError, match=f"^TXLOOP_FAULTS: {complaint}"):
        faults_on_purpose("test")


def test_it_reads_as_it_was_written(monkeypatch):
    text = " commit = 0.25, seed=7"

    assert "commit=0.25, seed=7" == str(faults(monkeypatch, text))


def chosen(monkeypatch, text, part):
    """Return which of a hundred effects are spoilt."""
    spoil = faults(monkeypatch, text, part).spoil
    effect = Effect(note, (1,), {}, "")
    return [spoil(effect) is effect for _ in range(100)]


def test_a_seed_makes_the_choices_repeatable_and_parts_differ(monkeypatch):
    # GIVEN
    text = "effects=0.5,seed=7"

    # WHEN
    first, again = (chosen(monkeypatch, text, "worker 1") for _ in range(2))

    # THEN
    assert first == again
    assert first != chosen(monkeypatch, text, "worker 2")
    assert first != chosen(monkeypatch, "effects=0.5,seed=8", "worker 1")
    assert 20 < sum(first) < 80


def test_an_effect_that_is_spoilt_is_done_and_raises(monkeypatch):
    # GIVEN
    noted.clear()
    effect = faults(monkeypatch, "effects=1").spoil(Effect(note, ("x",), {}, "here"))

    # WHEN
    with pytest.raises(InjectedFault):
        effect.function(*effect.args, **effect.kwargs)

    # THEN
    assert (["x"], "here") == (noted, effect.origin)


READ = frozenset({(1, "key")})


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (Outcome(0, values=READ, writes=((1, "key", 2),)), Conflict),
        (Outcome(0, presences=READ, error=ValueError()), Conflict),
        (Outcome(0, writes=((1, "key", 2),)), NoneType),
        (Outcome(0, values=READ), NoneType),
    ],
    ids=["read and wrote", "raised", "read nothing", "wrote nothing"],
)
def test_a_commit_is_refused_where_there_could_be_a_conflict(
    monkeypatch, outcome, kind
):
    # GIVEN
    refusing = faults(monkeypatch, "commit=1").deciding(decide)
    harmless = faults(monkeypatch, "commit=0").deciding(decide)

    # THEN
    assert kind is type(refusing(outcome, Store(), False))
    assert harmless(outcome, Store(), False) is None


def test_an_answer_that_does_not_pickle_is_no_lasting_refusal(monkeypatch):
    # GIVEN
    packed: list[object] = []
    packing = faults(monkeypatch, "pickling=1").packing(
        lambda answer: (packed.append(answer), b"")[1]  # type: ignore[func-returns-value] # on purpose
    )

    # WHEN
    packing(Outcome(0))

    # THEN
    assert [Refusal("TXLOOP_FAULTS says so", lasting=False, warn=False)] == packed
