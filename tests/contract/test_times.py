"""How long calls wait, run and take is counted on every executor."""

from __future__ import annotations

import time

from tests.engine import on

SECONDS = 0.06  # between two bounds of the histogram: 0.05 and 0.1


def rest(seconds=SECONDS):
    time.sleep(seconds)


def times_of(engine, profile):
    stats = profile.stats()
    return stats.latency, stats.queue, stats.body


def test_each_transaction_is_counted_once(engine):
    # GIVEN
    profile = engine.profile()

    # WHEN
    engine.run_in_turn(profile, rest, 0.0, times=5)

    # THEN
    assert [5, 5, 5] == [one.count for one in times_of(engine, profile)]


def test_the_body_is_part_of_the_latency_and_not_of_the_queue(engine):
    # GIVEN
    profile = engine.profile()

    # WHEN
    engine.wait(engine.submit(rest, profile=profile))

    # THEN
    latency, queue, body = times_of(engine, profile)
    assert body.seconds >= SECONDS
    assert latency.seconds >= SECONDS
    assert latency.seconds >= queue.seconds + SECONDS


@on("serial", "threads", "processes")
def test_one_that_waits_for_the_others_has_waited(engine):
    # GIVEN more calls than can run at once
    profile = engine.profile()
    calls = engine.workers + 2

    # WHEN
    engine.wait(*(engine.submit(rest, profile=profile) for _ in range(calls)))

    # THEN the last one has waited for at least one before it
    _, queue, _ = times_of(engine, profile)
    assert queue.count == calls
    assert sum(queue.counts[queue.bounds.index(0.05) :]) >= 1
    assert queue.seconds >= SECONDS


@on("serial", "processes")
def test_one_that_runs_at_once_is_counted_like_all(engine):
    # GIVEN one that goes the short way
    engine.dispatcher.listeners.clear()
    profile = engine.profile()
    profile.note_body(1e-5, inline=True)

    # WHEN
    for _ in range(3):
        engine.wait(engine.submit(rest, 0.0, profile=profile, at_once=True))

    # THEN the body that was noted before it, too
    assert [3, 3, 4] == [one.count for one in times_of(engine, profile)]
