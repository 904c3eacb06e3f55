"""One thread of the log: what it does is written one after another."""

from __future__ import annotations

import struct

import pytest

from txloop.stmlog import c7_format
from txloop.stmlog.c7_format import CONTENTION_WRITE_WRITE
from txloop.stmlog.log_threads import AGAIN_NS, LogThread, LogThreads
from txloop.stmlog.timeline import Timeline

NAMES = {
    getattr(c7_format, name): name
    for name in ("START", "COMMIT", "ABORT", "WAIT_CONTENTION", "WAIT_DONE")
}
NAMES |= {3: "WRITE_WRITE", 5: "INEVITABLE", 7: "WAIT_FREE", 8: "WAIT_SYNC"}

LOST = CONTENTION_WRITE_WRITE, b"", b""


@pytest.fixture
def timeline():
    timeline = Timeline()
    timeline.now = 1000
    return timeline


@pytest.fixture
def thread(timeline):
    return LogThread(1, timeline, {})


def written(thread, until=10_000):
    """Return what a thread writes: the time of each event, and its name."""
    thread.write(until)
    _, packed = thread._timeline.take()
    return [
        (nanoseconds, NAMES[event])
        for _, nanoseconds, _, _, event, _, _ in struct.iter_unpack("<IIIIBBB", packed)
    ]


def run(thread, began, ended, handed=0, blocker=None):
    attempt = thread.begin(began, handed, blocker)
    thread.answer(attempt, ended)
    return attempt


def test_an_attempt_ends_as_it_was_decided(thread):
    run(thread, 10, 20)
    thread.decide(run(thread, 30, 40), aborted=True, contention=LOST)

    assert [
        (10, "START"),
        (20, "COMMIT"),
        (30, "START"),
        (40, "WRITE_WRITE"),
        (40, "ABORT"),
    ] == written(thread)


def test_what_goes_on_is_written_in_part(thread):
    # GIVEN
    attempt = thread.begin(10, 0)
    begun = written(thread)

    # WHEN
    thread.answer(attempt, 20)
    before, after = written(thread, 20), written(thread, 21)

    # THEN
    assert [(10, "START")] == begun
    assert [] == before
    assert [(20, "COMMIT")] == after
    assert not thread


def test_an_attempt_without_an_answer_is_aborted_when_the_next_begins(thread):
    thread.begin(10, 0)
    run(thread, 30, 40)

    assert [
        (10, "START"),
        (30, "ABORT"),
        (30, "START"),
        (40, "COMMIT"),
    ] == written(thread)


def test_what_overlaps_comes_one_after_another(thread):
    run(thread, 10, 20)
    run(thread, 15, 18)

    assert [
        (10, "START"),
        (20, "COMMIT"),
        (20, "START"),
        (20, "COMMIT"),
    ] == written(thread)


def test_a_worker_has_waited_for_a_call_that_was_there(thread):
    run(thread, 10, 20)
    run(thread, 30, 40, handed=15)
    run(thread, 50, 60, handed=15, blocker=LOST)

    assert [
        (20, "WAIT_FREE"),
        (30, "WAIT_DONE"),
        (30, "START"),
        (40, "COMMIT"),
        (40, "START"),
        (40, "WRITE_WRITE"),
        (40, "WAIT_CONTENTION"),
        (50, "WAIT_DONE"),
        (60, "COMMIT"),
    ] == written(thread)[2:]


def test_a_worker_is_not_held_for_longer_than_until_its_next_call(thread):
    # GIVEN
    first = run(thread, 10, 20)
    first = thread.hold(first, b"", b"")

    # WHEN the one that is held is decided after another one has begun
    run(thread, 30, 40)
    assert thread.decide(first, aborted=True, contention=None)

    # THEN
    assert [
        (10, "START"),
        (20, "INEVITABLE"),
        (20, "WAIT_CONTENTION"),
        (30, "WAIT_DONE"),
        (30, "ABORT"),
        (30, "START"),
        (40, "COMMIT"),
    ] == written(thread)


def test_a_worker_that_is_held_does_not_idle(thread):
    # GIVEN
    first = run(thread, 10, 20)
    thread.idle(LOST)

    # WHEN
    first = thread.hold(first, b"", b"")
    thread.idle(LOST)
    thread.end_idling()
    thread.decide(first, aborted=False, contention=None)

    # THEN
    assert [
        (20, "INEVITABLE"),
        (20, "WAIT_CONTENTION"),
        (1000, "WAIT_DONE"),
        (1000, "COMMIT"),
    ] == written(thread)[1:]


def test_an_attempt_that_is_written_is_not_held(thread):
    # GIVEN one that was not decided in time
    attempt = run(thread, 10, 20)
    assert [(10, "START"), (20, "COMMIT")] == written(thread)

    # WHEN
    held = thread.hold(attempt, b"", b"")
    in_time = thread.decide(held, aborted=True, contention=LOST)
    thread.note_abort(LOST)

    # THEN
    assert not in_time
    assert [
        (1000, "START"),
        (1000, "WRITE_WRITE"),
        (1000, "ABORT"),
    ] == written(thread)


def test_a_pause_ends_when_an_attempt_begins(thread, timeline):
    # GIVEN a thread that has run something
    thread.idle(None)
    assert [] == written(thread)
    run(thread, 10, 20)

    # WHEN
    timeline.now = 100
    thread.idle(None)
    thread.idle(LOST)  # it idles already
    run(thread, 200, 210, handed=50)

    # THEN
    assert [
        (100, "WAIT_SYNC"),
        (200, "WAIT_DONE"),
        (200, "START"),
        (210, "COMMIT"),
    ] == written(thread)[2:]


def test_each_worker_has_a_thread(timeline):
    threads = LogThreads(3, timeline, {})

    assert [1, 2] == [one.number for one in threads.of_workers()]
    assert 3 == threads[0].number
    assert threads[2] is threads[2]


def test_where_a_worker_is_stands_before_a_start_now_and_then(timeline):
    # GIVEN
    addresses = {1: "tcp://10.0.0.7:1"}
    thread = LogThread(1, timeline, addresses)

    # WHEN it runs four times, the third after a minute, the fourth elsewhere
    for began in (1000, 2000, 2000 + AGAIN_NS, 3000 + AGAIN_NS):
        if began == 3000 + AGAIN_NS:
            addresses[1] = "tcp://10.0.0.8:2"
        thread.answer(thread.begin(began, 0), began + 10)
    thread.write(2 * AGAIN_NS)
    _, packed = timeline.take()

    # THEN
    assert [b"tcp://10.0.0.7:1", b"tcp://10.0.0.7:1", b"tcp://10.0.0.8:2"] == [
        part[:16] for part in packed.split(b"Worker ")[1:]
    ]


def test_a_worker_beyond_the_loop_s_own_number_is_one(timeline):
    threads = LogThreads(3, timeline, {1: "", 4: "tcp://10.0.0.7:1"})

    assert [1, 2, 4] == [one.number for one in threads.of_workers()]
