"""What the log says of workers that pause: for how long, and because of whom."""

from __future__ import annotations

import time

import pytest

from tests.contract.logged import Logged, increment, line_of, read_only, wait_at
from tests.engine import Gate, Meeting, Result, on, running
from txloop import TVar, inevitable
from txloop.stm.types import Key


@on("scripted")
def test_who_is_held_by_an_inevitable_transaction_waits(engine, log):
    # GIVEN one that has become inevitable after conflicts
    variable, other = TVar(0), TVar(0)
    unlucky, number = engine.send(increment, variable)
    number = engine.make_inevitable(number, variable)

    # WHEN another one is ready before it
    held, later = engine.send(read_only, variable, other)
    engine.scripted.begin(later)
    engine.scripted.finish(later)
    engine.scripted.begin(number)  # where the other one has run, as there is one thread
    engine.scripted.finish(number)
    engine.wait(unlucky, held)

    # THEN
    report = log.report()
    (loss,) = [one for one in report.losses if one.kind == "inevitable"]
    assert line_of(increment) == loss.culprit.line
    assert line_of(read_only, 2) == loss.victim.line
    assert loss.paused_ns == report.totals.paused_ns["contention"] > 0


def work(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


@on("processes")
def test_who_waits_for_a_worker(engine, log):
    # WHEN there is more to do than workers
    engine.wait(*[engine.submit(work, 0.01) for _ in range(4 * engine.workers)])

    # THEN
    report = log.report()
    causes = report.totals.paused_ns
    assert causes["no free worker"] > 0
    assert 4 * engine.workers == report.totals.commits


def increment_slowly(variable, meeting=None, name=0):
    before = variable.value
    if meeting is not None:
        meeting.attend(name)
    work(0.002)
    variable.value = before + 1


@pytest.mark.slow
@on("processes")
def test_workers_that_idle_because_calls_stand_in_line(engine, log, tmp_path):
    # GIVEN a function of which two calls conflict, and which is said to keep doing so
    variable, profile = TVar(0), engine.profile()
    log.breaks = 1.0  # a contention outside of a transaction
    engine.ask_all_workers(int, tmp_path)  # one alone would conflict with nobody
    meeting = Meeting(tmp_path / "meeting", 2)
    calls: list[Result] = [
        engine.submit(increment_slowly, variable, meeting, name, profile=profile)
        for name in range(2)
    ]
    engine.wait(*calls)
    while not profile.heat.lined_up:
        profile.heat.note_conflict((variable._tx_number, Key.VALUE))

    # WHEN
    calls += [
        engine.submit(increment_slowly, variable, profile=profile) for _ in range(120)
    ]
    engine.wait(*calls)

    # THEN a worker had nothing to do during most of the 240 ms that they took
    report = log.report()
    assert len(calls) + engine.workers == report.totals.commits
    paused = [one for one in report.losses if one.kind == "write-write"]
    assert sum(one.paused_ns for one in paused) > 50_000_000
    assert {"increment_slowly"} == {one.site.function for one in paused}


@pytest.fixture
def barred():
    with running("processes", barrier=True) as engine:
        yield engine


def test_workers_that_wait_for_the_end_of_a_round(barred, tmp_path):
    # GIVEN two calls in a round, of which one is long, and one for the next round
    log, gate = Logged(barred, tmp_path / "stm.log"), Gate(tmp_path / "gate")
    first = [barred.submit(wait_at, gate), barred.submit(increment, TVar(0))]
    barred.wait(first[1])
    last = barred.submit(increment, TVar(0))

    # WHEN
    gate.open()
    barred.wait(first[0], last)

    # THEN
    report = log.report()
    assert report.totals.paused_ns["pause of all"] > 0
    assert 3 == report.totals.commits


def keep_the_loop_busy(variable):
    variable.value += 1
    inevitable()
    work(0.5)  # for most of the time until a worker begins its next call


@pytest.mark.slow
@on("processes")
def test_who_waits_because_the_loop_thread_is_busy(engine, log, tmp_path):
    # GIVEN all workers, and a function that is known to run on the loop thread
    engine.ask_all_workers(int, tmp_path)
    variable, profile = TVar(0), engine.profile("busy")
    engine.wait(engine.submit(keep_the_loop_busy, variable, profile=profile))
    engine.run(work, 0.001)

    # WHEN workers have calls before and after it
    calls = [engine.submit(work, 0.01) for _ in range(8)]
    engine.until(lambda: len(engine.dispatcher.running()) == engine.workers)
    calls.append(engine.submit(keep_the_loop_busy, variable, profile=profile))
    engine.wait(*calls)

    # THEN what it has cost is charged to the line that made it inevitable
    lost = [one for one in log.report().losses if one.kind == "inevitable"]
    assert {line_of(keep_the_loop_busy, 2)} == {one.site.line for one in lost}
    assert sum(one.paused_ns for one in lost) > 0
