"""Changes, conflicts and deaths at the worst moment: no wake-up is lost."""

from __future__ import annotations

import os
import signal

from tests.contract.waiting import (
    await_open,
    kinds,
    set_to,
    take_and_count,
    until_waiting,
    waiting,
)
from tests.engine import Gate, noted, on
from tests.logs import expect_log
from txloop import TDict, TVar, on_commit, retry
from txloop.engine.events import Conflicted
from txloop.engine.machine import MOST_CONFLICTS


@on("scripted")
def test_a_change_during_the_attempt_is_not_missed(engine):
    """Between the snapshot and the waiting: the lost wake-up."""
    # GIVEN
    open_ = TVar(False)
    result, number = engine.send(await_open, open_)
    engine.scripted.begin(number)

    # WHEN
    open_.value = True
    engine.scripted.finish(number)

    # THEN it runs again at once, and that is no conflict
    assert [number + 1] == list(engine.scripted.waiting)
    engine.scripted.run_all()
    assert result.value is True
    assert 0 == engine.aborts
    (label,) = [one for one in engine.dispatcher.stats().labels if one.retries]
    assert (1, 0) == (label.retries, label.waits)


@on("scripted")
def test_a_change_while_the_woken_one_runs_is_not_missed(engine):
    # GIVEN one that wakes and reads something too old
    shared = TDict(n=0)

    def body():
        if shared["n"] < 2:
            retry()
        return shared["n"]

    result = engine.submit(body)
    until_waiting(engine, 1)
    shared["n"] = 1
    engine.turn()
    engine.turn()
    (number,) = engine.scripted.waiting
    engine.scripted.begin(number)

    # WHEN
    shared["n"] = 2
    engine.scripted.finish(number)
    engine.scripted.run_all()

    # THEN
    assert 2 == result.value


@on("scripted")
def test_a_change_while_the_waker_runs_effects_is_not_missed(engine):
    # GIVEN
    open_ = TVar(False)
    noted.append(open_)
    result = engine.submit(await_open, open_)
    until_waiting(engine, 1)

    # WHEN
    engine.run(open_at_commit)
    engine.wait(result)

    # THEN
    assert result.value is True


def open_at_commit():
    on_commit(open_noted)


def open_noted():
    noted[0].value = True  # type: ignore[attr-defined] # a TVar


@on("scripted")
def test_conflicts_after_a_wait_are_conflicts(engine):
    # GIVEN
    stock, log = TDict[str, str](), TVar(0)
    result = engine.submit(take_and_count, stock, log)
    until_waiting(engine, 1)
    stock["a"] = "thing"
    engine.turn()
    engine.turn()

    # WHEN
    for _ in range(MOST_CONFLICTS):
        (number,) = engine.scripted.waiting
        engine.scripted.begin(number)
        log.value += 10
        engine.scripted.finish(number)
    engine.scripted.run_all()

    # THEN
    assert ("thing", 31) == (result.value, log.value)
    assert MOST_CONFLICTS == len(kinds(engine, Conflicted))


@on("scripted")
def test_an_inevitable_one_that_retries_holds_nobody_up(engine):
    # GIVEN
    shared = TDict(n=0, m=0)

    def body():
        shared["m"] += 1
        if not shared["n"]:
            retry()

    unlucky, number = engine.send(body)
    shared["n"] = 1
    for _ in range(MOST_CONFLICTS):
        engine.scripted.begin(number)
        shared["m"] += 10
        engine.scripted.finish(number)
        (number,) = engine.scripted.waiting
    other, later = engine.send(set_to, TVar(0), 1)
    engine.scripted.begin(later)
    engine.scripted.finish(later)
    assert not other.done

    # WHEN
    shared["n"] = 0
    engine.scripted.begin(number)
    engine.scripted.finish(number)

    # THEN
    assert other.done
    assert 1 == waiting(engine)
    shared["n"] = 1
    engine.wait(unlucky)
    assert 31 == shared["m"]


# Workers that die


@on("processes")
def test_a_worker_that_dies_meanwhile_takes_nothing_along(engine, tmp_path):
    # GIVEN
    open_ = TVar(False)
    pids = set(engine.ask_all_workers(os.getpid, tmp_path))
    profile = engine.short()
    result = engine.submit(await_open, open_, profile=profile)
    until_waiting(engine, 1)

    # WHEN
    with expect_log("txloop", "died; it was replaced", engine.workers):
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        engine.until(lambda: not pids & {one.pid for one in engine.processes._workers})
    open_.value = True
    engine.wait(result)

    # THEN
    assert result.value is True


@on("processes")
def test_a_worker_that_dies_of_a_woken_call(engine, tmp_path):
    # GIVEN
    open_, died = TVar(False), Gate(tmp_path / "died")

    def body():
        await_open(open_)
        if not died.is_open:
            died.open()
            os.kill(os.getpid(), signal.SIGKILL)
        return "survived"

    result = engine.submit(body)
    until_waiting(engine, 1)

    # WHEN
    with expect_log("txloop", "died; its call runs again"):
        open_.value = True
        engine.wait(result)

    # THEN
    assert "survived" == result.value
