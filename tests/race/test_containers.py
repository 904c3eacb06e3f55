"""Containers under fire: workers that race each other and die; nothing is lost."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.engine import Tally, note, noted
from tests.logs import expect_log
from txloop import TCounter, TDict, TList, TObject, TSet, on_commit, plain

# Replaced only: where its call had been taken back, and ran elsewhere already.
DIED = (
    r"^worker \d+ died; (its call runs again on another worker \(\w+\)|"
    r"it was replaced); it exited with 7$"
)

ROUNDS = 40


class Account(TObject):
    balance: int = 0


def make_state() -> dict[str, Any]:
    return {
        "log": TList(),
        "queue": TList(range(ROUNDS)),
        "seen": TSet(),
        "total": TCounter(),
        "account": Account(),
        "by": TDict(),
    }


def serve(shared, number, tally, deadly):
    """Take from the queue, and note in every container that it was taken."""
    taken = shared["queue"].pop(0)
    shared["log"].append(taken)
    shared["seen"].add(taken)
    shared["total"].add(taken)
    shared["account"].balance += taken
    shared["by"][number] = [taken]
    on_commit(note, taken)
    tally.mark(number)
    # What waits behind others may run in two workers at once: one of them dies.
    if number in deadly and tally.is_first(number):
        os._exit(7)
    return taken


def check(shared, results):
    taken: list[Any] = [result.value for result in results]
    assert list(range(ROUNDS)) == sorted(taken)
    assert set(taken) == set(noted)
    assert noted == list(shared["log"]), "effects and appends come in commit order"
    assert set(taken) == shared["seen"]
    assert sum(taken) == shared["total"].value == shared["account"].balance
    assert [[one] for one in taken] == [shared["by"][n] for n in range(ROUNDS)]
    assert [] == shared["queue"]


def test_workers_race_for_what_is_in_the_containers(engine, tmp_path):
    # GIVEN
    shared, tally = make_state(), Tally(tmp_path / "tally")
    engine.ask_all_workers(int, tmp_path)
    short = engine.short()

    # WHEN
    results = [
        engine.submit(serve, shared, number, tally, (), profile=short)
        for number in range(ROUNDS)
    ]
    engine.wait(*results)

    # THEN
    check(shared, results)
    assert engine.aborts > 0


@pytest.mark.slow
def test_what_workers_did_before_they_died_never_happened(engine, tmp_path):
    # GIVEN
    shared, tally = make_state(), Tally(tmp_path / "tally")
    short = engine.short()
    deadly, workers = (3, 17, 30), engine.processes._workers

    # WHEN
    with expect_log("txloop", DIED, count=None):
        results = [
            engine.submit(serve, shared, number, tally, deadly, profile=short)
            for number in range(ROUNDS)
        ]
        engine.wait(*results)
        engine.until(lambda: not any(one.assigned for one in workers))

    # THEN
    check(shared, results)
    assert len(set(tally.pids)) > 2
    expected = plain(shared["log"])
    assert [expected] * 2 == engine.ask_all_workers(
        lambda: plain(shared["log"]), tmp_path
    )
