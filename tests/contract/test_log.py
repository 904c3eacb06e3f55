"""What the log says of transactions: every one, both lines of a conflict, and waits."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.contract.logged import Logged
from tests.engine import Gate, Tally, on, running
from tests.logs import allow_log, expect_log
from txloop import (
    Channel,
    TCounter,
    TDict,
    TList,
    TObject,
    TSet,
    TVar,
    inevitable,
    retry,
)
from txloop.dispatch import MOST_CONFLICTS
from txloop.stmlog import hub
from txloop.tracing import here


@pytest.fixture
def log(engine, tmp_path):
    return Logged(engine, tmp_path / "stm.log")


def increment(variable):
    variable.value += 1


def line_of(function, offset=1):
    """Return the number of a function's line, counted from its first."""
    return function.__code__.co_firstlineno + offset


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
        assert loss.victim.file.endswith("contract/test_log.py")


def conflict(engine, victim, culprit, victim_args, culprit_args):
    """Let one transaction lose against another in the scripted executor."""
    first, one = engine.send(victim, *victim_args)
    second, other = engine.send(culprit, *culprit_args)
    for number in (one, other):
        engine.scripted.begin(number)
    for number in (other, one):
        engine.scripted.finish(number)
    engine.wait(first, second)


def read_only(variable, other):
    value = variable.value
    other.value = 7
    return value


@on("scripted")
def test_both_sides_of_a_write_read_conflict(engine, log):
    # WHEN
    variable = TVar(0)
    conflict(engine, read_only, increment, (variable, TVar(0)), (variable,))

    # THEN
    (loss,) = log.losses("write-read")
    assert line_of(read_only) == loss.victim.line
    assert "read_only" == loss.victim.function
    assert line_of(increment) == loss.culprit.line
    assert ("test", "test") == (loss.victim.handler, loss.culprit.handler)
    assert loss.victim.cell.startswith("TVar number ")
    assert 1 == loss.aborts


@on("scripted")
def test_both_sides_of_a_write_write_conflict(engine, log):
    # WHEN
    variable = TVar(0)
    conflict(engine, increment, increment, (variable,), (variable,))

    # THEN
    (loss,) = log.losses("write-write")
    assert {line_of(increment)} == {loss.victim.line, loss.culprit.line}


def read_some(items):
    items.append(sum(items[1:5]))


def write_two(items):
    items[9] = 1
    items[2] = 1


@on("scripted")
def test_of_several_lines_that_wrote_the_one_that_matters_is_named(engine, log):
    # WHEN
    items = TList(range(10))
    conflict(engine, read_some, write_two, (items,), (items,))

    # THEN
    (loss,) = [one for one in log.report().losses if one.aborts]
    assert line_of(write_two, 2) == loss.culprit.line


stock = TDict(apples=3)


def take_apple():
    stock["apples"] -= 1


@on("scripted")
def test_cells_are_called_as_in_the_program(engine, log):
    # WHEN
    conflict(engine, take_apple, take_apple, (), ())

    # THEN
    (loss,) = log.losses("write-write")
    assert "stock['apples']" == loss.victim.cell


@on("scripted")
def test_unmarked_code_that_won_is_named(engine, log):
    # GIVEN
    variable = TVar(0)
    result, number = engine.send(increment, variable)
    engine.scripted.begin(number)

    # WHEN
    variable.value = 5
    engine.scripted.finish(number)
    engine.wait(result)

    # THEN
    (loss,) = log.losses("write-write")
    assert "test_unmarked_code_that_won_is_named" == loss.culprit.function
    assert line_of(test_unmarked_code_that_won_is_named, 8) == loss.culprit.line


class Box(TObject):
    size: int = 0


def _nested(shared):
    def inner():
        return shared["a"]

    return inner()


def _helped(shared):
    return _helper(shared)


def _helper(shared):
    return shared.get("a")


# How something is read, what changes it, and the function in which the line stands.
READS: dict[str, tuple[Any, Any, Any]] = {
    "variable": (lambda: TVar(1), lambda it: it.value, lambda it: it.set(2)),
    "counter": (TCounter, lambda it: it.value, lambda it: it.add()),
    "key": (lambda: TDict(a=1), lambda it: it["a"], lambda it: it.update(a=2)),
    "presence": (lambda: TDict(a=1), lambda it: "a" in it, lambda it: it.pop("a")),
    "length": (lambda: TDict(a=1), len, lambda it: it.update(b=2)),
    "keys": (lambda: TDict(a=1), list, lambda it: it.update(b=2)),
    "items": (lambda: TDict(a=1), lambda it: it.copy(), lambda it: it.update(a=2)),
    "item": (lambda: TList([1]), lambda it: it[0], lambda it: it.__setitem__(0, 2)),
    "slice": (
        lambda: TList(range(40)),
        lambda it: it[1:5],
        lambda it: it.__setitem__(2, 9),
    ),
    "list": (lambda: TList([1]), lambda it: sum(it), lambda it: it.append(2)),
    "size": (lambda: TList([1]), lambda it: it[-1], lambda it: it.append(2)),
    "beyond": (lambda: TList([1]), lambda it: bool(it[1:2]), lambda it: it.append(2)),
    "set": (lambda: TSet([1]), lambda it: 1 in it, lambda it: it.discard(1)),
    "attribute": (Box, lambda it: it.size, lambda it: setattr(it, "size", 2)),
    "channel": (Channel, lambda it: bool(it), lambda it: it.put(1)),
    "nested": (lambda: TDict(a=1), _nested, lambda it: it.update(a=2)),
    "helper": (lambda: TDict(a=1), _helped, lambda it: it.update(a=2)),
}
INNERMOST = {"nested": "inner", "helper": "_helper", "length": "act", "keys": "act"}


