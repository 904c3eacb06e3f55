"""Whatever happens to a loop and its workers, and however slowly: the log is whole."""

from __future__ import annotations

from random import Random

import pytest

import conflict_log
from tests.log.loop_model import LoopModel


@pytest.mark.parametrize("seed", range(60))
def test_what_is_known_late_is_in_the_log_all_the_same(tmp_path, seed):
    # GIVEN
    loop = LoopModel(str(tmp_path / "stm.log"), Random(seed))

    # WHEN
    loop.run(100)

    # THEN
    report = conflict_log.load(tmp_path / "stm.log")
    totals = report.totals
    assert not report.damaged
    assert () == tuple(report.notes)
    assert totals.worker_ns == totals.busy_ns + totals.idle_ns
    assert totals.idle_ns >= 0
    assert totals.commits >= loop.commits
    assert totals.aborts >= loop.aborts
    # What was not decided in time counts twice, once without its time.
    assert totals.commits + totals.aborts >= loop.commits + loop.aborts
