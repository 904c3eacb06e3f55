"""Workers that are relieved after so many calls, and what goes wrong with it."""

from __future__ import annotations

import os

import pytest

from tests.engine import Gate, Tally
from tests.logs import expect_log
from tests.race.losses import is_full, kill, pids_of
from txloop import on_worker_start
from txloop.executors.processes import worker

pytestmark = pytest.mark.usefixtures("impatient")
REPLACED = r"^worker \d+ died; it was replaced; "


class Witness:
    """Notes at each answer how many workers could take a call."""

    def __init__(self, engine):
        self.open: list[int] = []
        stock = engine.processes._tell

        def tell(number, answer):
            workers = engine.processes._workers
            self.open.append(sum(one.open for one in workers))
            stock(number, answer)

        engine.processes._tell = tell


def relieving(engine, most_calls):
    engine.processes.relieve_after(most_calls)
    return Witness(engine)


def test_workers_are_relieved_after_so_many_calls(engine, tmp_path):
    # GIVEN
    witness = relieving(engine, 20)
    engine.ask_all_workers(int, tmp_path)
    witness.open.clear()

    # WHEN
    pids: set[int] = set()
    while len(pids) < 6:  # none runs for ever
        results = [engine.submit(os.getpid, profile=engine.short()) for _ in range(10)]
        engine.wait(*results)
        pids.update(result.value for result in results)

    # THEN there were always two workers
    assert {2} == set(witness.open)
    assert os.getpid() not in pids


def test_they_do_not_all_go_at_once(engine, tmp_path):
    # GIVEN
    engine.processes.relieve_after(10)

    # WHEN
    engine.ask_all_workers(int, tmp_path)

    # THEN
    assert [5, 10] == [one.most_calls for one in engine.processes._workers]


def test_a_relieved_worker_finishes_its_call(engine, tmp_path):
    # GIVEN a worker in a long call, whose relief is ready
    witness = relieving(engine, 1)
    tally, gate = Tally(tmp_path / "tally"), Gate(tmp_path / "gate")
    long = engine.submit(mark_and_wait, tally, gate)
    engine.until(lambda: tally.count == 1)
    engine.until(lambda: is_full(engine))
    (old,) = [one for one in engine.processes._workers if one.assigned]
    engine.processes._crew.relieve(old)
    engine.until(lambda: old.retiring)

    # WHEN
    engine.run(int)
    assert old in engine.processes._workers
    gate.open()
    engine.wait(long)

    # THEN
    assert long.value == tally.pids[0]
    assert old not in engine.processes._workers
    assert min(witness.open) >= 1


def mark_and_wait(tally, gate):
    tally.mark()
    gate.wait()
    return os.getpid()


def test_a_relief_that_dies_leaves_the_old_one_in_its_place(
    engine, tmp_path, monkeypatch
):
    # GIVEN
    gate = Gate(tmp_path / "gate")
    monkeypatch.setattr(worker, "_start_hooks", [])
    on_worker_start(lambda: gate.is_open and os._exit(1))
    engine.processes.relieve_after(4)
    engine.ask_all_workers(int, tmp_path)
    before = sorted(pids_of(engine))
    gate.open()

    # WHEN
    with (
        expect_log("txloop", r"^worker \d+ died; it was replaced; it exited", None),
        expect_log("txloop", "^workers keep dying at their start; 2 are left"),
    ):
        engine.until(lambda: engine.run(int) == 0 and engine.processes._crew.complained)

    # THEN
    assert before == sorted(pids_of(engine))
    assert set(before) == set(engine.ask_all_workers(os.getpid, tmp_path))


def test_an_old_one_that_dies_is_followed_by_its_relief(engine, tmp_path, monkeypatch):
    # GIVEN a relief that is not ready yet
    gate = Gate(tmp_path / "gate")
    gate.open()
    monkeypatch.setattr(worker, "_start_hooks", [])
    on_worker_start(gate.wait)
    engine.ask_all_workers(int, tmp_path)
    gate.path.unlink()
    old = engine.processes._workers[0]
    old.most_calls = 1
    engine.processes._crew.relieve(old)
    relief, _ = engine.processes._crew._relief

    # WHEN
    with expect_log("txloop", REPLACED):
        kill(old.pid)
        engine.until(lambda: old not in engine.processes._workers)

    # THEN
    assert relief in engine.processes._workers
    assert 3 == engine.processes._crew.spawned
    gate.open()
    engine.until(lambda: is_full(engine))


def test_workers_that_are_forked_anew_have_the_places_of_those_before(engine, tmp_path):
    # GIVEN
    before = engine.ask_all_workers(os.getpid, tmp_path)

    # WHEN
    assert engine.processes.renew()
    engine.until(lambda: all(one.ready for one in engine.processes._workers))

    # THEN
    assert set(before).isdisjoint(engine.ask_all_workers(os.getpid, tmp_path))
    assert ["worker 1", "worker 2"] == sorted(
        one.name for one in engine.processes.members()
    )
