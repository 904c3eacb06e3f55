"""One attempt computes an entry of a cache, and the others wait for it."""

from __future__ import annotations

import os
import threading

import pytest

from txloop import TCache, cached, or_else
from txloop.cells import claims, tcache
from txloop.stm.run import run_attempt
from txloop.stm.types import Call, Outcome, Retry


class Slow:
    """A cached function that waits for a signal, the first time."""

    def __init__(self) -> None:
        self.began, self.may_end = threading.Event(), threading.Event()
        self.calls = 0
        self.ask = cached(TCache())(self.compute)

    def compute(self, number: int) -> int:
        self.calls += 1
        if self.calls == 1:
            self.began.set()
            assert self.may_end.wait(10)
        return number + 1

    def attempt(self, number: int = 1, ordered: bool = False) -> object:
        call = Call(self.ask, (number,), ordered=ordered)
        return run_attempt(call, speculative=True)


@pytest.fixture
def slow():
    """Have an attempt in another thread that computes the entry of 1."""
    made = Slow()
    thread = threading.Thread(target=made.attempt)
    thread.start()
    assert made.began.wait(10)
    yield made
    made.may_end.set()
    thread.join()


def test_who_comes_second_waits_for_the_entry(slow):
    # WHEN
    answer = slow.attempt()

    # THEN
    assert isinstance(answer, Retry)
    assert {(slow.ask.cache._tx_number, (1,))} == answer.values
    assert 1 == slow.calls


def test_other_entries_are_computed(slow):
    answer = slow.attempt(2)

    assert isinstance(answer, Outcome)
    assert 3 == answer.value


def test_what_has_a_place_in_an_order_or_an_alternative_does_not_wait(slow):
    # WHEN
    ordered = slow.attempt(ordered=True)
    call = Call(or_else, (lambda: slow.ask(1), lambda: None))
    alternative = run_attempt(call, speculative=True)

    # THEN
    assert isinstance(ordered, Outcome)
    assert isinstance(alternative, Outcome)
    assert (2, 2) == (ordered.value, alternative.value)


def test_a_claim_ends_with_the_computation():
    # GIVEN
    made = Slow()
    made.may_end.set()

    # WHEN
    answers = [made.attempt() for _ in range(3)]  # none of which commits

    # THEN
    assert [Outcome] * 3 == list(map(type, answers))
    assert 3 == made.calls


def test_a_claim_ends_with_a_failure():
    # GIVEN
    def fail() -> None:
        raise KeyError

    ask = cached(TCache())(fail)

    # WHEN
    answers = [run_attempt(Call(ask), speculative=True) for _ in range(2)]

    # THEN
    assert [Outcome] * 2 == list(map(type, answers))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_another_process_sees_it_until_it_is_too_old(monkeypatch):
    # GIVEN
    made = Slow()
    made.calls = 1  # nothing is waited for
    ready, ready_end = os.pipe()
    stop, stop_end = os.pipe()
    child = os.fork()
    if not child:
        own = claims.Claims()
        own._shared = tcache._claims._shared
        run_attempt(Call(hold, (own, made, ready_end, stop)), speculative=True)
        os._exit(0)
    os.read(ready, 1)

    # WHEN
    waits = made.attempt()
    monkeypatch.setattr(claims, "_STALE_SECONDS", 0.0)
    takes = made.attempt()

    # THEN
    os.write(stop_end, b"x")
    os.waitpid(child, 0)
    for descriptor in (ready, ready_end, stop, stop_end):
        os.close(descriptor)
    assert isinstance(waits, Retry)
    assert isinstance(takes, Outcome)


def hold(own: claims.Claims, made: Slow, ready: int, stop: int) -> None:
    with own.claimed(made.ask.cache._tx_number, (1,)):  # type: ignore[attr-defined]
        os.write(ready, b"x")
        os.read(stop, 1)
