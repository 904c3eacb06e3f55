"""Comparing two TDicts reads both as they are at the version that is asked for."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.comparing import attempted
from tests.model.machines import attempt_at
from txloop import TDict
from txloop.errors import TxForgottenError
from txloop.stm.attempt import Attempt, make_current
from txloop.stm.store import committed
from txloop.stm.threads import gil_enabled
from txloop.stm.types import Key

CHANGES: dict[str, Any] = {
    "set": lambda one: one.update(a=2),
    "insert": lambda one: one.update(b=2),
    "delete": lambda one: one.pop("a"),
    "delete and insert": lambda one: (one.pop("a"), one.update(a=3)),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("plain", [False, True])
def test_an_attempt_compares_what_there_was_at_its_snapshot(name, plain):
    # GIVEN two that were equal when a snapshot was opened
    one, same = TDict(a=1, z=0), TDict(a=1, z=0)
    snapshot = committed.open_snapshot()
    before: Any = {"a": 1, "z": 0} if plain else same

    # WHEN
    CHANGES[name](one)

    # THEN
    assert one != before
    with attempt_at(snapshot):
        assert one == before
    with attempt_at(committed.version):
        assert one != before
    committed.close_snapshot(snapshot)
    assert one != before


def test_an_attempt_compares_what_it_has_written_itself():
    one, other = TDict(a=1), TDict(a=1)
    found = []

    def body():
        one["a"] = 2
        found.append((one == other, one == {"a": 2}, other == {"a": 1}))

    attempted(body)

    assert [(False, True, True)] == found


def test_comparing_is_reading_all_of_both():
    one, other = TDict(a=1), TDict(a=2)

    def body():
        if one != other:
            one["b"] = 1

    outcome = attempted(body)

    read = {(each._tx_number, Key.ALL) for each in (one, other)}
    assert read <= outcome.values


def test_one_that_was_dropped_cannot_be_compared():
    one, other = TDict(a=1), TDict(a=1)
    other._tx_forgotten = True

    outcome = attempted(lambda: one == other)

    assert isinstance(outcome.error, TxForgottenError)


def test_another_thread_reads_what_is_committed_while_an_attempt_runs():
    # GIVEN
    shared = TDict(a=1)
    found = []

    def read():
        found.append((shared["a"], "a" in shared, len(shared), shared == {"a": 1}))

    # WHEN this thread runs an attempt that has written
    make_current(Attempt(committed.version, True))
    shared["a"] = 2
    shared["b"] = 3
    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    read()
    make_current(None)

    # THEN
    assert [(1, True, 1, True), (2, True, 2, False)] == found


def test_threads_that_run_attempts_are_asked_for_them_all_the_time():
    committed.readers.add("worker")
    make_current(None)

    while_there_are_some = committed.noting
    committed.readers.discard("worker")
    make_current(None)

    assert while_there_are_some
    assert not committed.noting or not gil_enabled()
