"""A short run of the game while workers are killed; the long one is ``make soak``."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.soak import game

SECONDS = float(os.environ.get("TXLOOP_SOAK_SECONDS", "20"))


@pytest.mark.slow
@pytest.mark.timeout(2 * SECONDS + 90)
def test_every_answer_is_right_and_nobody_notices_the_kills(tmp_path):
    report = game.run(SECONDS, 2014, tmp_path / "log")

    assert [] == report.wrong, f"{report}\n{(tmp_path / 'log').read_text()[-4000:]}"
    # And it was no walk in the park:
    assert report.harm["killed in a call"] > 3
    figures: dict[str, Any] = report.figures
    assert figures["conflicts"] > 0
    assert figures["pages"] > 10
    assert figures["events"] > 100
    for what in ("map 200", "path 200", "move 409"):
        assert report.answers[what] > 0, what
    # Where new workers are slow, until their JIT is warm, few build at the same time.
    assert report.answers["build 409"] > 0 or game.JIT
