"""Writes outside of transactions, but where they run: refused everywhere alike."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.engine import bury_the_dead, running
from tests.logs import expect_log
from txloop import TDict, TList, TSet, TVar, TxThreadError, on_worker_start
from txloop.executors.processes import worker
from txloop.stm.store import committed
from txloop.stm.threads import acquire


def outcome_of(write):
    """Return what a write raises, as its class's name and its message."""
    try:
        write()
    except TxThreadError as error:
        return str(error)
    return "it wrote"


def in_a_thread(write):
    """Write in a thread that the transaction starts, and tell what came of it."""
    told: list[str] = []
    thread = threading.Thread(target=lambda: told.append(outcome_of(write)))
    thread.start()
    thread.join()
    return told[0]


def write_beside(shared):
    """Write in another thread, each kind of container in each of its ways."""
    var, mapping, row, members = shared
    return [
        in_a_thread(write)
        for write in (
            lambda: setattr(var, "value", 1),
            lambda: mapping.__setitem__("k", 1),
            mapping.clear,
            lambda: row.append(1),
            lambda: members.add(1),
            members.clear,
        )
    ]


def read_and_copy(shared):
    """Read all and write what was read, so that a wrong replica would show."""
    var, mapping, row, members = shared
    found = [var.value, dict(mapping), list(row), set(members)]
    mapping["copied"] = var.value
    return found


def test_a_thread_of_a_transaction_cannot_write(engine):
    # GIVEN
    shared = (TVar(0), TDict[str, Any](k=0), TList([0]), TSet([0]))

    # WHEN
    refusals: Any = engine.run(write_beside, shared)

    # THEN
    assert [True] * 6 == ["in a transaction" in refusal for refusal in refusals]
    for _ in range(4):
        found: Any = engine.run(read_and_copy, shared)
        assert [0, 0, [0], {0}] == [found[0], found[1]["k"], *found[2:]]
    assert {"k": 0, "copied": 0} == dict(shared[1])


# What only workers have


@pytest.fixture
def hooks(monkeypatch):
    """Give the registry of start hooks, which is as it was afterwards."""
    hooks: list[object] = []
    monkeypatch.setattr(worker, "_start_hooks", hooks)
    return hooks


SHARED: TDict[str, int] = TDict(n=1)


def read_shared():
    return dict(SHARED)


def test_a_start_hook_cannot_write(hooks, tmp_path):
    # GIVEN
    on_worker_start(lambda: SHARED.update(n=SHARED["n"] + 100))

    # WHEN
    with (
        expect_log("txloop", "an on_worker_start function failed", 2) as records,
        running("processes") as engine,
    ):
        found = engine.ask_all_workers(read_shared, tmp_path)
        SHARED["n"] = 2
        later = engine.ask_all_workers(read_shared, tmp_path)
        SHARED["n"] = 1

    # THEN
    assert [{"n": 1}] * 2 == found
    assert [{"n": 2}] * 2 == later
    assert "TxThreadError" in records[0].getMessage()
    assert "keep what belongs to this process alone" in records[0].getMessage()


def test_a_start_hook_cannot_fill_a_container_of_its_own(hooks, tmp_path):
    # GIVEN
    on_worker_start(lambda: TDict(connection="open"))

    # THEN
    with (
        expect_log("txloop", "(?s)on_worker_start .* failed .*TxThreadError", 2),
        running("processes") as engine,
    ):
        engine.ask_all_workers(read_shared, tmp_path)


class Leaving:
    """Counts what is left of its like when it goes."""

    def __del__(self):
        REFUSED.append(outcome_of(lambda: SHARED.update(n=0)))


class Arriving:
    """Counts its like where it is unpickled, before its transaction begins."""

    def __reduce__(self):
        return arrive, ()


def arrive():
    REFUSED.append(outcome_of(lambda: SHARED.update(n=0)))
    return Arriving()


REFUSED: list[str] = []


def refused(_argument=None):
    return list(REFUSED), dict(SHARED)


def test_a_finalizer_between_transactions_cannot_write(hooks):
    # GIVEN
    @on_worker_start
    def let_go():
        Leaving()
        bury_the_dead()

    # WHEN
    with running("processes", 1) as engine:
        answer: Any = engine.run(refused)

    # THEN
    refusals, shared = answer
    assert ({"n": 1}, 1) == (shared, len(refusals))
    assert "in a worker, but outside a transaction" in refusals[0]


def test_nor_can_what_runs_while_arguments_are_unpickled():
    with running("processes", 1) as engine:
        answer: Any = engine.run(refused, Arriving())

    refusals, shared = answer
    assert ({"n": 1}, 1) == (shared, len(refusals))
    assert "in a worker, but outside a transaction" in refusals[0]


class Claimant:
    def is_over(self):
        return False


def claimed():
    return outcome_of(lambda: acquire(Claimant(), committed))


def test_a_worker_runs_no_transactions_of_its_own():
    with running("processes", 1) as engine:
        refusal: Any = engine.run(claimed)

    assert "runs the transactions of another process" in refusal
