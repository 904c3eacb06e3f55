"""examples/sumserver.py as a user meets it, whoever computes for it."""

from __future__ import annotations

import signal

import pytest

from bench.trials.sum_server import ask
from tests.examples import running_example

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", ["plain", "exclusive", "pool", "txloop"])
def test_it_sums_and_leaves_nothing(kind):
    with running_example("sumserver.py", "2", "--apply", kind) as (process, line):
        for number in (1, 25_000):
            ask(int(line.rpartition(" ")[2]), number)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=40)

    assert line.startswith("sum server on 127.0.0.1 port ")
    assert (0, "") == (process.returncode, errors)
