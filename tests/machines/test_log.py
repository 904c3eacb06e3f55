"""The conflict log of what runs on a cluster: workers by where they are."""

from __future__ import annotations

import os

import pytest

from conflict_log import rows
from tests.contract.logged import Logged
from txloop import TDict, retry
from txloop.stmlog.stories import Stories

pytestmark = [pytest.mark.slow, pytest.mark.timeout(150)]


def wait_for(shared):
    if not shared["there"]:
        retry()
    return os.getpid()


def test_the_log_names_workers_by_address(machines, engine, tmp_path):
    # GIVEN more workers than were asked for
    logged = Logged(engine, tmp_path / "stm.log")
    executor = engine.processes
    stories = Stories(engine.dispatcher)
    engine.dispatcher.trace(stories)
    shared = TDict(there=False)
    for _ in range(2):
        machines.add(threads=2)
    engine.run(os.getpid)
    engine.until(lambda: sum(one.open for one in executor._workers) == 4)

    # WHEN each of them has run something that gave up
    results = [engine.submit(wait_for, shared) for _ in range(4)]
    engine.until(lambda: len(engine.dispatcher.room) == 4)
    places = {one.place: one.link.address for one in executor._workers}
    shared["there"] = True
    for result in results:
        engine.wait(result)

    # THEN
    assert {1, 2, 4, 5} == set(places)
    told = stories.tell()
    assert any(f"in worker {n} of {at}: " in told for n, at in places.items()), told
    report = logged.report()
    titles = {f"worker {n} of {at}" for n, at in places.items()}
    assert {row.label for row in rows(report, "thread")} <= {*titles, "worker 3"}
    assert titles & {one.title for one in report.workers}
    assert "" == {one.number: one.address for one in report.workers}.get(3, "")
