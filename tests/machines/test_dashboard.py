"""What Dask shows of calls: its task stream, as a client and the dashboard read it."""

from __future__ import annotations

import os

import pytest
from distributed import Client

from txloop import TxError

pytestmark = [pytest.mark.slow, pytest.mark.timeout(150)]


def fail():
    raise TxError("as it should")


def test_calls_are_in_the_task_stream_by_label(machines, engine):
    # GIVEN somebody who looks
    machines.add()
    with Client(machines.address, set_as_default=False) as client:
        client.get_task_stream()

        # WHEN
        pid = engine.run(os.getpid)
        failing = engine.submit(fail, profile=engine.profile("Main.get"))
        engine.wait(failing)

        # THEN
        engine.until(lambda: len(client.get_task_stream()) >= 2)
        shown = client.get_task_stream()
        (worker,) = client.scheduler_info()["workers"]
    keys = [one["key"].rpartition("-")[0] for one in shown]
    assert ["test", "Main.get"] == keys
    assert ["OK", "error"] == [one["status"] for one in shown]
    assert {worker} == {one["worker"] for one in shown}
    assert {pid} == {one["thread"] for one in shown}
    (times,) = shown[0]["startstops"]
    assert "compute" == times["action"]
    assert times["start"] <= times["stop"]


def test_where_nobody_looks_nothing_is_kept(machines, engine):
    machines.add()
    engine.run(os.getpid)
    engine.until(lambda: not engine.processes._crew._stream._ended)

    with Client(machines.address, set_as_default=False) as client:
        assert () == tuple(client.get_task_stream())
