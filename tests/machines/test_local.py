"""Forked workers beside those of the cluster: what goes where, and who dies."""

from __future__ import annotations

import os

import pytest

from tests.engine import Gate, Tally, note, noted
from tests.logs import expect_log
from tests.machines.machines import end
from tests.processes import children_of
from tests.race.losses import add_at_gate, kill
from txloop import TDict, on_commit
from txloop.executors.dask.connection import LocalConnection
from txloop.executors.dask.forks import LocalForks

pytestmark = [pytest.mark.slow, pytest.mark.timeout(150)]

WAY_SECONDS = 0.01
SHORTER = 0.9 * WAY_SECONDS  # and too long for the loop thread
LONGER = 1.1 * WAY_SECONDS


@pytest.fixture
def both(machines, engine):
    """Run the engine with one worker of each kind; give the pid of the local one."""
    engine.processes.fork_beside(1)
    machines.add()
    engine.run(os.getpid)
    engine.until(lambda: len(ready(engine)) == 2)
    engine.processes._crew.way.seconds = WAY_SECONDS
    (local,) = [one for one in ready(engine) if isinstance(one, LocalConnection)]
    return local.pid


def ready(engine):
    return [one for one in engine.processes._workers if one.open]


def of_length(engine, seconds):
    """Return the record of a function whose body takes so long, as was measured."""
    profile = engine.profile()
    for _ in range(2):
        profile.note_body(seconds, inline=False)
    profile.examined = True
    return profile


def ask(engine, seconds):
    result = engine.submit(os.getpid, profile=of_length(engine, seconds))
    engine.wait(result)
    return result.value


def test_what_takes_less_than_the_way_goes_to_the_local_one(both, engine):
    assert both == ask(engine, SHORTER)


def test_what_takes_longer_goes_to_the_cluster(both, engine):
    assert both != ask(engine, LONGER) != os.getpid()


def test_the_way_is_measured(both, engine):
    way = engine.processes._crew.way
    way.seconds = 0.0

    ask(engine, 1.0)

    assert 0.0 < way.seconds < 1.0


@pytest.mark.parametrize("seconds", [SHORTER, LONGER])
def test_where_one_kind_is_busy_the_other_helps(both, engine, tmp_path, seconds):
    # GIVEN a call that keeps the worker where such calls go
    shared, tally = TDict(n=0), Tally(tmp_path / "tally")
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    arguments = shared, tally, started, gate
    first = engine.submit(add_at_gate, *arguments, profile=of_length(engine, seconds))
    engine.until(lambda: started.is_open)

    # WHEN
    second = ask(engine, seconds)

    # THEN
    gate.open()
    engine.wait(first)
    assert {second, first.value} == {one.pid for one in ready(engine)}


def test_a_local_worker_that_is_killed_is_replaced(both, engine, tmp_path):
    # GIVEN
    shared, tally = TDict(n=0), Tally(tmp_path / "tally")
    started, gate = Gate(tmp_path / "started"), Gate(tmp_path / "gate")
    arguments = shared, tally, started, gate
    result = engine.submit(add_at_gate, *arguments, profile=of_length(engine, SHORTER))
    engine.until(lambda: started.is_open)

    # WHEN
    again = r"^worker \d+ died; its call runs again on another worker .*SIGKILL"
    with expect_log("txloop", again):
        kill(both)
        gate.open()
        engine.wait(result)
    engine.until(lambda: len(ready(engine)) == 2)

    # THEN
    assert [both, result.value] == tally.pids
    assert {"n": 1} == shared
    assert both != ask(engine, SHORTER) != os.getpid()


def test_when_what_forks_them_is_killed_there_is_another(both, engine):
    # GIVEN a worker that goes on without it
    forks = forks_of(engine)
    (host,), (known,) = children_of(forks._template.pid), forks._hosts
    kill(host)
    engine.until(lambda: forks._hosts not in ([], [known]))

    # WHEN
    with expect_log("txloop", r"^worker \d+ died; "):
        kill(both)
        engine.until(lambda: both not in [one.pid for one in ready(engine)])
    engine.until(lambda: len(ready(engine)) == 2)

    # THEN
    assert both != ask(engine, SHORTER) != os.getpid()


def forks_of(engine):
    links = engine.processes._crew._links.values()
    (forks,) = [one for one in links if isinstance(one, LocalForks)]
    return forks


def add(shared):
    on_commit(note, "effect")
    shared["n"] += 1
    return os.getpid()


def test_without_a_cluster_all_goes_to_the_local_one(machines, both, engine):
    # GIVEN
    shared = TDict(n=0)
    with expect_log("txloop", r"^the Dask cluster is away \(tcp://.*\); 1 workers "):
        end(machines.workers[0])
        engine.until(lambda: len(engine.processes._workers) == 1)
        end(machines.scheduler)  # last: the complaint says how many workers are left
        engine.until(lambda: engine.processes._crew.complained)

    # WHEN
    result = engine.submit(add, shared, profile=of_length(engine, 1.0))
    engine.wait(result)

    # THEN
    assert both == result.value
    assert {"n": 1} == shared
    assert ["effect"] == noted


def test_both_kinds_are_renewed(both, engine):
    # GIVEN
    before = {one.pid for one in ready(engine)}

    # WHEN
    assert engine.processes.renew()
    engine.until(lambda: len(ready(engine)) == 2)

    # THEN
    after = {ask(engine, SHORTER), ask(engine, LONGER)}
    assert 2 == len(after)
    assert set() == before & after


def test_statistics_name_those_of_the_cluster_by_their_address(both, engine):
    members = engine.processes.members()

    addresses = {one.address.partition(":")[0] for one in members}
    (remote,) = [one for one in members if one.address]
    assert {"", "tcp"} == addresses
    assert f"worker {remote.place} of {remote.address}" == remote.name
    assert 0 == remote.memory_bytes
