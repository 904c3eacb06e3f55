"""A short run of the bank on a Dask cluster; the long one is ``make soak``."""

from __future__ import annotations

import os

import pytest

from tests.cluster import DASK
from tests.soak import dask_bank

SECONDS = float(os.environ.get("TXLOOP_SOAK_SECONDS", "13"))

pytestmark = pytest.mark.skipif(not DASK, reason="Dask is an extra")


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 90)
def test_nothing_is_lost_or_done_twice_or_fails(tmp_path):
    report = dask_bank.run(SECONDS, 2014, tmp_path / "log", least=51)

    assert [] == report.wrong, f"{report}\n{(tmp_path / 'log').read_text()[-4000:]}"
    assert report.answers["200"] > 50
    assert report.harm["Dask workers killed"] > 3
    assert report.harm["the scheduler stopped"] > 0
