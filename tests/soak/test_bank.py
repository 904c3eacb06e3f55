"""A short run of the bank under fire; the long one is ``make soak``."""

from __future__ import annotations

import os

import pytest

from tests.soak import bank

SECONDS = float(os.environ.get("TXLOOP_SOAK_SECONDS", "9"))


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 60)
@pytest.mark.parametrize("fronts", [0, 2])
def test_the_total_never_differs_and_each_answer_is_in_the_books(
    tmp_path, fronts, monkeypatch
):
    monkeypatch.setenv("TXLOOP_FRONTS", str(fronts))
    report = bank.run(SECONDS, 2014, tmp_path / "log", least=51)

    assert [] == report.wrong, f"{report}\n{(tmp_path / 'log').read_text()[-4000:]}"
    # And it was no walk in the park:
    assert report.answers["200"] > 50
    for what in ("409", "500", "left", "/audit", "/glance"):
        assert report.answers[what] > 0, what
    assert report.harm["killed"] + report.harm["killed while stopped"] > 3
    assert report.harm["stopped"] > 3
