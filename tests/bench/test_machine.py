"""Which cores a benchmark may use."""

from __future__ import annotations

import os

from bench import machine


def test_the_cores_are_found_on_interpreters_that_do_not_tell(monkeypatch):
    expected = machine._cores()

    monkeypatch.delattr(os, "sched_getaffinity", raising=False)

    assert expected == machine._cores()
    assert len(expected) == machine.available_cores()
