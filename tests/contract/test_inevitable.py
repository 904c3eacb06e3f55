"""What cannot be undone or sent runs on the loop thread, and is remembered."""

from __future__ import annotations

import asyncio
import functools
import os
import sys
import threading
import types
from contextlib import contextmanager

import pytest

from tests.engine import Tally, note, noted, on
from tests.homebound import Homebound
from tests.logs import expect_log
from txloop import TDict, TVar, inevitable, on_commit
from txloop.engine.events import Aborted

LOCK = threading.Lock()

AWAY = ("processes", "threads", "rehearsal", "scripted")


def aborted(engine):
    return [event.reason for event in engine.events if isinstance(event, Aborted)]


def run_twice(engine, function, *args):
    """Run two calls of one function, one after the other; return both results."""
    profile = engine.profile("twice")
    results = []
    for _ in range(2):
        results.append(engine.submit(function, *args, profile=profile))
        engine.wait(results[-1])
    return results, profile


# Asked for


def start_over(shared, tally):
    tally.mark(threading.get_ident())
    on_commit(note, "effect")
    shared["n"] += 1
    inevitable()
    shared["n"] += 1
    return os.getpid()


@on(*AWAY)
def test_an_inevitable_body_starts_anew_on_the_loop_thread(engine, tmp_path):
    # GIVEN
    shared, tally = TDict(n=0), Tally(tmp_path / "tally")

    # WHEN
    pid = engine.run(start_over, shared, tally)

    # THEN
    assert os.getpid() == pid
    assert {"n": 2} == shared
    assert ["effect"] == noted
    assert 2 == tally.count
    assert ["it asks to be inevitable"] == aborted(engine)


@on(*AWAY)
def test_later_calls_go_to_the_loop_thread_directly(engine, tmp_path):
    # GIVEN
    tally = Tally(tmp_path / "tally")

    # WHEN
    _, profile = run_twice(engine, start_over, TDict(n=0), tally)

    # THEN
    assert 3 == tally.count
    assert "it asks to be inevitable" == profile.on_loop_because
    assert "it asks to be inevitable" == profile.stats().on_loop_because
    assert 2 == profile.inline


@on("serial")
def test_on_the_loop_thread_nothing_has_to_start_anew(engine, tmp_path):
    # GIVEN
    tally = Tally(tmp_path / "tally")

    # WHEN
    run_twice(engine, start_over, TDict(n=0), tally)

    # THEN
    assert 2 == tally.count
    assert [] == aborted(engine)


# The running loop


def call_soon():
    asyncio.get_running_loop().call_soon(note, "soon")


def make_future():
    return asyncio.Future().get_loop() is asyncio.get_running_loop()


def ask_time():
    return asyncio.get_event_loop().time() > 0


@on("serial", *AWAY)
@pytest.mark.parametrize("use", [call_soon, make_future, ask_time])
def test_use_of_the_running_loop_moves_a_call_there(engine, use):
    # WHEN
    results, profile = run_twice(engine, use)
    engine.turn()

    # THEN
    values = [result.value for result in results]
    assert (["soon", "soon"] if use is call_soon else []) == noted
    assert ([None, None] if use is call_soon else [True, True]) == values
    if engine.executor.name == "serial":
        assert [] == aborted(engine)
    else:
        assert "it uses the running event loop" == profile.on_loop_because
        assert ["it uses the running event loop"] == aborted(engine)


# What does not pickle


class Rude:
    """Pickles or unpickles with an error of its own."""

    def __init__(self, error=None, at="dump"):
        self.error = error
        self.at = at

    def __reduce__(self):
        if self.at == "dump":
            raise self.error
        return explode, (self.error,)


def explode(error):
    raise error


def same(thing):
    return thing is not None


def give(maker):
    return maker() is not None and maker()


def make_lock():
    return threading.Lock()


def make_rude_at_dump():
    return Rude(RuntimeError("rude"))


def make_rude_at_load():
    return Rude(RuntimeError("rude"), "load")


def raise_locked():
    class Locked(Exception):
        lock = threading.Lock()

    raise Locked


def ask_lambda():
    on_commit(lambda: note("by lambda"))


def ask_method():
    on_commit(noted.append, "by method")


def ask_with_lock():
    on_commit(note_type, threading.Lock())


def note_type(thing):
    note(type(thing).__name__)


UNSENDABLE = {
    "argument": (same, (LOCK,), "it does not pickle (cannot pickle '_thread.lock'"),
    "rude argument": (same, (Rude(OSError("rude")),), r"it does not pickle \(rude"),
    "rude arrival": (
        same,
        (Rude(ValueError("rude"), "load"),),
        r"a worker cannot load it \(ValueError\('rude'\)\); define it before",
    ),
    "result": (make_lock, (), "its result does not pickle"),
    "rude result": (make_rude_at_dump, (), r"its result does not pickle \(rude\)"),
    "result at load": (make_rude_at_load, (), "its outcome does not unpickle"),
    "error": (raise_locked, (), "its exception does not pickle"),
    "effect": (ask_lambda, (), "its effect ask_lambda.<locals>.<lambda> is not a"),
    "method as effect": (ask_method, (), "its effect list.append is not a function"),
    "effect's argument": (ask_with_lock, (), "its effect's argument does not pickle"),
}


