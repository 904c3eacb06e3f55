"""Dask workers that come, pause, retire and die: nothing is lost, nothing twice."""

from __future__ import annotations

import os

import dask
import pytest
from distributed import Client

from tests.engine import Gate, Tally, note, noted
from tests.logs import expect_log
from tests.machines.machines import end
from tests.race.losses import add_at_gate, kill
from txloop import TDict, TxTimeoutError, TxWorkerError, on_commit, on_worker_start
from txloop.executors.dask import crew
from txloop.executors.processes import worker

pytestmark = [pytest.mark.slow, pytest.mark.timeout(150)]

AGAIN = r"^worker \d+ of tcp://[\d.:]+ died; its call runs again on another worker "


TLS = "distributed.comm.tls"


def ready(engine):
    return [one for one in engine.processes._workers if one.open]


def add(shared, tally):
    tally.mark()
    on_commit(note, "effect")
    shared["n"] += 1
    return os.getpid()


def leave(tally):
    tally.mark()
    os._exit(7)


def test_a_dask_worker_that_is_killed_loses_its_call_to_another(
    machines, engine, tmp_path
):
    # GIVEN one that runs a call
    shared, tally = TDict(n=0), Tally(tmp_path / "tally")
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    machines.add()
    result = engine.submit(add_at_gate, shared, tally, started, gate)
    engine.until(lambda: started.is_open)
    machines.add()
    engine.until(lambda: len(ready(engine)) == 2)

    # WHEN
    with expect_log("txloop", AGAIN + r".* left: "):
        end(machines.workers[0])
        gate.open()
        engine.wait(result)

    # THEN
    assert [result.value] == tally.pids[1:]
    assert result.value != tally.pids[0]
    assert {"n": 1} == shared
    assert ["effect"] == noted


def test_a_worker_process_that_is_killed_is_replaced(machines, engine, tmp_path):
    # GIVEN
    shared, tally = TDict(n=0), Tally(tmp_path / "tally")
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    machines.add()
    result = engine.submit(add_at_gate, shared, tally, started, gate)
    engine.until(lambda: started.is_open)

    # WHEN
    with expect_log("txloop", AGAIN + r".*; killed by SIGKILL"):
        kill(tally.pids[0])
        gate.open()
        engine.wait(result)

    # THEN
    assert [result.value] == tally.pids[1:]
    assert {"n": 1} == shared
    assert ["effect"] == noted


def test_a_call_that_ends_three_workers_is_given_up(machines, engine, tmp_path):
    # GIVEN
    tally = Tally(tmp_path / "tally")
    machines.add()

    # WHEN
    with expect_log("txloop", r"^worker \d+ of .* died; .*it exited with 7", 3):
        result = engine.submit(leave, tally)
        engine.wait(result)

    # THEN
    assert isinstance(result.error, TxWorkerError)
    assert 3 == tally.count == len(set(tally.pids))


def test_a_timeout_ends_the_process_and_not_the_dask_worker(machines, engine, tmp_path):
    # GIVEN
    shared, tally = TDict(n=0), Tally(tmp_path / "tally")
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    machines.add()
    engine.run(os.getpid)

    # WHEN
    with expect_log(
        "txloop",
        r"(?s)exceeded its 0.2 s timeout; .* was killed.* at:\n.*in add_at_gate",
    ):
        late = engine.submit(
            add_at_gate, shared, tally, started, gate, timeout_seconds=0.2
        )
        engine.wait(late)
        value = engine.run(add, shared, tally)

    # THEN
    assert isinstance(late.error, TxTimeoutError)
    assert [value] == tally.pids[1:]
    assert {"n": 1} == shared


def test_one_that_comes_later_is_used(machines, engine, tmp_path):
    # GIVEN
    machines.add()
    first = engine.run(os.getpid)

    # WHEN
    machines.add(threads=2)
    engine.until(lambda: len(ready(engine)) == 3)
    engine.executor.workers = 3

    # THEN
    pids = engine.ask_all_workers(os.getpid, tmp_path)
    assert 3 == len(set(pids))
    assert first in pids


