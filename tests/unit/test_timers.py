"""What the timers of bodies measure, and what they leave out."""

from __future__ import annotations

import gc
import time

import pytest

from txloop.stm.measuring import BodyTimer, WallTimer

pytestmark = pytest.mark.skipif(not hasattr(gc, "callbacks"), reason="as on PyPy")

TOOK_SECONDS = 0.02  # a collection, at least


@pytest.fixture
def heap():
    """As much as makes a collection take its time."""
    objects: list[list[list[object]]] = []
    while True:
        objects.append([[] for _ in range(20_000)])
        started = time.thread_time()
        gc.collect()
        if time.thread_time() - started > TOOK_SECONDS:
            return objects


@pytest.mark.parametrize("kind", [BodyTimer, WallTimer])
def test_a_collection_of_the_whole_heap_does_not_count(kind, heap):
    # GIVEN
    started, began = time.perf_counter(), time.thread_time()
    timer = kind()

    # WHEN
    gc.collect()

    # THEN
    took = time.thread_time() - began
    found = timer.seconds()
    assert 0 <= found < time.perf_counter() - started - took / 2


def test_what_a_body_computes_counts(heap):
    # GIVEN
    timer = BodyTimer()

    # WHEN
    gc.collect()
    until = time.thread_time() + TOOK_SECONDS
    while time.thread_time() < until:
        pass

    # THEN
    assert timer.seconds() > TOOK_SECONDS / 2
