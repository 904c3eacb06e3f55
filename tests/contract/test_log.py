"""What the log says of transactions: each one, how it ended, and how long it took."""

from __future__ import annotations

import os
import signal

from tests.contract.logged import increment, line_of, wait_at
from tests.engine import Gate, Tally, on
from tests.logs import allow_log, expect_log
from txloop import TVar
from txloop.stm.store import committed
from txloop.stmlog import hub


def test_every_transaction_is_in_the_log(engine, log):
    # GIVEN
    variables = [TVar(0) for _ in range(3)]

    # WHEN
    results = [engine.submit(increment, variables[n % 3]) for n in range(30)]
    engine.wait(*results)
    aborts = engine.aborts

    # THEN
    report = log.report()
    assert (30, aborts) == (report.totals.commits, report.totals.aborts)
    assert 1 <= len(report.workers) <= engine.workers + 1
    assert "c7" == report.sources[0].format


def test_all_aborted_time_has_a_line(engine, log):
    # GIVEN
    variable = TVar(0)

    # WHEN
    engine.wait(*[engine.submit(increment, variable) for _ in range(40)])

    # THEN
    report = log.report()
    attributed = [one for one in report.losses if one.aborted_ns]
    assert report.totals.aborted_ns == sum(one.aborted_ns for one in attributed)
    for loss in attributed:
        assert line_of(increment) == loss.victim.line
        assert "increment" == loss.victim.function
        assert loss.victim.file.endswith("contract/logged.py")


@on("scripted")
def test_what_is_decided_late_counts_as_committed(engine, log):
    # GIVEN an answer that waits for its turn, and a log that cannot wait
    variable = TVar(0)
    first, one = engine.send(int, ordered=True)
    second, other = engine.send(increment, variable, ordered=True)
    engine.scripted.begin(other)
    engine.scripted.finish(other)
    hub.flush(settling_ns=0)

    # WHEN it is in vain
    variable.value = 9
    engine.scripted.begin(one)
    engine.scripted.finish(one)
    engine.wait(first, second)

    # THEN the conflict is there, without its time
    report = log.report()
    assert (3, 1) == (report.totals.commits, report.totals.aborts)
    (loss,) = [one for one in report.losses if one.aborts]
    assert ("write-write", 0) == (loss.kind, loss.aborted_ns)


@on("scripted")
def test_what_is_pending_at_the_end_is_aborted(engine, log):
    # GIVEN
    _, one = engine.send(increment, TVar(0), ordered=True)
    _, other = engine.send(increment, TVar(0), ordered=True)

    # WHEN one has been answered, out of turn
    engine.scripted.begin(one)
    engine.scripted.begin(other)
    engine.scripted.finish(other)

    # THEN
    totals = log.report().totals
    assert (0, 1) == (totals.commits, totals.aborts)


@on("processes", "threads")
def test_a_body_that_takes_too_long_is_in_the_log(engine, log, tmp_path):
    # WHEN
    with allow_log("txloop", "exceeded its|died"):
        result = engine.submit(wait_at, Gate(tmp_path / "never"), timeout_seconds=0.5)
        engine.until(lambda: engine.dispatcher.running() or result.done)
        hub.flush(settling_ns=0)
        engine.wait(result)

    # THEN
    Gate(tmp_path / "never").open()
    # A thread that was given up has to see that.
    engine.until(lambda: len(committed.readers) <= engine.workers)
    totals = log.report().totals
    assert (0, 1) == (totals.commits, totals.aborts)
    assert totals.aborted_ns > 50_000_000


def die_once(tally):
    tally.mark()
    if tally.count == 1:
        os.kill(os.getpid(), signal.SIGKILL)


@on("processes")
def test_a_worker_that_is_killed_leaves_a_whole_log(engine, log, tmp_path):
    # WHEN
    with expect_log("txloop", "died"):
        engine.run(die_once, Tally(tmp_path / "tally"))
    engine.wait(*[engine.submit(increment, TVar(0)) for _ in range(5)])

    # THEN
    assert 6 == log.report().totals.commits


def die_at(first, second, tally):
    tally.mark()
    if tally.count > 1:
        second.wait()
        return
    first.wait()
    os.kill(os.getpid(), signal.SIGKILL)


@on("processes")
def test_what_was_running_when_its_worker_was_killed_is_aborted(engine, log, tmp_path):
    # GIVEN a call of which the log says already that it runs
    first, second = Gate(tmp_path / "first"), Gate(tmp_path / "second")
    tally = Tally(tmp_path / "tally")
    result = engine.submit(die_at, first, second, tally)
    engine.until(lambda: tally.count == 1)
    hub.flush(settling_ns=0)

    # WHEN
    first.open()
    with expect_log("txloop", "died"):
        engine.until(lambda: tally.count == 2)
    hub.flush(settling_ns=0)
    second.open()
    engine.wait(result)

    # THEN
    totals = log.report().totals
    assert (1, 1) == (totals.commits, totals.aborts)


@on("processes", "threads")
def test_what_runs_long_is_in_the_log_while_it_runs(engine, log, tmp_path):
    # GIVEN a log that is written without delay
    gate = Gate(tmp_path / "gate")
    result = engine.submit(wait_at, gate)
    engine.until(lambda: engine.dispatcher.running())

    # WHEN
    hub.flush(settling_ns=0)
    written = log.path.read_bytes()

    # THEN its START is there, and its COMMIT is not yet
    assert 16 + 19 == len(written)
    gate.open()
    engine.wait(result)
    assert 1 == log.report().totals.commits


@on("scripted")
def test_nothing_is_recorded_without_a_log(engine):
    # WHEN
    _, number = engine.send(increment, TVar(0))
    answer = engine.scripted.begin(number)

    # THEN
    assert answer.trace is None