def act(operation, shared, other):
    other.value += 1
    return operation(shared)


@on("scripted")
@pytest.mark.parametrize("what", READS)
def test_the_line_of_a_read(engine, log, what):
    # GIVEN
    make, read, change = READS[what]
    shared = make()

    # WHEN
    conflict(engine, act, act, (read, shared, TVar(0)), (change, shared, TVar(0)))

    # THEN
    losses = [one for one in log.report().losses if one.aborts]
    assert [INNERMOST.get(what, "<lambda>")] == [one.victim.function for one in losses]
    assert ["<lambda>"] == [one.culprit.function for one in losses]


def ask_for_certainty():
    inevitable()


@on("processes", "threads", "scripted")
def test_the_line_that_made_one_inevitable(engine, log):
    # WHEN
    engine.run(ask_for_certainty)

    # THEN
    (loss,) = log.losses("inevitable")
    assert line_of(ask_for_certainty) == loss.victim.line
    assert "ask_for_certainty" == loss.victim.function
    assert (1, 1) == (loss.count, loss.aborts)


@on("scripted")
def test_who_is_held_by_an_inevitable_transaction_waits(engine, log):
    # GIVEN one that has become inevitable after conflicts
    variable, other = TVar(0), TVar(0)
    unlucky, number = engine.send(increment, variable)
    for _ in range(MOST_CONFLICTS):
        engine.scripted.begin(number)
        variable.value += 100
        engine.scripted.finish(number)
        number = max(engine.scripted.waiting)

    # WHEN another one is ready before it
    engine.scripted.begin(number)
    held, later = engine.send(read_only, variable, other)
    engine.scripted.begin(later)
    engine.scripted.finish(later)
    engine.scripted.finish(number)
    engine.wait(unlucky, held)

    # THEN
    report = log.report()
    (loss,) = [one for one in report.losses if one.kind == "inevitable"]
    assert line_of(increment) == loss.culprit.line
    assert line_of(read_only, 2) == loss.victim.line
    assert loss.paused_ns == report.totals.paused_ns["contention"] > 0


def increment_slowly(variable):
    before = variable.value
    work(0.002)
    variable.value = before + 1


@on("processes")
def test_workers_that_idle_because_calls_stand_in_line(engine, log):
    # GIVEN a function that keeps conflicting, so that its calls stand in line
    variable, profile = TVar(0), engine.profile()
    log.breaks = 1.0  # a contention outside of a transaction

    # WHEN
    calls = [
        engine.submit(increment_slowly, variable, profile=profile) for _ in range(60)
    ]
    engine.wait(*calls)

    # THEN
    report = log.report()
    assert 60 == report.totals.commits
    paused = [one for one in report.losses if one.kind == "write-write"]
    assert sum(one.paused_ns for one in paused) > report.totals.aborted_ns
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
    work(0.05)


@on("processes")
def test_who_waits_because_the_loop_thread_is_busy(engine, log):
    # GIVEN a function that is known to run on the loop thread
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
    assert sum(one.paused_ns for one in lost) > 10_000_000


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
    with allow_log("txloop", "ran for more than|died"):
        result = engine.submit(wait_at, Gate(tmp_path / "never"), timeout_seconds=0.1)
        engine.until(lambda: engine.dispatcher.running())
        hub.flush(settling_ns=0)
        engine.wait(result)

    # THEN
    Gate(tmp_path / "never").open()
    totals = log.report().totals
    assert (0, 1) == (totals.commits, totals.aborts)
    assert totals.aborted_ns > 50_000_000


def wait_for(variable):
    if not variable.value:
        retry()
    return variable.value


@on("processes", "threads", "scripted")
def test_the_line_that_waits_for_a_change(engine, log):
    # WHEN
    variable = TVar(0)
    waiting = engine.submit(wait_for, variable)
    engine.until(lambda: engine.dispatcher.stats().waiting)
    variable.value = 1
    engine.wait(waiting)

    # THEN
    (loss,) = log.losses("write-read")
    assert line_of(wait_for, 2) == loss.victim.line


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


def write_and_fail(variable):
    variable.value = 1
    raise ValueError("on purpose")


@on("scripted")
def test_who_was_rolled_back_has_not_won(engine, log):
    # GIVEN
    variable = TVar(0)
    victim, one = engine.send(read_only, variable, TVar(0))
    engine.scripted.begin(one)

    # WHEN a transaction fails after the one that wins
    winner, other = engine.send(increment, variable)
    failed, third = engine.send(write_and_fail, variable)
    engine.scripted.begin(other)
    engine.scripted.finish(other)
    engine.scripted.begin(third)
    engine.scripted.finish(third)
    engine.scripted.finish(one)
    engine.wait(victim, winner, failed)

    # THEN
    (loss,) = log.losses("write-read")
    assert "increment" == loss.culprit.function


def test_where_only_a_library_is_to_be_seen_its_line_is_named():
    # WHEN nothing of the program is on the stack
    with ThreadPoolExecutor(1) as executor:
        site = executor.submit(here).result()

    # THEN
    assert site is not None
    file, line, function = site
    assert file.endswith("concurrent/futures/thread.py")
    assert ("run", True) == (function, line > 0)


def wait_at(gate):
    gate.wait()


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