def set_status(dask_worker, name):
    from distributed.core import Status

    dask_worker.status = Status[name]


def test_one_that_is_short_of_memory_gets_no_calls(machines, engine):
    # GIVEN
    machines.add()
    first = engine.run(os.getpid)
    (only,) = engine.processes._workers
    with Client(machines.address, set_as_default=False) as client:
        # WHEN
        client.run(set_status, name="paused")
        engine.until(lambda: not only.open)
        waiting = engine.submit(os.getpid)
        engine.turn()

        # THEN
        assert not waiting.done
        client.run(set_status, name="running")
        engine.wait(waiting)
        assert first == waiting.value


def test_one_that_is_retired_leaves_without_a_word(machines, engine):
    # GIVEN
    machines.add()
    first = engine.run(os.getpid)
    machines.add()
    engine.until(lambda: len(ready(engine)) == 2)
    (retired,) = [one.link for one in ready(engine) if one.pid == first]

    # WHEN
    with Client(machines.address, set_as_default=False) as client:
        client.retire_workers([retired.address])
    engine.until(lambda: len(engine.processes._workers) == 1)

    # THEN
    assert first != engine.run(os.getpid)


def test_without_a_scheduler_calls_run_here_until_it_is_back(machines, engine):
    # GIVEN
    machines.add()
    there = engine.run(os.getpid)

    # WHEN
    with expect_log("txloop", r"^the Dask cluster is away \(tcp://.*\); "):
        end(machines.scheduler)
        end(machines.workers[0])
        engine.until(lambda: engine.processes._crew.complained)
        engine.until(lambda: not engine.processes._workers)
        here = engine.run(os.getpid)
    with expect_log(
        "txloop",
        r"^the Dask cluster tcp://.* is there again, with [01] workers so far$",
    ):
        machines.start_scheduler()
        machines.add()
        engine.until(lambda: ready(engine) != [])

    # THEN
    assert os.getpid() == here
    assert os.getpid() != engine.run(os.getpid) != there


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({}, "TLS"),
        ({f"{TLS}.ca-file": "no.pem", f"{TLS}.client.cert": "no.pem"}, "No such"),
    ],
    ids=["no certificates", "a file that is missing"],
)
def test_where_dask_s_configuration_is_wrong_calls_run_here(engine, setting, said):
    with (
        dask.config.set({"scheduler-address": "tls://127.0.0.1:9", **setting}),
        expect_log("txloop", rf"^the Dask cluster is away \(.*{said}"),
    ):
        pid = engine.run(os.getpid)

    assert os.getpid() == pid


def test_one_with_other_versions_is_refused(machines, engine, monkeypatch):
    # GIVEN
    other = {"Python": "CPython 2.7", "txloop": "2014.1", "tornado": "4.0"}
    monkeypatch.setattr(crew, "versions_here", lambda: other)
    machines.add()

    # WHEN
    with expect_log("txloop", r"^the Dask worker tcp://.* is not used: ") as records:
        pid = engine.run(os.getpid)

    # THEN
    assert os.getpid() == pid
    message = records[0].getMessage()
    assert "Python CPython 3." in message
    assert "there, CPython 2.7 here; txloop " in message
    assert "there, 4.0 here" in message


started_in: list[int] = []


def note_start():
    started_in.append(os.getpid())


def where_started():
    return started_in, os.getpid()


def test_start_functions_run_there(machines, engine, monkeypatch):
    monkeypatch.setattr(worker, "_start_hooks", [])
    on_worker_start(note_start)
    machines.add()

    pids, pid = engine.run(where_started)

    assert [pid] == pids
    assert [] == started_in


def twice(data):
    return data * 2


def test_many_megabytes_go_and_come(machines, engine):
    machines.add()
    data = os.urandom(20_000_000)

    result = engine.run(twice, data)

    assert data * 2 == result