@on("processes")
@pytest.mark.parametrize(
    ("function", "args", "reason"), UNSENDABLE.values(), ids=UNSENDABLE
)
def test_what_does_not_pickle_runs_on_the_loop_thread(engine, function, args, reason):
    # WHEN
    reason = reason.replace("(cannot", r"\(cannot")
    with expect_log("txloop", f"^twice runs on the loop thread: {reason}"):
        results, profile = run_twice(engine, function, *args)

    # THEN
    assert profile.on_loop_because is not None
    assert 1 == len(aborted(engine))
    assert (function is raise_locked) == (results[0].error is not None)
    said = {ask_lambda: "by lambda", ask_method: "by method", ask_with_lock: "lock"}
    assert ([said[function]] * 2 if function in said else []) == noted


@on("serial", "rehearsal")
@pytest.mark.parametrize(
    ("function", "args", "reason"), UNSENDABLE.values(), ids=UNSENDABLE
)
def test_where_nothing_is_sent_nothing_has_to_pickle(engine, function, args, reason):
    run_twice(engine, function, *args)

    assert [] == aborted(engine)


def name_shared(shared, key):
    return shared[key].name


def count(shared):
    return len(shared)


@on("processes")
def test_a_shared_value_that_does_not_pickle_is_read_on_the_loop_thread(engine):
    # GIVEN
    value = Homebound()
    shared = TDict(before=value)
    engine.run(count, shared)
    shared["after"] = value

    # THEN what was there at the fork needs no pickling
    assert "homebound" == engine.run(name_shared, shared, "before")
    assert [] == aborted(engine)
    assert 2 == engine.run(count, shared)
    assert "homebound" == engine.run(name_shared, shared, "after")
    reason = (
        "it reads a value that does not pickle (cannot pickle '_thread.lock' object)"
    )
    assert [reason] == aborted(engine)


# What the workers do not know

LATE = """
import dataclasses

@dataclasses.dataclass(frozen=True)
class Point:
    x: int

def function(shared):
    return shared["n"]
"""


@contextmanager
def made_late():
    """Make a module that the workers, forked already, do not know."""
    module = types.ModuleType("made_late")
    sys.modules["made_late"] = module
    exec(LATE, vars(module))
    yield module
    del sys.modules["made_late"]


@on("processes")
def test_a_function_that_workers_do_not_know_runs_on_the_loop_thread(engine):
    # GIVEN
    engine.run(int)

    # WHEN
    with (
        made_late() as late,
        expect_log("txloop", r"a worker cannot load it \(.*define it before"),
    ):
        results, _ = run_twice(engine, late.function, TDict(n=5))

    # THEN
    assert [5, 5] == [result.value for result in results]


@on("processes")
def test_state_that_workers_cannot_load_moves_calls_to_the_loop_thread(engine):
    # GIVEN
    shared = TDict(n=5)
    engine.run(int)

    # WHEN
    with (
        made_late() as late,
        expect_log("txloop", r"twice runs on .*: a worker cannot load shared state \("),
    ):
        shared["point"] = late.Point(1)
        results, _ = run_twice(engine, read, shared, "n")

    # THEN
    assert [5, 5] == [result.value for result in results]


def read(shared, key):
    return shared[key]


# What does pickle, by value


def test_lambdas_and_closures_work(engine):
    # GIVEN
    variable, names = TVar(1), ("a", "b")

    class Local:
        def __init__(self, number):
            self.number = number

    def body(offset, *, more):
        variable.value += offset + more.number
        return Local(variable.value), names

    # WHEN
    made, same_names = engine.run(functools.partial(body, more=Local(10)), 5)

    # THEN
    assert isinstance(made, Local)
    assert (16, 16, names) == (made.number, variable.value, same_names)
    assert 17 == engine.run(lambda: variable.value + 1)


def test_an_error_of_a_local_class_can_be_caught(engine):
    # GIVEN
    class Local(Exception):
        pass

    def body():
        raise Local("text")

    # THEN
    with pytest.raises(Local, match="text"):
        engine.run(body)


class Account:
    """An object whose method is a transaction: its plain part is a copy there."""

    def __init__(self):
        self.balance = TVar(0)

    def pay(self, amount):
        self.balance.value += amount
        return self.balance.value


def test_methods_work(engine):
    account = Account()

    assert 5 == engine.run(account.pay, 5)
    assert 5 == account.balance.value


def exceptions_around(_argument):
    """Return what is handled where this runs, and what a new exception begins with."""
    try:
        raise KeyError("new")
    except KeyError as error:
        before = error.__context__
    return repr(sys.exc_info()[1]), repr(before)


def test_what_runs_on_the_loop_thread_instead_handles_no_exception(engine):
    """As if it had been called by the loop itself."""
    away = engine.executor.name in ("processes", "threads", "dask")
    with expect_log("txloop", "it does not pickle", int(away)):
        found = engine.run(exceptions_around, threading.Lock())

    assert ("None", "None") == found
